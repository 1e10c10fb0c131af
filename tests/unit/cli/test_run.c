/* Tests `drover run` as a process, with the real loop, libcurl and listeners, beside an embedded
 * API server. */
#include "tests/unit/testing.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/data/yaml.h"
#include "cli/cli.h"
#include "kube/config.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/verb.h"

#define NS "/api/v1/namespaces/drover-system"
#define LEASE "/apis/coordination.k8s.io/v1/namespaces/drover-system/leases/drover-controller"
#define SOMEBODY "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define VERB(...) verb_run("drover run", cli_run, NULL, (const char *const[]){__VA_ARGS__, NULL})

struct rig {
	struct program api, drover;
	struct kube_config *host;
	char folder[64], kubeconfig[96];
	char agent[40], media[40], ops[40], ops_url[48], metrics[40];
};

static int ask(struct rig *r, const char *method, const char *path, const char *body)
{
	struct program_call call = {.url = r->host->server,
				    .ca_pem = r->host->ca_pem,
				    .bearer = secret_expose(r->host->token),
				    .method = method,
				    .path = path,
				    .body = body};

	return program_ask(&call);
}

static struct program_call ops(struct rig *r, const char *path)
{
	return (struct program_call){.url = r->ops_url, .path = path};
}

static int setup(void **state)
{
	struct rig *r = mem_new(struct rig);
	struct err e;

	*state = r;
	program_folder(r->folder);
	str_format(r->kubeconfig, sizeof(r->kubeconfig), "%s/host.conf", r->folder);
	str_format(r->agent, sizeof(r->agent), "%s:8443", program_address());
	str_format(r->media, sizeof(r->media), "%s:8080", program_address());
	str_format(r->ops, sizeof(r->ops), "%s:9090", program_address());
	str_format(r->metrics, sizeof(r->metrics), "%s:9091", program_address());
	str_format(r->ops_url, sizeof(r->ops_url), "http://%s", r->ops);
	program_start(&r->api, "drover apiserver", cli_apiserver,
		      (const char *const[]){"--listen", "127.0.0.1:0", "--kubeconfig-out",
					    r->kubeconfig, NULL});
	program_await(&r->api, "kubectl ");
	r->host = kube_config_load(r->kubeconfig, NULL, &e);
	assert_non_null(r->host);
	assert_int_equal(
		ask(r, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"drover-system\"}}"),
		201);
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	if (r->drover.pid)
		program_end(&r->drover, SIGTERM);
	program_end(&r->api, SIGTERM);
	kube_config_free(r->host);
	program_folder_done(r->folder);
	free(r);
	return 0;
}

static void define(struct rig *r)
{
	OWN_JSON crds = NULL;
	struct err e;
	json_t *crd;
	size_t i;

	assert_int_equal(verb_run("drover crds", cli_crds, NULL, (const char *const[]){NULL}), 0);
	crds = yaml_parse_all(verb_said, strlen(verb_said), &e);
	assert_true(json_array_size(crds) > 0);
	json_array_foreach (crds, i, crd) {
		char *text = json_text(crd);

		if (ask(r, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
			text) != 201)
			fail_msg("%s", program_text);
		free(text);
	}
}

static void run(struct rig *r)
{
	program_start(&r->drover, "drover run", cli_run, (const char *const[]){"--kubeconfig",
									       r->kubeconfig,
									       "--identity",
									       "replica-x",
									       "--agent-listen",
									       r->agent,
									       "--agent-name",
									       program_address(),
									       "--agent-name",
									       "agent.example",
									       "--media-listen",
									       r->media,
									       "--ops-listen",
									       r->ops,
									       "--metrics-listen",
									       r->metrics,
									       "--evidence-dir",
									       r->folder,
									       "--allow-exec",
									       "/opt/port-move",
									       "--allow-exec",
									       "/bin/cat",
									       "--log-json",
									       "--debug",
									       NULL});
}

