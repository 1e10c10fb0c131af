/* The tenant's step of a machine that leaves: its Node, its token, its volumes; what is owed while it cannot be done. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/debts.h"
#include "tests/world/leaving.h"

#define LONG_S (12 * 3600)

static bool finalized(struct earth *w)
{
	OWN_JSON vc = plane_get(&w->host, "virtualclusters.drover.dev/team-a");
	json_t *f;
	size_t i;

	json_array_foreach (json_at(vc, "metadata", "finalizers"), i, f)
		if (str_eq(json_string_value(f), DEBTS_FINALIZER))
			return true;
	return false;
}

static void make_token(struct earth *w, struct plane *p)
{
	OWN(arena) a = arena_new();
	OWN_JSON vc = plane_get(&w->host, "virtualclusters.drover.dev/team-a");
	const char *id = json_str_at(json_array_get(json_at(vc, "status", "debts"), 0), "tokenID");

	assert_non_null(id);
	earth_do(w, p, "POST", "/api/v1/namespaces/kube-system/secrets",
		 json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind", "Secret", "metadata",
			   "name", arena_printf(a, "bootstrap-token-%s", id)));
}

static bool is_token(const json_t *o, void *arg)
{
	*(unsigned *)arg += str_starts(json_str_at(o, "metadata", "name"), "bootstrap-token-");
	return true;
}

static unsigned tokens(struct plane *p)
{
	unsigned n = 0;

	plane_each(p, "secrets/kube-system/", is_token, &n);
	return n;
}

static void what_an_absent_tenant_is_owed_is_paid_when_it_is_back(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];
	char claim[128];

	(void)state;
	leaving_alive(&w, 430);
	str_copy(claim, sizeof(claim), b->claim);
	assert_true(finalized(&w));
	leaving_begin(&w);
	earth_wait_state(b, "isolating", 300);
	plane_away(team, true);
	team->owed = true;
	earth_wait_state(b, "leaving", 60);
	earth_run(&w, 100000);
	assert_string_equal(b->state, "leaving"); /* it may be back soon */
	earth_wait(&w, leaving_is_owed, &w, 60, "a debt");
	earth_wait_state(b, "free", 900);
	assert_false(leaving_has(&w.host, "nodeclaims.drover.dev", claim));
	make_token(&w, team);
	earth_run(&w, 3600 * 1000);
	assert_int_equal(leaving_debts(&w), 1);
	assert_true(finalized(&w));
	plane_away(team, false);
	earth_wait(&w, leaving_is_quits, &w, 300, "the debt paid");
	assert_false(leaving_has(team, "nodes", claim));
	assert_int_equal(tokens(team), 0);
	earth_run(&w, 15000);
	assert_false(finalized(&w));
	earth_stop(&w);
}

static void a_debt_outlives_the_leaders_that_made_it(void **state)
{
	(void)state;
	for (uint64_t seed = 431; seed < 434; seed++) {
		struct earth w;
		struct box *b = &w.boxes[0];
		struct plane *team = &w.tenants[0];
		char claim[128];

		leaving_alive(&w, seed);
		str_copy(claim, sizeof(claim), b->claim);
		leaving_begin(&w);
		earth_wait_state(b, "isolating", 300);
		plane_away(team, true);
		team->owed = true;
		for (int k = 0; k < 3; k++) {
			earth_run(&w, 1 + (int64_t)loop_random_below(w.loop, 80000));
			earth_kill(&w.replicas[w.nreplicas - 1]);
			earth_replica(&w);
		}
		earth_wait_state(b, "free", LONG_S);
		assert_int_equal(leaving_debts(&w), 1);
		plane_away(team, false);
		earth_run(&w, (int64_t)loop_random_below(w.loop, 4000));
		earth_kill(&w.replicas[w.nreplicas - 1]);
		earth_replica(&w);
		earth_wait(&w, leaving_is_quits, &w, 300, "the debt paid");
		assert_false(leaving_has(team, "nodes", claim));
		earth_stop(&w);
	}
}

static void a_node_of_the_same_name_and_another_uid_is_not_touched(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];
	char claim[128], path[200];

	(void)state;
	leaving_alive(&w, 440);
	str_copy(claim, sizeof(claim), b->claim);
	leaving_begin(&w);
	earth_wait_state(b, "isolating", 300);
	plane_away(team, true);
	team->owed = true;
	earth_wait_state(b, "free", 900);
	assert_int_equal(leaving_debts(&w), 1);
	str_format(path, sizeof(path), "/api/v1/nodes/%s", claim);
	earth_do(&w, team, "DELETE", path, NULL);
	earth_do(&w, team, "POST", "/api/v1/nodes",
		 json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind", "Node", "metadata",
			   "name", claim));
	plane_away(team, false);
	earth_wait(&w, leaving_is_quits, &w, 300, "the debt struck off");
	assert_true(leaving_has(team, "nodes", claim));
	earth_stop(&w);
}

