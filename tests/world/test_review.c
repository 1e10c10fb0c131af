/* Unexpected actions of operators and tenants, and old backups: nothing leaks, nothing gets stuck,
 * and no dirty machine becomes free. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/leaving.h"

#define GROUP "/apis/" OBJECT_API_VERSION
#define RACE_MS 700

/* --- helpers ---------------------------------------------------------------------------------- */

static void review_claim(struct sim_world *w, const char *method, const char *claim, json_t *patch)
{
	char path[200];

	str_format(path, sizeof(path), GROUP "/nodeclaims/%s", claim);
	world_do(w, &w->host, method, path, patch);
}

/* Removes the claim's finalizers, as users do with an object that is not deleted. */
static void review_take_finalizers(struct sim_world *w, const char *claim)
{
	review_claim(w, "PATCH", claim, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
}

static void review_machine_status(struct server *b, json_t *status)
{
	char path[200];

	str_format(path, sizeof(path), GROUP "/machines/%s/status", b->name);
	world_do(b->world, &b->world->host, "PATCH", path, json_pack("{s:o}", "status", status));
}

static void review_pause(struct sim_world *w, bool on)
{
	world_do(w, &w->host, "PATCH", GROUP "/providers/rack",
		 json_pack("{s:{s:b}}", "spec", "paused", on));
}

static bool review_has(struct cluster *p, const char *what, const char *name)
{
	char key[200];
	struct store_entry en;

	str_format(key, sizeof(key), "%s/%s", what, name);
	return store_get(p->store, key, &en);
}

static bool review_is_finalized(void *arg)
{
	const struct server *b = arg;
	char key[200];
	OWN_JSON o = NULL;

	str_format(key, sizeof(key), "nodeclaims.drover.dev/%s", b->claim);
	o = cluster_get(&b->world->host, key);
	return json_array_size(json_at(o, "metadata", "finalizers")) == 1;
}

/* --- claims ----------------------------------------------------------------------------------- */

static void a_claim_taken_away_by_force_leaves_no_node_behind(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 900);
	char claim[128];

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	/* The invariants do not check the power here: the user who removed the finalizers is
	 * responsible for it. drover has to clean up the rest. */
	w.restored = true;
	world_delete_pod(&w, &w.tenants[0], "train");
	review_claim(&w, "DELETE", claim, NULL);
	review_take_finalizers(&w, claim);
	world_wait_state(b, "free", 1800);
	w.restored = false;
	assert_false(review_has(&w.tenants[0], "nodes", claim));
	world_pod(&w, &w.tenants[1], "next");
	world_wait_running(&w, &w.tenants[1], "next", 900);
	world_stop(&w);
}

static void a_claim_that_lost_its_finalizer_gets_it_back(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 901);
	char claim[128];

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	review_take_finalizers(&w, claim);
	world_wait(&w, review_is_finalized, b, 30, "the finalizer back");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 1800);
	assert_false(review_has(&w.tenants[0], "nodes", claim));
	world_stop(&w);
}

static void a_claim_does_not_end_on_the_word_of_an_old_backup(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 902);
	char claim[128];
	int64_t tenancy = b->tenancy;

	(void)state;
	world_run(&w, 15000);
	str_copy(claim, sizeof(claim), b->claim);
	w.restored = true;
	world_kill(&w.replicas[0]);
	review_machine_status(b, json_pack("{s:s,s:I,s:b,s:n,s:n,s:n}", "state", "dirty", "tenancy",
					   (json_int_t)tenancy - 1, "clean", 0, "claimRef",
					   "tenant", "leave"));
	review_claim(&w, "DELETE", claim, NULL);
	world_replica(&w);
	world_run(&w, 300 * 1000);
	assert_true(b->bmc.on);
	assert_true(review_has(&w.host, "nodeclaims.drover.dev", claim));
	world_stop(&w);
}

static void a_claim_cancelled_before_anything_was_written_ends(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char claim[128], key[200];

	(void)state;
	world_start(&w, 903, 1);
	world_replica(&w);
	world_wait_state(b, "free", 300);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "claimed", 60);
	str_copy(claim, sizeof(claim), b->claim);
	str_format(key, sizeof(key), "nodeclaims.drover.dev/%s", claim);
	world_delete_pod(&w, &w.tenants[0], "train");
	review_pause(&w, true);
	review_claim(&w, "DELETE", claim, NULL);
	world_kill(&w.replicas[0]); /* the next leader has seen the claim only in its final state */
	world_replica(&w);
	world_run(&w, 60000);
	review_pause(&w, false);
	world_wait_state(b, "free", 300);
	leaving_wait_gone(&w, &w.host, key, 60);
	world_stop(&w);
}

