/* The tenant's part when a machine leaves: its Node, token and volumes; and the pending cleanup if
 * that is not possible. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "base/str.h"
#include "controller/tenant/pending_cleanup.h"
#include "tests/world/leaving.h"

#define LONG_S (12 * 3600)

static bool finalized(struct sim_world *w)
{
	OWN_JSON vc = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");
	json_t *f;
	size_t i;

	json_array_foreach (json_at(vc, "metadata", "finalizers"), i, f)
		if (str_eq(json_string_value(f), FINALIZER_VIRTUAL_CLUSTER))
			return true;
	return false;
}

static void make_token(struct sim_world *w, struct cluster *p)
{
	OWN(arena) a = arena_new();
	OWN_JSON vc = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");
	const char *id = json_str_at(json_array_get(json_at(vc, "status", "debts"), 0), "tokenID");

	assert_non_null(id);
	world_do(w, p, "POST", "/api/v1/namespaces/kube-system/secrets",
		 json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind", "Secret", "metadata",
			   "name", arena_printf(a, "bootstrap-token-%s", id)));
}

static bool is_token(const json_t *o, void *arg)
{
	*(unsigned *)arg += str_starts(json_str_at(o, "metadata", "name"), "bootstrap-token-");
	return true;
}

static unsigned tokens(struct cluster *p)
{
	unsigned n = 0;

	cluster_each(p, "secrets/kube-system/", is_token, &n);
	return n;
}

static void what_an_absent_tenant_is_owed_is_paid_when_it_is_back(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct cluster *team = &w.tenants[0];
	char claim[128];

	(void)state;
	leaving_alive(&w, 430);
	str_copy(claim, sizeof(claim), b->claim);
	assert_true(finalized(&w));
	leaving_begin(&w);
	world_wait_state(b, "isolating", 300);
	cluster_away(team, true);
	team->owed = true;
	world_wait_state(b, "leaving", 60);
	world_run(&w, 100000);
	assert_string_equal(b->state, "leaving"); /* drover still waits for the tenant */
	world_wait(&w, leaving_is_owed, &w, 60, "a debt");
	world_wait_state(b, "free", 900);
	assert_false(leaving_has(&w.host, "nodeclaims.drover.dev", claim));
	make_token(&w, team);
	world_run(&w, 3600 * 1000);
	assert_int_equal(leaving_debts(&w), 1);
	assert_true(finalized(&w));
	cluster_away(team, false);
	world_wait(&w, leaving_is_quits, &w, 300, "the debt paid");
	assert_false(leaving_has(team, "nodes", claim));
	assert_int_equal(tokens(team), 0);
	world_run(&w, 15000);
	assert_true(finalized(&w)); /* the finalizer stays because the tenant has a bill */
	world_do(&w, &w.host, "DELETE", "/apis/drover.dev/v1alpha1/virtualclusters/team-a", NULL);
	world_run(&w, 15000);
	assert_false(leaving_has(&w.host, "virtualclusters.drover.dev", "team-a"));
	world_settle(&w);
	world_stop(&w);
}

/* Another writer moves the port back while the Node is still to be deleted: the machine is isolated
 * again before the claim ends. */
static void a_machine_that_is_back_in_its_tenants_segment_is_cut_off_again(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct cluster *team = &w.tenants[0];

	(void)state;
	leaving_alive(&w, 437);
	leaving_begin(&w);
	world_wait_state(b, "isolating", 300);
	cluster_away(team, true);
	world_wait_state(b, "leaving", 60);
	world_run(&w, 30000);
	str_copy(b->segment, sizeof(b->segment), "tenant/team-a");
	world_run(&w, 60000);
	assert_string_equal(b->state, "leaving");
	assert_string_equal(b->segment, "quarantine");
	cluster_away(team, false);
	world_wait_state(b, "free", 900);
	world_settle(&w);
	world_stop(&w);
}

static void a_debt_outlives_the_leaders_that_made_it(void **state)
{
	(void)state;
	for (uint64_t seed = 431; seed < 434; seed++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		struct cluster *team = &w.tenants[0];
		char claim[128];

		leaving_alive(&w, seed);
		str_copy(claim, sizeof(claim), b->claim);
		leaving_begin(&w);
		world_wait_state(b, "isolating", 300);
		cluster_away(team, true);
		team->owed = true;
		for (int k = 0; k < 3; k++) {
			world_run(&w, 1 + (int64_t)loop_random_below(w.loop, 80000));
			world_kill(&w.replicas[w.nreplicas - 1]);
			world_replica(&w);
		}
		world_wait_state(b, "free", LONG_S);
		assert_int_equal(leaving_debts(&w), 1);
		cluster_away(team, false);
		world_run(&w, (int64_t)loop_random_below(w.loop, 4000));
		world_kill(&w.replicas[w.nreplicas - 1]);
		world_replica(&w);
		world_wait(&w, leaving_is_quits, &w, 300, "the debt paid");
		assert_false(leaving_has(team, "nodes", claim));
		world_settle(&w);
		world_stop(&w);
	}
}

