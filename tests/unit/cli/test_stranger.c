/* Tests the commands as a user who does not know drover runs them: with a wrong kubeconfig, an API
 * server that does not answer, without rights, without drover's types, without a leader, with texts
 * that would control the terminal, and on a poor terminal. Each command works, or says in one line
 * what to do. */
#include "tests/unit/testing.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "kube/config.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/pty.h"
#include "tests/unit/cli/verb.h"

#define API "/apis/drover.dev/v1alpha1"
#define HOSTILE "nvme0 \\u001b[31mred\\u001b]0;title\\u0007\\u009b2J"

/* --- the API servers -------------------------------------------------------------------------- */

struct server {
	struct program api;
	struct kube_config *host;
	char kubeconfig[96];
};

/* full: an API server with drover's types and hostile objects. bare: one without them. */
static struct server full, bare;
static char folder[64], bundle[96];

static int call(struct server *s, const char *method, const char *path, const char *body)
{
	return program_ask(&(struct program_call){.url = s->host->server,
						  .ca_pem = s->host->ca_pem,
						  .bearer = secret_expose(s->host->token),
						  .method = method,
						  .path = path,
						  .body = body});
}

static void must(struct server *s, const char *method, const char *path, const char *body)
{
	int status = call(s, method, path, body);

	if (status != 200 && status != 201)
		fail_msg("%s %s: %d %s", method, path, status, program_text);
}

static void start(struct server *s, const char *name)
{
	struct err e;

	str_format(s->kubeconfig, sizeof(s->kubeconfig), "%s/%s.conf", folder, name);
	program_start(&s->api, "drover apiserver", cli_apiserver,
		      (const char *const[]){"--listen", "127.0.0.1:0", "--kubeconfig-out",
					    s->kubeconfig, NULL});
	program_await(&s->api, "kubectl ");
	s->host = kube_config_load(s->kubeconfig, NULL, &e);
	assert_non_null(s->host);
}

/* Creates an object and then sets its status. */
static void put(const char *plural, const char *object, const char *status)
{
	char path[128], *text;
	OWN_JSON made = NULL;
	struct err e;

	str_format(path, sizeof(path), API "/%s", plural);
	must(&full, "POST", path, object);
	made = program_json();
	json_object_set_new(made, "status", json_parse(status, strlen(status), &e));
	text = json_text(made);
	str_format(path, sizeof(path), API "/%s/%s/status", plural,
		   json_str_at(made, "metadata", "name"));
	must(&full, "PUT", path, text);
	free(text);
}

#define OBJECT(kind, name, spec)                                                                   \
	"{\"apiVersion\": \"drover.dev/v1alpha1\", \"kind\": \"" kind "\", \"metadata\": "         \
	"{\"name\": \"" name "\"}, \"spec\": " spec "}"