static char *holder(struct rig *r)
{
	OWN_JSON lease = NULL;

	assert_int_equal(ask(r, "GET", LEASE, NULL), 200);
	lease = program_json();
	return mem_strdup(str_or(json_str_at(lease, "spec", "holderIdentity"), ""));
}

/* Returns the value of `key` in a Secret in drover's namespace; the caller frees it. */
static char *secret_text(struct rig *r, const char *name, const char *key)
{
	OWN_JSON secret = NULL;
	char path[128], *text;
	struct err e;
	size_t len;

	str_format(path, sizeof(path), NS "/secrets/%s", name);
	assert_int_equal(ask(r, "GET", path, NULL), 200);
	secret = program_json();
	text = crypto_base64_decode(json_str_at(secret, "data", key),
				    strlen(json_str_at(secret, "data", key)), &len, &e);
	assert_non_null(text);
	return text;
}

/* Sends a request over TLS and returns the HTTP status. The server's certificate must be for
 * `address` and from the CA that agents trust. */
static int ask_tls(struct rig *r, const char *address, const char *path, const char *token)
{
	char *ca = secret_text(r, "drover-agent-ca", "ca.crt"), url[64];
	int status;

	str_format(url, sizeof(url), "https://%s", address);
	status = program_ask(
		&(struct program_call){.url = url, .ca_pem = ca, .bearer = token, .path = path});
	free(ca);
	return status;
}

static void it_tells_others_its_metrics_for_a_token_alone(void **state)
{
	struct rig *r = *state;
	struct program_call made = {.url = r->host->server,
				    .ca_pem = r->host->ca_pem,
				    .bearer = secret_expose(r->host->token),
				    .path = NS "/secrets/drover-metrics-token"};
	char *token;

	define(r);
	run(r);
	program_await(&r->drover, "\"ready\"");
	assert_int_equal(ask_tls(r, r->metrics, "/metrics", NULL), 401);
	program_ask_until(&made, 200);
	token = secret_text(r, "drover-metrics-token", "token");
	while (ask_tls(r, r->metrics, "/metrics", token) == 401)
		usleep(50000);
	assert_non_null(strstr(program_text, "# TYPE drover_"));
	assert_int_equal(ask_tls(r, r->metrics, "/metrics", "guessed-by-somebody"), 401);
	assert_int_equal(ask_tls(r, r->metrics, "/healthz", NULL), 200);
	assert_int_equal(ask_tls(r, r->metrics, "/readyz", NULL), 200);
	assert_int_equal(ask_tls(r, r->metrics, "/leadz", NULL), 200);
	free(token);
	assert_int_equal(program_end(&r->drover, SIGTERM), 0);
}

static void it_is_ready_when_it_leads_and_gives_its_lease_back_at_the_end(void **state)
{
	struct rig *r = *state;
	struct program_call ready = ops(r, "/readyz"), health = ops(r, "/healthz"),
			    metrics = ops(r, "/metrics");
	char *name;

	define(r);
	run(r);
	program_await(&r->drover, "\"ready\"");
	program_ask_until(&ready, 200);
	assert_int_equal(program_ask(&health), 200);
	assert_int_equal(program_ask(&metrics), 200);
	assert_non_null(strstr(program_text, "# TYPE drover_"));
	name = holder(r);
	assert_string_equal(name, "replica-x");
	free(name);
	assert_int_equal(ask_tls(r, r->agent, "/agent/v1/order?after=0", NULL),
			 401); /* TLS was verified, but the request has no agent's token. */
	assert_int_equal(program_end(&r->drover, SIGTERM), 0);
	name = holder(r);
	assert_string_equal(name, "");
	free(name);
}

static void without_its_definitions_it_lives_but_is_not_ready(void **state)
{
	struct rig *r = *state;
	struct program_call ready = ops(r, "/readyz"), health = ops(r, "/healthz");

	run(r);
	program_ask_until(&health, 200);
	assert_int_equal(program_ask(&ready), 503);
	define(r);
	program_ask_until(&ready, 200);
	assert_int_equal(program_end(&r->drover, SIGINT), 0);
}