static void a_medium_that_was_not_read_once_stops_no_clock(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 904, 1);
	world_replica(&w);
	world_wait_state(b, "free", 300);
	world_media(&w, false); /* the agent never sends its hello */
	world_pod(&w, &w.tenants[0], "train");
	leaving_wait_at(b, "status.operation.step", "power-on", 300);
	world_run(&w, 10000);
	world_kill(&w.replicas[0]);
	w.refused = "/VirtualMedia";
	world_replica(&w);
	world_run(&w, 120 * 1000);
	w.refused = NULL;
	world_wait_state(b, "stopping", 3600);
	world_stop(&w);
}

/* --- drains ----------------------------------------------------------------------------------- */

static void a_drain_that_begins_late_still_holds(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 910);

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", -5, "  then: Hold\n  onDeadline: Escalate\n");
	leaving_wait_at(b, "status.hold.drain", "fans", 300);
	world_run(&w, 60000);
	assert_string_equal(b->state, "serving");
	assert_string_equal(world_at(b, "status.hold.drain"), "fans");
	assert_true(leaving_is_marked(b));
	world_stop(&w);
}

static void a_tenant_that_plays_with_the_mark_is_drained_all_the_same(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 911);

	(void)state;
	w.refused = "/api/v1/nodes/"; /* drover cannot write Nodes */
	leaving_patch_node(b, "",
			   json_pack("{s:{s:[{s:s,s:s,s:s},{s:s,s:s}]}}", "spec", "taints", "key",
				     "drover.dev/draining", "value", "mine", "effect", "NoSchedule",
				     "key", "nvidia.com/gpu", "effect", "NoSchedule"));
	world_run(&w, 10000);
	leaving_drain(&w, "fans", 60, "  onDeadline: Escalate\n");
	world_wait_state(b, "dirty", 1200);
	world_stop(&w);
}

/* --- owners that vanish ----------------------------------------------------------------------- */

/* Deletes the object at once, without its finalizers; returns a copy to create it anew, which the
 * caller owns. */
static json_t *review_vanish(struct sim_world *w, const char *plural, const char *name)
{
	static const char *const servers[] = {"uid",	    "resourceVersion", "creationTimestamp",
					      "generation", "finalizers",      "managedFields"};
	char path[200], key[200];
	json_t *o;

	str_format(path, sizeof(path), GROUP "/%s/%s", plural, name);
	str_format(key, sizeof(key), "%s.drover.dev/%s", plural, name);
	o = cluster_get(&w->host, key);
	world_do(w, &w->host, "PATCH", path, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	world_do(w, &w->host, "DELETE", path, NULL);
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		json_object_del(json_at(o, "metadata"), servers[i]);
	json_object_del(o, "status");
	return o;
}

static void a_provider_that_vanishes_for_an_hour_loses_no_machine(void **state)
{
	static const char *const at[] = {"draining", "stopping", "leaving", "wiping"};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct sim_world w;
		struct server *b = leaving_serving(&w, 940 + i);
		json_t *provider;

		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b);
		world_wait_state(b, at[i], 300);
		provider = review_vanish(&w, "providers", "rack");
		world_run(&w, 3600 * 1000);
		world_do(&w, &w.host, "POST", GROUP "/providers", provider);
		world_wait_state(b, "free", 7 * 3600);
		world_stop(&w);
	}
}

static void a_tenant_that_is_taken_away_by_force_frees_its_machine(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 950);
	char key[200];

	(void)state;
	str_format(key, sizeof(key), "nodeclaims.drover.dev/%s", b->claim);
	w.tenants[0].owed = true; /* drover no longer has its kubeconfig */
	json_decref(review_vanish(&w, "virtualclusters", "team-a"));
	world_wait_state(b, "free", 4 * 3600);
	leaving_wait_gone(&w, &w.host, key, 60);
	world_pod(&w, &w.tenants[1], "next");
	world_wait_running(&w, &w.tenants[1], "next", 900);
	world_stop(&w);
}