static void a_node_of_the_same_name_and_another_uid_is_not_touched(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct cluster *team = &w.tenants[0];
	char claim[128], path[200];

	(void)state;
	leaving_alive(&w, 440);
	str_copy(claim, sizeof(claim), b->claim);
	leaving_begin(&w);
	world_wait_state(b, "isolating", 300);
	cluster_away(team, true);
	team->owed = true;
	world_wait_state(b, "free", 900);
	assert_int_equal(leaving_debts(&w), 1);
	str_format(path, sizeof(path), "/api/v1/nodes/%s", claim);
	world_do(&w, team, "DELETE", path, NULL);
	world_do(&w, team, "POST", "/api/v1/nodes",
		 json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind", "Node", "metadata",
			   "name", claim));
	cluster_away(team, false);
	world_wait(&w, leaving_is_quits, &w, 300, "the debt struck off");
	assert_true(leaving_has(team, "nodes", claim));
	world_settle(&w);
	world_stop(&w);
}

static void a_debt_is_written_off_after_a_day(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct cluster *team = &w.tenants[0];

	(void)state;
	leaving_alive(&w, 441);
	leaving_begin(&w);
	world_wait_state(b, "isolating", 300);
	cluster_away(team, true);
	team->owed = true;
	world_wait_state(b, "free", 900);
	world_run(&w, 23 * 3600 * 1000);
	assert_int_equal(leaving_debts(&w), 1);
	world_run(&w, 2 * 3600 * 1000);
	assert_int_equal(leaving_debts(&w), 0);
	assert_int_equal(leaving_events(&w, "DebtWrittenOff"), 1);
	world_settle(&w);
	world_stop(&w);
}

static void attach_volume(struct sim_world *w, struct cluster *p, const char *name,
			  const char *node)
{
	world_do(w, p, "POST", "/apis/storage.k8s.io/v1/volumeattachments",
		 json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:s,s:{s:s}}}", "apiVersion",
			   "storage.k8s.io/v1", "kind", "VolumeAttachment", "metadata", "name",
			   name, "spec", "attacher", "csi.example", "nodeName", node, "source",
			   "persistentVolumeName", "pv-1"));
}

static bool out_of_service(struct cluster *p, const char *node)
{
	OWN(arena) a = arena_new();
	OWN_JSON o = cluster_get(p, arena_printf(a, "nodes/%s", node));
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
		struct sim_world w;
		struct server *b = &w.servers[0];
		struct cluster *team = &w.tenants[0];
		OWN(arena) a = arena_new();
		char claim[128];

		leaving_alive(&w, 450 + (uint64_t)never);
		str_copy(claim, sizeof(claim), b->claim);
		attach_volume(&w, team, "va-1", claim);
		attach_volume(&w, team, "va-2", "a-node-of-somebody");
		leaving_begin(&w);
		world_wait_state(b, "isolating", 300);
		assert_false(out_of_service(team, claim)); /* the machine may still be on */
		world_wait_state(b, "leaving", 300);
		world_run(&w, 30000);
		assert_true(out_of_service(team, claim));
		assert_string_equal(b->state, "leaving");
		assert_string_equal(leaving_condition(&w, a, claim, "VolumesDetached"),
				    "False Attached");
		assert_string_equal(leaving_condition(&w, a, claim, "Isolated"), "True Proved");
		if (never) {
			/* Volumes that stay attached delay the machine by two minutes at most. */
			world_wait_state(b, "dirty", 120);
		} else {
			world_do(&w, team, "DELETE",
				 "/apis/storage.k8s.io/v1/volumeattachments/va-1", NULL);
			world_wait_state(b, "dirty", 10);
			assert_int_equal(leaving_debts(&w), 0);
		}
		world_wait_state(b, "free", 900);
		assert_false(leaving_has(team, "nodes", claim));
		assert_int_equal(leaving_debts(&w), 0);
		world_settle(&w);
		world_stop(&w);
	}
}

/* Data in flight to the volume is written until it is unmounted: power is not cut before that. */
static void volumes_are_taken_down_before_the_power_goes(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct cluster *team = &w.tenants[0];

	(void)state;
	leaving_alive(&w, 456);
	attach_volume(&w, team, "va-1", b->claim);
	attach_volume(&w, team, "va-2", "a-node-of-somebody");
	leaving_begin(&w);
	leaving_wait_at(b, "status.leave.blockedBy", "1 volume attached", 60);
	world_run(&w, 30000);
	assert_string_equal(b->state, "draining");
	assert_true(b->bmc.on);
	world_do(&w, team, "DELETE", "/apis/storage.k8s.io/v1/volumeattachments/va-1", NULL);
	world_wait_state(b, "stopping", 10);
	world_wait_state(b, "free", 900);
	world_settle(&w);
	world_stop(&w);
}