/* Returns the next report to the service manager; waits for it. */
static const char *next_report(int fd)
{
	static char text[1024];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	assert_true(n > 0);
	text[n] = '\0';
	return text;
}

static void systemd_learns_when_it_is_ready_leads_and_stops(void **state)
{
	struct rig *r = *state;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct program_call health = ops(r, "/healthz");
	const char *text;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	str_format(at.sun_path, sizeof(at.sun_path), "%s/notify", r->folder);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	setenv("NOTIFY_SOCKET", at.sun_path, 1);
	setenv("WATCHDOG_USEC", "200000", 1);
	run(r);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	/* Listening and alive, but the objects cannot be read without their definitions. */
	program_ask_until(&health, 200);
	assert_non_null(strstr(next_report(fd), "STATUS=reading the objects"));
	for (int i = 0; i < 5; i++) {
		text = next_report(fd);
		assert_non_null(strstr(text, "WATCHDOG=1\n"));
		assert_null(strstr(text, "READY=1"));
	}
	define(r);
	while (!strstr(text = next_report(fd), "READY=1\n"))
		assert_null(strstr(text, "machines"));
	program_await(&r->drover, "\"ready\"");
	assert_true(ask_tls(r, r->agent, "/", NULL) > 0);
	while (!strstr(text, "STATUS=leading, 0 machines\n"))
		text = next_report(fd);
	assert_int_equal(kill(r->drover.pid, SIGTERM), 0);
	while (!strstr(next_report(fd), "STOPPING=1\n"))
		;
	assert_int_equal(program_end(&r->drover, 0), 0);
	close(fd);
}

static void a_socket_of_systemd_that_cannot_be_used_does_not_stop_it(void **state)
{
	struct rig *r = *state;

	define(r);
	setenv("NOTIFY_SOCKET", "vsock:2:1", 1);
	run(r);
	unsetenv("NOTIFY_SOCKET");
	assert_non_null(strstr(program_await(&r->drover, "no reports to the service manager"),
			       "NOTIFY_SOCKET: want a path or @NAME"));
	program_await(&r->drover, "\"ready\"");
	assert_int_equal(program_end(&r->drover, SIGTERM), 0);
}

/* Waits until the reason of the Provider's condition Ready differs from `not`. Returns the reason,
 * which the caller frees; *message: the condition's message. */
static char *ready_reason(struct rig *r, const char *provider, const char * not,
			  const char **message)
{
	static char text[512];
	char path[128];
	OWN_JSON o = NULL;
	json_t *c;
	size_t i;

	str_format(path, sizeof(path), "/apis/drover.dev/v1alpha1/providers/%s", provider);
	for (;;) {
		assert_int_equal(ask(r, "GET", path, NULL), 200);
		json_decref(o);
		o = program_json();
		json_array_foreach (json_at(o, "status", "conditions"), i, c)
			if (str_eq(json_str_at(c, "type"), "Ready") &&
			    !str_eq(json_str_at(c, "reason"), not )) {
				str_copy(text, sizeof(text), str_or(json_str_at(c, "message"), ""));
				*message = text;
				return mem_strdup(json_str_at(c, "reason"));
			}
		usleep(50000);
	}
}

