/* Tests `drover top` as a whole on a pseudo terminal, with an embedded API server. */
#include "tests/unit/testing.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "kube/config.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/pty.h"
#include "tests/unit/cli/verb.h"

#define API "/apis/drover.dev/v1alpha1"

struct rig {
	struct program api;
	struct kube_config *host;
	char folder[64], kubeconfig[96];
};

static struct pty p;

static int call(struct rig *r, const char *method, const char *path, const char *body)
{
	return program_ask(&(struct program_call){.url = r->host->server,
						  .ca_pem = r->host->ca_pem,
						  .bearer = secret_expose(r->host->token),
						  .method = method,
						  .path = path,
						  .body = body});
}

static void post(struct rig *r, const char *path, const json_t *body)
{
	char *text = json_text(body);

	if (call(r, "POST", path, text) != 201)
		fail_msg("%s: %s", path, program_text);
	free(text);
}

/* Creates an object, given as YAML, with its status. */
static void put(struct rig *r, const char *plural, const char *object, const char *status)
{
	char path[128], *text;
	struct err e;
	OWN_JSON o = yaml_parse(object, strlen(object), &e);
	OWN_JSON made = NULL;

	assert_non_null(o);
	str_format(path, sizeof(path), API "/%s", plural);
	post(r, path, o);
	made = program_json();
	json_object_set_new(made, "status", yaml_parse(status, strlen(status), &e));
	text = json_text(made);
	str_format(path, sizeof(path), API "/%s/%s/status", plural,
		   json_str_at(made, "metadata", "name"));
	if (call(r, "PUT", path, text) != 200)
		fail_msg("%s: %s", path, program_text);
	free(text);
}

static void put_machine(struct rig *r, const char *name, const char *status)
{
	char text[256];

	str_format(text, sizeof(text),
		   "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'Machine', 'metadata': {'name': "
		   "'%s', 'labels': {'topology.drover.dev/rack': 'r7'}}, 'spec': {'providerRef': "
		   "{'name': 'hall-a'}}}",
		   name);
	put(r, "machines", text, status);
}