static void fill(void)
{
	OWN_JSON crds = NULL;
	struct err e;
	json_t *crd;
	size_t i;

	assert_int_equal(verb_run("drover crds", cli_crds, NULL, (const char *const[]){NULL}), 0);
	crds = yaml_parse_all(verb_said, strlen(verb_said), &e);
	json_array_foreach (crds, i, crd) {
		char *text = json_text(crd);

		must(&full, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		     text);
		free(text);
	}
	put("machines", OBJECT("Machine", "gpu-1", "{\"providerRef\": {\"name\": \"hall\"}}"),
	    "{\"state\": \"quarantined\", \"quarantine\": {\"reason\": \"DriveFailed\", "
	    "\"exit\": \"operator\", \"message\": \"" HOSTILE "\"}}");
	put("virtualclusters",
	    OBJECT("VirtualCluster", "team-a",
		   "{\"kubeconfigSecretRef\": {\"name\": \"team-a\", \"namespace\": "
		   "\"drover-system\"}, \"quota\": {\"nvidia.com/gpu\": 8}}"),
	    "{\"waiting\": [{\"pod\": \"default/train\", \"place\": 1, \"reason\": "
	    "\"NoCapacity\", \"message\": \"" HOSTILE "\", \"since\": "
	    "\"2026-01-01T00:00:00Z\"}]}");
	put("drains",
	    OBJECT("Drain", "fans", "{\"machineNames\": [\"gpu-1\"], \"reason\": \"" HOSTILE "\"}"),
	    "{\"phase\": \"Draining\", \"startTime\": \"2026-01-01T00:00:00Z\", \"targets\": "
	    "[{\"machine\": \"gpu-1\", \"phase\": \"Evicting\", \"podsLeft\": 2, \"blockedBy\": "
	    "\"" HOSTILE "\"}]}");
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Writes a kubeconfig for the server `url` with this CA and token, as DIR/NAME.conf. */
static void write_kubeconfig(const char *name, const char *url, const struct server *ca,
			     const char *token)
{
	char path[128];
	char *text = program_file(folder, ca == &full ? "full.conf" : "bare.conf"),
	     *data = strstr(text, "certificate-authority-data: "), *all;

	assert_non_null(data);
	data += strlen("certificate-authority-data: ");
	data[strcspn(data, "\n")] = '\0';
	all = mem_printf("apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster:\n    "
			 "server: %s\n    certificate-authority-data: %s\nusers:\n- name: u\n  "
			 "user:\n    token: %s\ncontexts:\n- name: x\n  context:\n    cluster: c\n"
			 "    user: u\ncurrent-context: x\n",
			 url, data, token);
	str_format(path, sizeof(path), "%s/%s.conf", folder, name);
	write_file(path, all);
	free(all);
	free(text);
}

static void write_kubeconfigs(void)
{
	const char *admin = secret_expose(full.host->token);
	OWN_JSON token = NULL;
	char path[128];

	must(&full, "POST", "/api/v1/namespaces/default/serviceaccounts",
	     "{\"apiVersion\": \"v1\", \"kind\": \"ServiceAccount\", \"metadata\": {\"name\": "
	     "\"nobody\"}}");
	must(&full, "POST", "/api/v1/namespaces/default/serviceaccounts/nobody/token",
	     "{\"apiVersion\": \"authentication.k8s.io/v1\", \"kind\": \"TokenRequest\", "
	     "\"spec\": {\"expirationSeconds\": 3600}}");
	token = program_json();
	write_kubeconfig("norights", full.host->server, &full,
			 json_str_at(token, "status", "token"));
	write_kubeconfig("stranger", full.host->server, &full, "wrong");
	write_kubeconfig("wrongca", full.host->server, &bare, admin);
	write_kubeconfig("dead", "https://127.0.0.1:1", &full, admin);
	str_format(path, sizeof(path), "%s/nonsense.conf", folder);
	write_file(path, "{{{");
	str_format(path, sizeof(path), "%s/empty.conf", folder);
	write_file(path, "");
}

static int setup(void **state)
{
	(void)state;
	program_folder(folder);
	str_format(bundle, sizeof(bundle), "%s/b.tar.zst", folder);
	start(&full, "full");
	start(&bare, "bare");
	fill();
	write_kubeconfigs();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	program_end(&full.api, SIGTERM);
	program_end(&bare.api, SIGTERM);
	kube_config_free(full.host);
	kube_config_free(bare.host);
	program_folder_done(folder);
	return 0;
}

/* --- the table -------------------------------------------------------------------------------- */

#define RIGHTS "needs the ClusterRole drover-view"
#define WHO "the cluster does not know this user: log in again"
#define RUNS "check that the API server runs, and that --kubeconfig and --context are right"
#define PEER                                                                                       \
	"the API server's certificate does not match the kubeconfig: give another --kubeconfig "   \
	"or --context"
#define FILES "give another --kubeconfig FILE or --context NAME"
#define TYPE "; check --kubeconfig and --context, or install the types: drover crds | kubectl apply"
#define LACKS "; missing.txt in the archive says why"

enum { FULL, BARE, NORIGHTS, STRANGER, WRONGCA, DEAD, NONSENSE, EMPTY, NONE, PLACES };
static const char *const places[PLACES] = {"full", "bare",     "norights", "stranger", "wrongca",
					   "dead", "nonsense", "empty",	   "none"};

/* What a command says in each place, and its exit status there. */
static const struct row {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *args[5];
	struct {
		const char *says;
		int status;
	} in[PLACES];
} rows[] = {
	{"drover status",
	 cli_status,
	 {NULL},
	 {[FULL] = {"leader does not answer", 0},
	  [BARE] = {TYPE, 1},
	  [NORIGHTS] = {RIGHTS, 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover top",
	 cli_top,
	 {NULL},
	 {[FULL] = {"1 machines  quarantined 1", 0},
	  [BARE] = {TYPE, 1},
	  [NORIGHTS] = {RIGHTS, 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover why",
	 cli_why,
	 {NULL},
	 {[FULL] = {"[31mred", 0},
	  [BARE] = {"use the kubeconfig of drover's host cluster or of a tenant", 1},
	  [NORIGHTS] = {RIGHTS, 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover why",
	 cli_why,
	 {"gpu-1"},
	 {[FULL] = {"[31mred", 0},
	  [BARE] = {"use the kubeconfig of drover's host cluster or of a tenant", 1},
	  [NORIGHTS] = {RIGHTS, 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover why",
	 cli_why,
	 {"team-a/default/train"},
	 {[FULL] = {"[31mred", 1}, /* The tenant has no Secret with a kubeconfig. */
	  [BARE] = {"use the kubeconfig of drover's host cluster or of a tenant", 1},
	  [NORIGHTS] = {RIGHTS, 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover get",
	 cli_get_objects,
	 {"machines,drains"},
	 {[FULL] = {"gpu-1", 0},
	  [BARE] = {TYPE, 1},
	  [NORIGHTS] = {RIGHTS, 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover cost",
	 cli_cost,
	 {NULL},
	 {[FULL] = {"MACHINE-HOURS", 0},
	  [BARE] = {TYPE, 1},
	  [NORIGHTS] = {RIGHTS, 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover drain",
	 cli_drain,
	 {"gpu-2", "--reason", "fan"},
	 {[FULL] = {"there is no Machine gpu-2, and no Node of that name", 1},
	  [BARE] = {TYPE, 1},
	  [NORIGHTS] = {RIGHTS, 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover drain",
	 cli_drain,
	 {"--selector", "rack=r1", "--reason", "fan"},
	 {[FULL] = {"no machine matches rack=r1", 0},
	  [BARE] = {TYPE, 1},
	  [NORIGHTS] = {"needs the ClusterRole drover-oncall or drover-admin", 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover cancel",
	 cli_cancel,
	 {"nothing"},
	 {[FULL] = {"there is no drain nothing; `drover get drains` lists them", 1},
	  [BARE] = {TYPE, 1},
	  [NORIGHTS] = {"needs the ClusterRole drover-oncall or drover-admin", 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover wipe",
	 cli_wipe,
	 {"report", "gpu-1"},
	 {[FULL] = {"check --context and --namespace, or give --keys FILE", 1},
	  [BARE] = {"check --context and --namespace, or give --keys FILE", 1},
	  [NORIGHTS] = {"bind the Role drover-auditor", 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover machine",
	 cli_machine_import,
	 {"import", "--provider", "hall"},
	 {[FULL] = {"no BareMetalHosts of Metal3: check --kubeconfig and --context", 1},
	  [BARE] = {"no BareMetalHosts of Metal3: check --kubeconfig and --context", 1},
	  [NORIGHTS] = {RIGHTS, 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover tenant",
	 cli_tenant,
	 {"import"},
	 {[FULL] = {"found no vCluster in this cluster", 1},
	  [BARE] = {TYPE, 1},
	  [NORIGHTS] = {RIGHTS, 1},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
	{"drover support-bundle",
	 cli_support_bundle,
	 {"-o", bundle},
	 {[FULL] = {LACKS, 0}, /* There is no Lease and no Deployment. */
	  [BARE] = {LACKS, 0},
	  [NORIGHTS] = {LACKS, 0},
	  [STRANGER] = {WHO, 1},
	  [WRONGCA] = {PEER, 1},
	  [DEAD] = {RUNS, 1}}},
};

/* Asserts that a text has no character that controls a terminal, and that it is UTF-8. */
static void assert_harmless(const char *text, const char *of)
{
	size_t n = strlen(text), used;
	int32_t c;

	for (; n; text += used, n -= used) {
		c = str_utf8(text, n, &used);
		if (c < 0 || (c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0))
			fail_msg("%s: control character %d before '%.40s'", of, (int)c, text);
	}
}

static void assert_run(const struct row *r, int place)
{
	const bool bad_file = place >= NONSENSE;
	const char *args[9], *want = bad_file ? FILES : r->in[place].says;
	char path[128], of[256];
	size_t n = 0;
	int status;

	for (; n < 5 && r->args[n]; n++)
		args[n] = r->args[n];
	str_format(path, sizeof(path), "%s/%s.conf", folder, places[place]);
	args[n++] = "--kubeconfig";
	args[n++] = path;
	args[n] = NULL;
	str_format(of, sizeof(of), "%s %s in place %s", r->name, str_or(r->args[0], ""),
		   places[place]);
	status = verb_run(r->name, r->fn, NULL, args);
	unlink(bundle);
	if (!strstr(verb_said, want))
		fail_msg("%s: want '%s' in: %.2000s", of, want, verb_said);
	if (status != (bad_file ? 1 : r->in[place].status))
		fail_msg("%s: exit status %d: %.2000s", of, status, verb_said);
	assert_harmless(verb_said, of);
}

static void each_command_works_or_says_what_to_do(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int place = 0; place < PLACES; place++)
			assert_run(&rows[i], place);
}

static void explain_needs_no_cluster(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover explain", cli_explain, NULL,
				  (const char *const[]){"wiping", NULL}),
			 0);
	assert_harmless(verb_said, "explain");
	assert_int_equal(verb_run("drover explain", cli_explain, NULL,
				  (const char *const[]){"no\033[31msuch", NULL}),
			 1);
	verb_assert_said("lists all reasons");
	assert_harmless(verb_said, "explain");
}

/* --- a poor terminal -------------------------------------------------------------------------- */

static struct pty p;
static const char *no_color;

/* Runs each command that prints something on the terminal. */
static int print_all(void *arg)
{
	static const struct {
		int (*fn)(int argc, char **argv);
		const char *args[4];
	} runs[] = {
		{cli_status, {"drover status"}},
		{cli_why, {"drover why"}},
		{cli_get_objects, {"drover get", "machines"}},
		{cli_check, {"drover check"}},
		{cli_cost, {"drover cost"}},
		{cli_retry, {"drover retry", "gpu-1"}},
		{cli_drain, {"drover drain", "--selector=rack=r1", "--reason=fan"}},
	};
	char *argv[8], k[] = "-k";
	int argc;

	if (no_color)
		setenv("NO_COLOR", no_color, 1);
	else
		unsetenv("NO_COLOR");
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		for (argc = 0; argc < 4 && runs[i].args[argc]; argc++)
			argv[argc] = (char *)runs[i].args[argc];
		argv[argc++] = k;
		argv[argc++] = arg;
		argv[argc] = NULL;
		(void)runs[i].fn(argc, argv);
		fflush(NULL);
	}
	return 0;
}

static void assert_coloured(const char *type, const char *no, bool want)
{
	no_color = no;
	pty_start(&p, 40, 90, type, "C", print_all, full.kubeconfig);
	pty_await(&p, "same as: kubectl create");
	assert_int_equal(pty_end(&p), 0);
	if ((p.colours > 0) != want)
		fail_msg("TERM=%s: %zu colours\n%s", type, p.colours, pty_screen(&p));
}

static void colours_are_for_terminals_that_want_them(void **state)
{
	(void)state;
	assert_coloured("xterm", NULL, true);
	assert_coloured("xterm", "", true);
	assert_coloured("xterm", "1", false);
	assert_coloured("dumb", NULL, false);
}

static int follow(void *arg)
{
	char *argv[] = {(char *)"drover drain",
			(char *)"--follow",
			(char *)"fans",
			(char *)"-k",
			arg,
			NULL};

	return cli_drain(5, argv);
}

/* At 40 columns no row of the progress wraps, so that it is drawn over the previous one. */
static void the_progress_of_a_drain_fits_forty_columns(void **state)
{
	char *text, *status;
	OWN_JSON o = NULL;
	struct err e;

	(void)state;
	pty_start(&p, 40, 10, "xterm", "C", follow, full.kubeconfig);
	pty_await(&p, "Draining: 0 of 1 done");
	assert_int_equal(call(&full, "GET", API "/drains/fans", NULL), 200);
	o = program_json();
	status = mem_printf("{\"phase\": \"Partial\", \"startTime\": \"2026-01-01T00:00:00Z\", "
			    "\"completionTime\": \"2026-01-01T01:00:00Z\", \"targets\": "
			    "[{\"machine\": \"gpu-1\", \"phase\": \"Stopped\", \"podsLeft\": 1, "
			    "\"blockedBy\": \"pdb a-namespace/with-a-long-name-of-a-budget\"}]}");
	json_object_set_new(o, "status", json_parse(status, strlen(status), &e));
	text = json_text(o);
	must(&full, "PUT", API "/drains/fans/status", text);
	pty_await(&p, "Partial: 0 of 1 done");
	assert_null(strstr(pty_screen(&p), "Draining"));
	assert_null(strstr(pty_screen(&p), "Evicting"));
	assert_int_equal(pty_end(&p), 1);
	free(text);
	free(status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_command_works_or_says_what_to_do),
		cmocka_unit_test(explain_needs_no_cluster),
		cmocka_unit_test(colours_are_for_terminals_that_want_them),
		cmocka_unit_test(the_progress_of_a_drain_fits_forty_columns),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, setup, teardown);
}
