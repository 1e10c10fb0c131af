/* Tests `drover why` without a name: with the leader's list, and without a leader that can be
 * used. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/str.h"
#include "cli/verbs.h"
#include "tests/unit/cli/verb.h"
#include "tests/unit/kube/fake_api.h"

#define PROXY "/api/v1/namespaces/drover-system/services/https:drover-view:view/proxy"
#define OBJECTS "/apis/drover.dev/v1alpha1/"

struct bed {
	struct fake_api f;
	struct cli_client c;
	struct view_where where;
	struct cli_stuck list;
	char *said;
	size_t said_len;
	/* status: HTTP status of the view's replies; 0: the view never answers. list: the reply.
	 * tenants: the reply to a list of VirtualClusters. hung: the request that gets no
	 * answer. */
	int status;
	const char *reply, *tenants;
	struct httpd_req *hung;
};

static bool serve(struct fake_api *f, struct httpd_req *q)
{
	struct bed *b = f->arg;

	if (str_starts(f->path, OBJECTS)) {
		httpd_reply_json(q, 200,
				 str_eq(f->path, OBJECTS "virtualclusters") && b->tenants
					 ? b->tenants
					 : "{\"metadata\": {\"resourceVersion\": \"1\"}, "
					   "\"items\": []}");
		return true;
	}
	if (!str_eq(f->path, PROXY "/v1/attention"))
		return false;
	if (!b->status)
		b->hung = q;
	else if (b->status == 200)
		httpd_reply_json(q, 200, b->reply);
	else
		httpd_reply(q, b->status, "text/plain", "no", 2);
	return true;
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	unsetenv("DROVER_VIEW");
	fake_api_start(&b->f, NULL);
	b->f.serve = serve;
	b->f.arg = b;
	b->c = (struct cli_client){.verb = "drover why",
				   .loop = b->f.loop,
				   .group = b->f.client_g,
				   .http = b->f.http,
				   .host = b->f.c,
				   .out = open_memstream(&b->said, &b->said_len)};
	b->where = (struct view_where){.ns = "drover-system", .total_ms = CLI_STUCK_VIEW_MS};
	b->list.view = &b->where;
	b->status = 200;
	b->reply = "{\"rows\": []}";
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;

	fclose(b->c.out);
	free(b->said);
	fake_api_stop(&b->f);
	free(b);
	return 0;
}

/* Runs the command. problem: part of the expected line on standard error; NULL: none. */
static void run(struct bed *b, const char *problem)
{
	rewind(b->c.out);
	verb_errors_begin();
	assert_int_equal(cli_do_stuck(&b->c, &b->list), 0);
	verb_errors_end(problem);
	fflush(b->c.out);
}

static void assert_said(struct bed *b, const char *what)
{
	if (!strstr(b->said, what))
		fail_msg("want '%s' in: %s", what, b->said);
}

/* The leader's list has objects of drover only; the file is in the Lease. */
static void a_file_of_the_audit_log_that_is_not_written_is_listed(void **state)
{
	struct bed *b = *state;

	fake_api_put(
		&b->f,
		"/apis/coordination.k8s.io/v1/namespaces/drover-system/leases/" CONTROLLER_LEASE,
		"{\"metadata\": {\"name\": \"" CONTROLLER_LEASE "\", \"annotations\": {"
		"\"" AUDIT_FILE_FAILS "\": \"2026-12-01T10:00:00Z the disk is\\u001b full\"}}, "
		"\"spec\": {}}");
	run(b, NULL);
	assert_said(b, "Needs an operator (1)\n  lease/" CONTROLLER_LEASE "  for ");
	assert_said(b, ", AuditFileFails: the disk is");
	assert_said(b, "      what helps: make room on the disk");
	assert_null(strstr(b->said, "an unknown time"));
	assert_null(strchr(b->said, 0x1b));
}