static int setup(void **state)
{
	struct rig *r = mem_new(struct rig);
	OWN_JSON crds = NULL;
	struct err e;
	json_t *crd;
	size_t i;

	*state = r;
	program_folder(r->folder);
	str_format(r->kubeconfig, sizeof(r->kubeconfig), "%s/host.conf", r->folder);
	program_start(&r->api, "drover apiserver", cli_apiserver,
		      (const char *const[]){"--listen", "127.0.0.1:0", "--kubeconfig-out",
					    r->kubeconfig, NULL});
	program_await(&r->api, "kubectl ");
	r->host = kube_config_load(r->kubeconfig, NULL, &e);
	assert_non_null(r->host);
	assert_int_equal(verb_run("drover crds", cli_crds, NULL, (const char *const[]){NULL}), 0);
	crds = yaml_parse_all(verb_said, strlen(verb_said), &e);
	json_array_foreach (crds, i, crd)
		post(r, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
	put_machine(r, "m-1", "{'state': 'free'}");
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	if (r->api.pid)
		program_end(&r->api, SIGTERM);
	kube_config_free(r->host);
	program_folder_done(r->folder);
	free(r);
	return 0;
}

static int top(void *arg)
{
	struct rig *r = arg;
	char *argv[] = {(char *)"drover top", (char *)"-k", r->kubeconfig, NULL};

	return cli_top(3, argv);
}

static void changes_and_actions_are_shown(void **state)
{
	struct rig *r = *state;
	OWN_JSON m = NULL;

	pty_start(&p, 100, 30, "xterm", "C", top, r);
	pty_await(&p, "1 machines  free 1");
	put_machine(r, "m-2",
		    "{'state': 'wiping', 'operation': {'id': 'a', 'step': 'wipe', 'progress': "
		    "{'phase': 'overwrite', 'doneBytes': 1000000000, 'totalBytes': 4000000000, "
		    "'bytesPerSecond': 50000000}}}");
	pty_await(&p, "2 machines");
	pty_await(&p, "overwrite [##        ] 25 % 50 MB/s 60s left");
	put(r, "virtualclusters",
	    "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'VirtualCluster', 'metadata': {'name': "
	    "'team-b'}, 'spec': {'kubeconfigSecretRef': {'name': 'team-b', 'namespace': "
	    "'drover-system'}, 'quota': {'nvidia.com/gpu': 8}}}",
	    "{'waiting': [{'pod': 'default/train', 'place': 2, 'reason': 'NoCapacity', 'message': "
	    "'all taken', 'since': '2026-01-01T00:00:00Z'}]}");
	pty_await(&p, "    2 team-b/default/train");
	pty_await(&p, "NoCapacity: all taken");

	pty_type(&p, "/m-1\nr");
	pty_await(&p, "retry m-1? y: yes");
	pty_type(&p, "y");
	pty_await(&p, "machine m-1 (free): nothing waits for a retry");
	pty_await(&p, "kubectl ");
	assert_int_equal(call(r, "GET", API "/machines/m-1", NULL), 200);
	m = program_json();
	assert_non_null(json_at(m, "metadata", "annotations", "drover.dev/retry"));
	pty_type(&p, "\n");
	pty_await(&p, "filter: m-1 (1 of 2)");
	pty_type(&p, "l");
	pty_await(&p, "release m-1? y: yes");
	pty_type(&p, "y");
	pty_await(&p, "drover top: machine m-1 is free: it is neither held nor quarantined");
	pty_type(&p, "\n");
	pty_await(&p, "filter: m-1 (1 of 2)");

	assert_int_equal(call(r, "DELETE", API "/machines/m-2", NULL), 200);
	pty_await(&p, "1 machines");
	program_end(&r->api, SIGTERM);
	pty_await(&p, "not updated since 20");
	pty_type(&p, "\003");
	assert_int_equal(pty_end(&p), 0);
}

static void enter_shows_why_while_the_screen_goes_on(void **state)
{
	struct rig *r = *state;

	put(r, "drains",
	    "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'Drain', 'metadata': {'name': 'fans'}, "
	    "'spec': {'machineNames': ['m-3'], 'reason': 'fan tray'}}",
	    "{'phase': 'Draining'}");
	put_machine(r, "m-3",
		    "{'state': 'draining', 'leave': {'reason': 'drain', 'drain': 'fans', "
		    "'podsLeft': 2}}");
	pty_start(&p, 100, 40, "xterm", "C", top, r);
	pty_await(&p, "2 machines");
	pty_type(&p, "/m-3\n");
	pty_await(&p, "filter: m-3 (1 of 2)");
	/* An API server that does not answer blocks no key. */
	kill(r->api.pid, SIGSTOP);
	pty_type(&p, "\n");
	pty_await(&p, "Machine m-3");
	pty_await(&p, "reading the related objects");
	pty_type(&p, "\033");
	pty_await(&p, "> m-3");
	pty_type(&p, "\n");
	pty_await(&p, "reading the related objects");
	kill(r->api.pid, SIGCONT);
	pty_await(&p, "fan tray");
	pty_without(&p, "reading the objects");
	/* The answer is read again, and stays when the machine is gone. */
	assert_int_equal(call(r, "DELETE", API "/machines/m-3", NULL), 200);
	pty_await(&p, "not updated: there is no Machine m-3");
	pty_type(&p, "\033");
	pty_await(&p, "no machine matches the filter");
	/* The question about a row is dropped at the end. */
	pty_type(&p, "\033");
	pty_await(&p, "> m-1");
	kill(r->api.pid, SIGSTOP);
	pty_type(&p, "\n");
	pty_await(&p, "reading the related objects");
	pty_type(&p, "q");
	assert_int_equal(pty_end(&p), 0);
	kill(r->api.pid, SIGCONT);
}

static void a_terminal_without_a_cursor_gets_the_fleet_once(void **state)
{
	pty_start(&p, 100, 30, "dumb", "C", top, *state);
	pty_await(&p, "drover top: terminal type 'dumb' is unknown or cannot move the cursor, so "
		      "the fleet is printed");
	pty_await(&p, "1 machines  free 1");
	pty_await(&p, "  m-1 ");
	assert_int_equal(pty_end(&p), 0);
}

static void a_signal_restores_the_terminal(void **state)
{
	pty_start(&p, 40, 12, "vt100", "C", top, *state);
	pty_await(&p, "m-1");
	pty_await(&p, "q: quit");
	kill(-tcgetpgrp(p.fd), SIGTERM);
	assert_int_equal(pty_end(&p), 128 + SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(changes_and_actions_are_shown, setup, teardown),
		cmocka_unit_test_setup_teardown(enter_shows_why_while_the_screen_goes_on, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_terminal_without_a_cursor_gets_the_fleet_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_signal_restores_the_terminal, setup, teardown),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