static void a_debt_is_written_off_after_a_day(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];

	(void)state;
	leaving_alive(&w, 441);
	leaving_begin(&w);
	earth_wait_state(b, "isolating", 300);
	plane_away(team, true);
	team->owed = true;
	earth_wait_state(b, "free", 900);
	earth_run(&w, 23 * 3600 * 1000);
	assert_int_equal(leaving_debts(&w), 1);
	earth_run(&w, 2 * 3600 * 1000);
	assert_int_equal(leaving_debts(&w), 0);
	assert_int_equal(leaving_events(&w, "DebtWrittenOff"), 1);
	earth_stop(&w);
}

static void attach_volume(struct earth *w, struct plane *p, const char *name, const char *node)
{
	earth_do(w, p, "POST", "/apis/storage.k8s.io/v1/volumeattachments",
		 json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:s,s:{s:s}}}", "apiVersion",
			   "storage.k8s.io/v1", "kind", "VolumeAttachment", "metadata", "name",
			   name, "spec", "attacher", "csi.example", "nodeName", node, "source",
			   "persistentVolumeName", "pv-1"));
}

static bool out_of_service(struct plane *p, const char *node)
{
	OWN(arena) a = arena_new();
	OWN_JSON o = plane_get(p, arena_printf(a, "nodes/%s", node));
	json_t *t;
	size_t i;

	json_array_foreach (json_at(o, "spec", "taints"), i, t)
		if (str_eq(json_str_at(t, "key"), "node.kubernetes.io/out-of-service"))
			return str_eq(json_str_at(t, "value"), "nodeshutdown") &&
			       str_eq(json_str_at(t, "effect"), "NoExecute");
	return false;
}

static void volumes_are_let_go_of_before_the_node_goes(void **state)
{
	(void)state;
	for (int never = 0; never < 2; never++) {
		struct earth w;
		struct box *b = &w.boxes[0];
		struct plane *team = &w.tenants[0];
		OWN(arena) a = arena_new();
		char claim[128];

		leaving_alive(&w, 450 + (uint64_t)never);
		str_copy(claim, sizeof(claim), b->claim);
		attach_volume(&w, team, "va-1", claim);
		attach_volume(&w, team, "va-2", "a-node-of-somebody");
		leaving_begin(&w);
		earth_wait_state(b, "isolating", 300);
		assert_false(out_of_service(team, claim)); /* it might not be off */
		earth_wait_state(b, "leaving", 300);
		earth_run(&w, 30000);
		assert_true(out_of_service(team, claim));
		assert_string_equal(b->state, "leaving");
		assert_string_equal(leaving_condition(&w, a, claim, "VolumesDetached"),
				    "False Attached");
		assert_string_equal(leaving_condition(&w, a, claim, "Isolated"), "True Proved");
		if (never) {
			earth_wait_state(b, "dirty", 120); /* nothing is held up for longer */
		} else {
			earth_do(&w, team, "DELETE",
				 "/apis/storage.k8s.io/v1/volumeattachments/va-1", NULL);
			earth_wait_state(b, "dirty", 10);
			assert_int_equal(leaving_debts(&w), 0);
		}
		earth_wait_state(b, "free", 900);
		assert_false(leaving_has(team, "nodes", claim));
		assert_int_equal(leaving_debts(&w), 0);
		earth_stop(&w);
	}
}

/* What was written is on its way to the volume until it is taken down: no power is cut in between. */
static void volumes_are_taken_down_before_the_power_goes(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];

	(void)state;
	leaving_alive(&w, 456);
	attach_volume(&w, team, "va-1", b->claim);
	attach_volume(&w, team, "va-2", "a-node-of-somebody");
	leaving_begin(&w);
	leaving_wait_at(b, "status.leave.blockedBy", "1 volumes attached", 60);
	earth_run(&w, 30000);
	assert_string_equal(b->state, "draining");
	assert_true(b->bmc.on);
	earth_do(&w, team, "DELETE", "/apis/storage.k8s.io/v1/volumeattachments/va-1", NULL);
	earth_wait_state(b, "stopping", 10);
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