static void a_provider_runs_what_the_command_line_allows_and_nothing_else(void **state)
{
	static const char *const programs[] = {"/opt/port-move", "/bin/cat", "/bin/sh"};
	struct rig *r = *state;
	const char *message;
	char name[32], body[512], *reason;

	define(r);
	for (size_t i = 0; i < 3; i++) {
		str_format(body, sizeof(body),
			   "{\"apiVersion\":\"drover.dev/v1alpha1\",\"kind\":\"Provider\","
			   "\"metadata\":{\"name\":\"p-%zu\"},"
			   "\"spec\":{\"type\":\"redfish\",\"boot\":{\"methods\":["
			   "\"VirtualMedia\"],\"mediaURL\":\"http://127.0.0.1:1\"},"
			   "\"agent\":{\"endpoint\":\"https://127.0.0.1:2\"},"
			   "\"network\":{\"type\":\"exec\","
			   "\"exec\":{\"command\":[\"%s\",\"/opt/port-move\"]},"
			   "\"segments\":{\"quarantine\":\"q\",\"provisioning\":\"p\"}}}}",
			   i, programs[i]);
		if (ask(r, "POST", "/apis/drover.dev/v1alpha1/providers", body) != 201)
			fail_msg("%s", program_text);
	}
	run(r);
	for (size_t i = 0; i < 3; i++) {
		str_format(name, sizeof(name), "p-%zu", i);
		reason = ready_reason(r, name, "Starting", &message);
		assert_int_equal(str_eq(reason, "NotAllowed"), i == 2);
		if (i == 2) {
			assert_non_null(strstr(message, "/bin/sh"));
			assert_non_null(strstr(message, "--allow-exec"));
		}
		free(reason);
	}
	assert_int_equal(program_end(&r->drover, SIGTERM), 0);
	/* An invalid option is reported at the start, not hours later at a Provider. */
	assert_int_not_equal(VERB("-k", r->kubeconfig, "--allow-exec", "port-move"), 0);
	verb_assert_said("--allow-exec port-move: want an absolute path");
}

static void an_address_that_is_taken_is_named(void **state)
{
	struct rig *r = *state;
	const char *taken = strrchr(r->host->server, '/') + 1;

	assert_int_equal(VERB("-k", r->kubeconfig, "--media-listen", taken), 1);
	verb_assert_said("--media-listen");
	verb_assert_said(taken);
	assert_int_equal(
		VERB("-k", r->kubeconfig, "--media-listen", r->media, "--ops-listen", taken), 1);
	verb_assert_said("--ops-listen");
}

static void files_that_are_not_there_are_named(void **state)
{
	struct rig *r = *state;

	assert_int_equal(VERB("-k", r->kubeconfig, "--image-ca", "/nonexistent/ca.crt"), 1);
	verb_assert_said("--image-ca: /nonexistent/ca.crt: no such file");
	assert_int_equal(VERB("-k", r->kubeconfig, "--evidence-dir", "/nonexistent/records"), 1);
	verb_assert_said("--evidence-dir /nonexistent/records");
	assert_int_equal(VERB("-k", r->kubeconfig, "--audit-log", "/nonexistent/audit"), 1);
	verb_assert_said("--audit-log: /nonexistent/audit: No such file");
}

static void options_for_traces_that_cannot_be_used_are_named(void **state)
{
	struct rig *r = *state;

	assert_int_equal(VERB("-k", r->kubeconfig, "--traces-endpoint", "collector:4318"), 1);
	verb_assert_said("--traces-endpoint: collector:4318 is not a URL such as https://");
	assert_int_equal(VERB("-k", r->kubeconfig, "--traces-ca", "/nonexistent/ca.crt"), 1);
	verb_assert_said("need --traces-endpoint");
	assert_int_equal(VERB("-k", r->kubeconfig, "--traces-endpoint", "https://collector:4318",
			      "--traces-ca", "/nonexistent/ca.crt"),
			 1);
	verb_assert_said("--traces-ca: /nonexistent/ca.crt: no such file");
	assert_int_equal(VERB("-k", r->kubeconfig, "--traces-endpoint", "http://collector:4318",
			      "--traces-token-file", r->kubeconfig),
			 1);
	verb_assert_said("a token is sent over https:// only");
	assert_int_equal(VERB("-k", r->kubeconfig, "--traces-endpoint", "https://collector:4318",
			      "--traces-token-file", "/nonexistent/token"),
			 1);
	verb_assert_said("--traces-token-file: /nonexistent/token: no such file");
	assert_int_equal(VERB("-k", r->kubeconfig, "--traces-endpoint", "https://collector:4318",
			      "--traces-token-file", "/dev/null"),
			 1);
	verb_assert_said("--traces-token-file: /dev/null: has no token");
}