static void a_clean_leave_takes_nothing_out_of_service(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t from;

	(void)state;
	leaving_alive(&w, 452);
	leaving_begin(&w);
	world_wait_state(b, "leaving", 300);
	from = loop_now(w.loop);
	while (str_eq(b->state, "leaving")) {
		assert_false(b->claim[0] && out_of_service(&w.tenants[0], b->claim));
		world_run(&w, 1);
	}
	assert_true(loop_now(w.loop) - from < 3000);
	world_wait_state(b, "free", 900);
	world_settle(&w);
	world_stop(&w);
}

/* An admission webhook of the tenant that rejects drover's deletion of a Node. */
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

static struct httpd *with_hook(struct sim_world *w, struct cluster *p, int *code)
{
	struct httpd *d = httpd_new(p->group);

	httpd_route(d, "DELETE", "/api/v1/nodes/{}", 1 << 16, on_hook, code);
	apiserver_routes(p->api, d);
	http_mem_serve(w->net, p->origin, d);
	return d;
}

static void a_node_that_may_not_be_deleted_is_owed(void **state)
{
	static int codes[] = {403, 409}; /* a webhook may choose any code */

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		struct cluster *team = &w.tenants[0];
		struct httpd *hook;
		char claim[128];

		leaving_alive(&w, 453 + i);
		str_copy(claim, sizeof(claim), b->claim);
		hook = with_hook(&w, team, &codes[i]);
		leaving_begin(&w);
		world_wait_state(b, "leaving", 300);
		world_run(&w, 60000);
		assert_string_equal(b->state, "leaving");
		world_wait_state(b, "dirty", 120);
		assert_int_equal(leaving_debts(&w), 1);
		leaving_wait_event(&w, &w.host, "Owed", "this one stays");
		leaving_wait_event(&w, &w.host, "Owed", "and tries for 24 h to delete the Node");
		world_wait_state(b, "free", 900);
		assert_true(leaving_has(team, "nodes", claim));
		assert_int_equal(leaving_debts(&w), 1);
		assert_int_equal(leaving_events(&w, "CleanupDone"), 0);
		http_mem_serve(w.net, team->origin, team->httpd);
		httpd_free(hook);
		world_wait(&w, leaving_is_quits, &w, 600, "the debt paid");
		leaving_wait_event(&w, &w.host, "CleanupDone", claim);
		assert_false(leaving_has(team, "nodes", claim));
		world_settle(&w);
		world_stop(&w);
	}
}

static void a_node_that_a_finalizer_keeps_is_owed(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct cluster *team = &w.tenants[0];
	char claim[128], path[200];

	(void)state;
	leaving_alive(&w, 455);
	str_copy(claim, sizeof(claim), b->claim);
	str_format(path, sizeof(path), "/api/v1/nodes/%s", claim);
	world_do(&w, team, "PATCH", path,
		 json_pack("{s:{s:[s]}}", "metadata", "finalizers", "example.com/inventory"));
	leaving_begin(&w);
	world_wait_state(b, "leaving", 300);
	world_run(&w, 60000);
	assert_string_equal(b->state, "leaving"); /* the Node may be deleted soon */
	world_kill(&w.replicas[0]);
	world_replica(&w);
	world_wait_state(b, "dirty", 120);
	assert_int_equal(leaving_debts(&w), 1);
	leaving_wait_event(&w, &w.host, "Owed", claim);
	world_wait_state(b, "free", 900);
	world_run(&w, 1800 * 1000);
	assert_true(leaving_has(team, "nodes", claim));
	assert_int_equal(leaving_debts(&w), 1);
	world_do(&w, team, "PATCH", path, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	world_wait(&w, leaving_is_quits, &w, 600, "the debt paid");
	assert_false(leaving_has(team, "nodes", claim));
	world_settle(&w);
	world_stop(&w);
}

/* A finalizer delays the deletion of the Node, but is removed in time: no pending cleanup is
 * recorded. */
static void a_node_that_a_finalizer_keeps_for_a_while_is_not_owed(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	struct cluster *team = &w.tenants[0];
	char path[200];

	(void)state;
	leaving_alive(&w, 456);
	str_format(path, sizeof(path), "/api/v1/nodes/%s", b->claim);
	world_do(&w, team, "PATCH", path,
		 json_pack("{s:{s:[s]}}", "metadata", "finalizers", "example.com/inventory"));
	leaving_begin(&w);
	world_wait_state(b, "leaving", 300);
	world_run(&w, 30000);
	assert_string_equal(b->state, "leaving");
	world_do(&w, team, "PATCH", path, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	world_wait_state(b, "dirty", 10);
	assert_int_equal(leaving_debts(&w), 0);
	assert_int_equal(leaving_events(&w, "Owed"), 0);
	world_settle(&w);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_absent_tenant_is_owed_is_paid_when_it_is_back),
		cmocka_unit_test(a_machine_that_is_back_in_its_tenants_segment_is_cut_off_again),
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