static void a_clean_leave_takes_nothing_out_of_service(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	int64_t from;

	(void)state;
	leaving_alive(&w, 452);
	leaving_begin(&w);
	earth_wait_state(b, "leaving", 300);
	from = loop_now(w.loop);
	while (str_eq(b->state, "leaving")) {
		assert_false(b->claim[0] && out_of_service(&w.tenants[0], b->claim));
		earth_run(&w, 1);
	}
	assert_true(loop_now(w.loop) - from < 3000);
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

/* What an admission webhook of the tenant makes of drover's deletion of a Node. */
static void on_hook(struct httpd_req *q, void *arg)
{
	const int *code = arg;
	OWN_JSON o = json_pack("{s:s,s:s,s:{},s:s,s:s,s:s,s:i}", "kind", "Status", "apiVersion",
			       "v1", "metadata", "status", "Failure", "message",
			       "admission webhook \"keep\" denied the request: this one stays",
			       "reason", *code == 409 ? "Conflict" : "Forbidden", "code", *code);
	char *text = json_text(o);

	httpd_reply_json(q, *code, text);
	free(text);
}

static struct httpd *with_hook(struct earth *w, struct plane *p, int *code)
{
	struct httpd *d = httpd_new(p->group);

	httpd_route(d, "DELETE", "/api/v1/nodes/{}", 1 << 16, on_hook, code);
	apiserver_routes(p->api, d);
	http_mem_serve(w->net, p->origin, d);
	return d;
}

static void a_node_that_may_not_be_deleted_is_owed(void **state)
{
	static int codes[] = {403, 409}; /* a webhook says what it likes */

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct earth w;
		struct box *b = &w.boxes[0];
		struct plane *team = &w.tenants[0];
		struct httpd *hook;
		char claim[128];

		leaving_alive(&w, 453 + i);
		str_copy(claim, sizeof(claim), b->claim);
		hook = with_hook(&w, team, &codes[i]);
		leaving_begin(&w);
		earth_wait_state(b, "leaving", 300);
		earth_run(&w, 60000);
		assert_string_equal(b->state, "leaving");
		earth_wait_state(b, "dirty", 120);
		assert_int_equal(leaving_debts(&w), 1);
		leaving_wait_event(&w, &w.host, "Owed", "this one stays");
		earth_wait_state(b, "free", 900);
		assert_true(leaving_has(team, "nodes", claim));
		assert_int_equal(leaving_debts(&w), 1);
		http_mem_serve(w.net, team->origin, team->httpd);
		httpd_free(hook);
		earth_wait(&w, leaving_is_quits, &w, 600, "the debt paid");
		assert_false(leaving_has(team, "nodes", claim));
		earth_stop(&w);
	}
}

static void a_node_that_a_finalizer_keeps_is_owed(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];
	char claim[128], path[200];

	(void)state;
	leaving_alive(&w, 455);
	str_copy(claim, sizeof(claim), b->claim);
	str_format(path, sizeof(path), "/api/v1/nodes/%s", claim);
	earth_do(&w, team, "PATCH", path,
		 json_pack("{s:{s:[s]}}", "metadata", "finalizers", "example.com/inventory"));
	leaving_begin(&w);
	earth_wait_state(b, "leaving", 300);
	earth_run(&w, 60000);
	assert_string_equal(b->state, "leaving"); /* it may go soon */
	earth_kill(&w.replicas[0]);
	earth_replica(&w);
	earth_wait_state(b, "dirty", 120);
	assert_int_equal(leaving_debts(&w), 1);
	leaving_wait_event(&w, &w.host, "Owed", claim);
	earth_wait_state(b, "free", 900);
	earth_run(&w, 1800 * 1000);
	assert_true(leaving_has(team, "nodes", claim));
	assert_int_equal(leaving_debts(&w), 1);
	earth_do(&w, team, "PATCH", path, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	earth_wait(&w, leaving_is_quits, &w, 600, "the debt paid");
	assert_false(leaving_has(team, "nodes", claim));
	earth_stop(&w);
}

/* A finalizer that is taken away in time leaves no debt. */
static void a_node_that_a_finalizer_keeps_for_a_while_is_not_owed(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];
	char path[200];

	(void)state;
	leaving_alive(&w, 456);
	str_format(path, sizeof(path), "/api/v1/nodes/%s", b->claim);
	earth_do(&w, team, "PATCH", path,
		 json_pack("{s:{s:[s]}}", "metadata", "finalizers", "example.com/inventory"));
	leaving_begin(&w);
	earth_wait_state(b, "leaving", 300);
	earth_run(&w, 30000);
	assert_string_equal(b->state, "leaving");
	earth_do(&w, team, "PATCH", path, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	earth_wait_state(b, "dirty", 10);
	assert_int_equal(leaving_debts(&w), 0);
	assert_int_equal(leaving_events(&w, "Owed"), 0);
	earth_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_absent_tenant_is_owed_is_paid_when_it_is_back),
		cmocka_unit_test(a_debt_outlives_the_leaders_that_made_it),
		cmocka_unit_test(a_node_of_the_same_name_and_another_uid_is_not_touched),
		cmocka_unit_test(a_debt_is_written_off_after_a_day),
		cmocka_unit_test(volumes_are_let_go_of_before_the_node_goes),
		cmocka_unit_test(volumes_are_taken_down_before_the_power_goes),
		cmocka_unit_test(a_clean_leave_takes_nothing_out_of_service),
		cmocka_unit_test(a_node_that_may_not_be_deleted_is_owed),
		cmocka_unit_test(a_node_that_a_finalizer_keeps_is_owed),
		cmocka_unit_test(a_node_that_a_finalizer_keeps_for_a_while_is_not_owed),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