static void options_of_the_leaders_service_that_cannot_be_used_are_named(void **state)
{
	static const struct {
		const char *args[9], *says;
	} cases[] = {
		{{"--leader-service", "drover", "--node-name", "n"},
		 "--leader-service needs --pod-ip, the address of this pod (status.podIP)"},
		{{"--leader-service", "drover", "--pod-ip", "10.2.0.1"},
		 "--leader-service needs --node-name, the name of this pod's node"},
		{{"--pod-ip", "10.2.0.1"}, "--pod-ip needs --leader-service"},
		{{"--node-name", "n"}, "--node-name needs --leader-service"},
		{{"--leader-service", "a.b", "--node-name", "n", "--pod-ip", "10.2.0.1"},
		 "--leader-service: want the name of a Service, got a.b"},
		{{"--leader-service", "drover", "--node-name", "N", "--pod-ip", "10.2.0.1"},
		 "--node-name: want the name of a Node, got N"},
		{{"--leader-service", "drover", "--node-name", "n", "--pod-ip", "10.2.0.1:80"},
		 "--pod-ip: want an IPv4 or IPv6 address"},
		{{"--leader-service", "drover", "--node-name", "n", "--pod-ip", "$(POD_IP)"},
		 "got $(POD_IP)"},
		{{"--leader-service", "drover", "--node-name", "n", "--pod-ip", "[fd00::1]"},
		 "--pod-ip: want an IPv4 or IPv6 address"},
		{{"--leader-service", "drover", "--node-name", "n", "--pod-ip", "169.254.1.1"},
		 "--pod-ip: a Service cannot lead to the address 169.254.1.1"},
		{{"--leader-service", "drover", "--node-name", "n", "--pod-ip", "fd00::1"},
		 "--agent-listen 0.0.0.0:8443: does not listen on --pod-ip fd00::1, at which "
		 "machines reach the leader; set --agent-listen to [::]:8443"},
		{{"--leader-service", "drover", "--node-name", "n", "--pod-ip", "10.2.0.1",
		  "--media-listen", "10.2.0.2:8080"},
		 "set --media-listen to 0.0.0.0:8080"},
		{{"--leader-service", "drover", "--node-name", "n", "--pod-ip", "10.2.0.1",
		  "--agent-listen", "10.2.0.1:0"},
		 "--leader-service needs an address and a port in --agent-listen"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (verb_run("drover run", cli_run, NULL, cases[i].args) != 2)
			fail_msg("not refused: %s", cases[i].says);
		verb_assert_said(cases[i].says);
	}
	/* These are correct; the program ends because the kubeconfig does not exist. */
	assert_int_equal(VERB("-k", "/nonexistent/k", "--leader-service", "drover", "--node-name",
			      "n", "--pod-ip", "fd00::1", "--agent-listen", "[::]:8443",
			      "--media-listen", "[fd00::1]:8080"),
			 1);
	verb_assert_said("/nonexistent/k");
	assert_int_equal(VERB("-k", "/nonexistent/k", "--leader-service", "drover", "--node-name",
			      "n", "--pod-ip", "10.2.0.1", "--agent-listen", "[::]:8443"),
			 1);
	verb_assert_said("/nonexistent/k");
}

/* drover runs without being ready, because the operator may still create the image. */
static void an_agent_image_that_cannot_be_read_is_named_and_keeps_it_from_being_ready(void **state)
{
	struct rig *r = *state;
	struct program_call ready = ops(r, "/readyz");

	define(r);
	program_start(&r->drover, "drover run", cli_run,
		      (const char *const[]){"-k", r->kubeconfig, "-n", "drover-system", "-i", "x",
					    "-a", "/nonexistent/agent.iso", "--agent-image-key",
					    SOMEBODY, "--agent-listen", r->agent, "--media-listen",
					    r->media, "--ops-listen", r->ops, NULL});
	assert_non_null(strstr(program_await(&r->drover, "the agent's image cannot be used"),
			       "/nonexistent/agent.iso"));
	assert_int_equal(program_ask(&ready), 503);
	assert_int_equal(program_end(&r->drover, SIGTERM), 0);
}

static void an_agent_image_is_offered_only_with_a_signature_that_was_asked_for(void **state)
{
	struct rig *r = *state;
	struct program_call ready = ops(r, "/readyz");
	char image[96], text[65536];
	FILE *f;

	assert_int_not_equal(VERB("-k", r->kubeconfig, "--agent-image", "agent.iso"), 0);
	verb_assert_said("--agent-image requires --agent-image-key");
	str_format(image, sizeof(image), "%s/agent.iso", r->folder);
	memset(text, ' ', sizeof(text));
	f = fopen(image, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, sizeof(text), f), sizeof(text));
	assert_int_equal(fclose(f), 0);
	define(r);
	program_start(&r->drover, "drover run", cli_run,
		      (const char *const[]){"-k", r->kubeconfig, "-a", image, "--agent-image-key",
					    SOMEBODY, "--agent-listen", r->agent, "--media-listen",
					    r->media, "--ops-listen", r->ops, NULL});
	assert_non_null(strstr(program_await(&r->drover, "the agent's image cannot be used"),
			       "agent.iso.sha256"));
	assert_int_equal(program_ask(&ready), 503);
	assert_int_equal(program_end(&r->drover, SIGTERM), 0);
}