static void the_leader_lists_objects_and_pods(void **state)
{
	struct bed *b = *state;

	b->reply = "{\"rows\": [{\"need\": \"Person\", \"owner\": \"operator\", \"object\": "
		   "\"machine/m-1\", \"state\": \"quarantined\", \"reason\": \"DriveMissing\", "
		   "\"text\": \"eui.2\", \"help\": [\"look\"], \"commands\": [\"drover approve m-1 "
		   "--drives\"]}, {\"need\": \"Tenant\", \"object\": \"pod/team-a/default/p\", "
		   "\"reason\": \"TooBig\", \"pods\": 4, \"help\": [\"ask for less\"], "
		   "\"commands\": []}]}";
	run(b, NULL);
	assert_said(b, "Needs an operator (1)\n"
		       "  machine/m-1  quarantined for an unknown time, DriveMissing: eui.2\n"
		       "      what helps: look\n"
		       "      then run:   drover approve m-1 --drives\n");
	assert_said(b, "Needs a change by its tenant (1)\n  pod/team-a/default/p and 3 more  for ");
	assert_said(b, "read from the leader; `drover why TYPE/NAME` shows one in full\n");
	b->list.brief = true;
	run(b, NULL);
	assert_said(b, "Needs an operator (1)\n"
		       "  machine/m-1  -  DriveMissing  drover approve m-1 --drives\n"
		       "Needs a change by its tenant (1)\n"
		       "  pod/team-a/default/p (+3)  -  TooBig  ask for less\n");
	b->c.json = true;
	run(b, NULL);
	assert_said(b, "\"source\": \"leader\"");
	assert_null(strstr(b->said, "\"seen\""));
}

static void a_leader_of_another_version_loses_no_row_and_controls_no_terminal(void **state)
{
	struct bed *b = *state;

	b->reply = "{\"rows\": [{\"need\": \"New\", \"object\": \"machine/\\u001b[2Jm\", "
		   "\"help\": [3, \"a\\nb\"], \"commands\": [7], \"pods\": \"x\"}, 5]}";
	run(b, NULL);
	assert_said(b, "Needs an operator (2)\n"
		       "  machine/?[2Jm");
	assert_null(strchr(b->said, '\033'));
	b->reply = "{\"list\": []}";
	run(b, "the leader's reply has no list 'rows'): the list comes "
	       "from drover's objects alone");
	b->reply = "x";
	run(b, "the list comes from drover's objects alone");
	b->status = 404;
	fake_api_put(&b->f, "/api/v1/namespaces/drover-system/services/drover-view", "{}");
	run(b, "the leader is older than this command; update drover");
	assert_said(b, "nothing is stuck; 0 objects checked\n");
}

static void a_refused_token_is_named(void **state)
{
	struct bed *b = *state;

	b->status = 403;
	run(b, "bind the ClusterRole and the Role drover-view");
	b->status = 401;
	run(b, "log in again");
}

static void a_leader_that_never_answers_costs_three_seconds(void **state)
{
	struct bed *b = *state;
	int64_t began = loop_now(b->f.loop);

	b->status = 0;
	run(b, "the leader does not answer (");
	assert_true(loop_now(b->f.loop) - began < 4000);
	assert_said(b, "nothing is stuck; 0 objects checked\n");
	b->c.json = true;
	run(b, NULL);
	assert_said(b, "\"source\": \"objects\"");
	assert_said(b, "\"problem\": \"");
}

static void without_a_leader_the_first_pods_of_each_tenant_are_listed(void **state)
{
	struct bed *b = *state;
	char late[STR_TIME_SIZE], first[STR_TIME_SIZE], fresh[STR_TIME_SIZE], text[2048];
	const int64_t now = loop_wall(b->f.loop);

	str_format(text, sizeof(text),
		   "{\"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [{\"metadata\": "
		   "{\"name\": \"team-a\", \"uid\": \"u\"}, \"spec\": {\"kubeconfigSecretRef\": "
		   "{\"name\": \"x\"}, \"quota\": {}}, \"status\": {\"waiting\": ["
		   "{\"pod\": \"d/big-0\", \"reason\": \"TooBig\", \"message\": \"m\", \"since\": "
		   "\"%s\"}, {\"pod\": \"d/big-1\", \"reason\": \"TooBig\", \"since\": \"%s\"}, "
		   "{\"pod\": \"d/big-2\", \"reason\": \"TooBig\", \"since\": \"%s\"}, "
		   "{\"pod\": \"d/new\", \"reason\": \"NoPool\", \"since\": \"%s\"}]}}]}",
		   str_time(late, now - 1200000), str_time(first, now - 3000000), late,
		   str_time(fresh, now - 1000));
	b->tenants = text;
	b->list.view = NULL;
	run(b, NULL);
	/* The row has the name of the first pod and the time of the one that waits longest. */
	assert_said(b, "Needs a change by its tenant (1)\n  pod/team-a/d/big-0 and 2 more  waiting "
		       "for 50m, TooBig: m\n");
	assert_null(strstr(b->said, "d/new"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_file_of_the_audit_log_that_is_not_written_is_listed),
		T(the_leader_lists_objects_and_pods),
		T(a_leader_of_another_version_loses_no_row_and_controls_no_terminal),
		T(a_refused_token_is_named),
		T(a_leader_that_never_answers_costs_three_seconds),
		T(without_a_leader_the_first_pods_of_each_tenant_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