static void a_machine_whose_object_vanishes_takes_nobody_along(void **state)
{
	static const char *const at[] = {"imaging", "draining", "stopping", "wiping"};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 960 + i, 2);
		world_replica(&w);
		if (i == 3) {
			world_wait_state(b, at[i], 300);
		} else {
			world_wait_all(&w, "free", 300);
			world_pod(&w, &w.tenants[0], "train");
			world_pod(&w, &w.tenants[0], "more");
			world_wait_state(b, i ? "serving" : at[i], 900);
		}
		if (i == 1 || i == 2) {
			leaving_budget(&w, "train");
			world_release(b);
			world_wait_state(b, at[i], 4000);
		}
		w.restored = true;
		json_decref(review_vanish(&w, "machines", b->name));
		world_run(&w, 600 * 1000);
		assert_true(controller_context(w.replicas[0].controller)->leading);
		assert_true(str_eq(w.servers[1].state, "free") ||
			    str_eq(w.servers[1].state, "serving"));
		world_stop(&w);
	}
}

/* --- false data from tenants ------------------------------------------------------------------ */

static void heartbeats_that_are_forged_for_ever_do_not_keep_a_machine(void **state)
{
	struct sim_world w;
	struct server *b;
	char path[200], now[STR_TIME_SIZE];

	(void)state;
	world_start(&w, 920, 1);
	b = &w.servers[0];
	b->beats = true;
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "serving", 900);
	world_run(&w, 15000);
	str_format(path, sizeof(path),
		   "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/%s", b->claim);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	for (int i = 0; i < 3 * 3600 && !str_eq(b->state, "free"); i++) {
		world_do(&w, &w.tenants[0], "PATCH", path,
			 json_pack("{s:{s:s}}", "spec", "renewTime",
				   str_time(now, loop_wall(w.loop))));
		world_run(&w, 1000);
	}
	assert_string_equal(b->state, "free");
	world_stop(&w);
}

static void a_node_that_its_kubelet_registered_again_goes_with_its_machine(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 921);
	char claim[128], path[200], key[200];
	OWN_JSON node = NULL;

	(void)state;
	world_run(&w, 15000);
	str_copy(claim, sizeof(claim), b->claim);
	str_format(path, sizeof(path), "/api/v1/nodes/%s", claim);
	str_format(key, sizeof(key), "nodes/%s", claim);
	node = cluster_get(&w.tenants[0], key);
	json_object_del(json_at(node, "metadata"), "uid");
	json_object_del(json_at(node, "metadata"), "resourceVersion");
	json_object_del(json_at(node, "metadata"), "creationTimestamp");
	world_do(&w, &w.tenants[0], "DELETE", path, NULL);
	world_do(&w, &w.tenants[0], "POST", "/api/v1/nodes", json_incref(node));
	world_run(&w, RACE_MS);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 1800);
	assert_false(review_has(&w.tenants[0], "nodes", claim));
	world_stop(&w);
}

/* --- the journal ------------------------------------------------------------------------------ */

static void a_journal_that_was_wiped_out_stops_one_machine_and_nobody_else(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 930, 2);
	world_replica(&w);
	world_wait_state(b, "wiping", 600);
	w.restored = true;
	review_machine_status(b, json_pack("{s:n}", "operation"));
	world_wait_all(&w, "free", 3600);
	assert_true(server_is_blank(b));
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claim_taken_away_by_force_leaves_no_node_behind),
		cmocka_unit_test(a_claim_that_lost_its_finalizer_gets_it_back),
		cmocka_unit_test(a_claim_does_not_end_on_the_word_of_an_old_backup),
		cmocka_unit_test(a_claim_cancelled_before_anything_was_written_ends),
		cmocka_unit_test(a_medium_that_was_not_read_once_stops_no_clock),
		cmocka_unit_test(a_drain_that_begins_late_still_holds),
		cmocka_unit_test(a_tenant_that_plays_with_the_mark_is_drained_all_the_same),
		cmocka_unit_test(a_provider_that_vanishes_for_an_hour_loses_no_machine),
		cmocka_unit_test(a_tenant_that_is_taken_away_by_force_frees_its_machine),
		cmocka_unit_test(a_machine_whose_object_vanishes_takes_nobody_along),
		cmocka_unit_test(heartbeats_that_are_forged_for_ever_do_not_keep_a_machine),
		cmocka_unit_test(a_node_that_its_kubelet_registered_again_goes_with_its_machine),
		cmocka_unit_test(a_journal_that_was_wiped_out_stops_one_machine_and_nobody_else),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