/* drover reads options from a file. If a required option is missing, drover names it before
 * anything starts. */
static void options_may_stand_in_a_file(void **state)
{
	struct rig *r = *state;
	struct program_call ready = ops(r, "/readyz");
	char path[96], *text;
	FILE *f;

	str_format(path, sizeof(path), "%s/drover.yaml", r->folder);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("agent-name:\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(VERB("-k", r->kubeconfig, "--config", path), 2);
	verb_assert_said("drover.yaml: agent-name: has no value");
	f = fopen(path, "we");
	fputs("{}\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(VERB("-k", r->kubeconfig, "--config", path), 2);
	verb_assert_said("agent-name is missing");
	assert_int_equal(
		VERB("-k", r->kubeconfig, "-a", "x.iso", "--agent-image-key", "/nonexistent/x.pub"),
		2);
	verb_assert_said("--agent-image-key /nonexistent/x.pub");
	f = fopen(path, "we");
	fprintf(f,
		"agent-name: [%s]\nkubeconfig: %s\nidentity: from-a-file\nagent-listen: \"%s\"\n"
		"media-listen: \"%s\"\nops-listen: \"%s\"\nlog-json: true\n",
		program_address(), r->kubeconfig, r->agent, r->media, r->ops);
	assert_int_equal(fclose(f), 0);
	define(r);
	program_start(&r->drover, "drover run", cli_run,
		      (const char *const[]){"--config", path, "--identity", "me", NULL});
	program_await(&r->drover, "\"ready\"");
	program_ask_until(&ready, 200);
	text = holder(r);
	assert_string_equal(text, "me"); /* The later of two identical options counts. */
	free(text);
	assert_int_equal(program_end(&r->drover, SIGTERM), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(options_may_stand_in_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(
			it_is_ready_when_it_leads_and_gives_its_lease_back_at_the_end, setup,
			teardown),
		cmocka_unit_test_setup_teardown(it_tells_others_its_metrics_for_a_token_alone,
						setup, teardown),
		cmocka_unit_test_setup_teardown(systemd_learns_when_it_is_ready_leads_and_stops,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_socket_of_systemd_that_cannot_be_used_does_not_stop_it, setup, teardown),
		cmocka_unit_test_setup_teardown(without_its_definitions_it_lives_but_is_not_ready,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_provider_runs_what_the_command_line_allows_and_nothing_else, setup,
			teardown),
		cmocka_unit_test_setup_teardown(an_address_that_is_taken_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(options_for_traces_that_cannot_be_used_are_named,
						setup, teardown),
		cmocka_unit_test(options_of_the_leaders_service_that_cannot_be_used_are_named),
		cmocka_unit_test_setup_teardown(files_that_are_not_there_are_named, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			an_agent_image_that_cannot_be_read_is_named_and_keeps_it_from_being_ready,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_agent_image_is_offered_only_with_a_signature_that_was_asked_for, setup,
			teardown),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
