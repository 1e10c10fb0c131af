/* What drover releases on its own, and what an operator can keep from it. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/str.h"
#include "tests/world/leaving.h"

/* --- holds ------------------------------------------------------------------------------------ */

static void a_cordon_holds_and_an_uncordon_ends_it(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 320);

	(void)state;
	world_delete_pod(&w, &w.tenants[0], "train");
	leaving_cordon(b, true);
	world_run(&w, 30000);
	assert_string_not_equal(world_at(b, "status.hold.since"), "");
	world_run(&w, 3600 * 1000); /* the Node is empty, and still not released */
	assert_string_equal(b->state, "serving");
	assert_true(leaving_is_cordoned(b) && !leaving_is_marked(b));
	leaving_cordon(b, false);
	leaving_wait_at(b, "status.hold.since", "", 30);
	world_run(&w, 300 * 1000); /* the Node's empty time starts now */
	assert_string_equal(b->state, "serving");
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

static void release_uncordons_what_a_person_cordoned(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 321);

	(void)state;
	leaving_cordon(b, true);
	world_run(&w, 10000);
	for (int i = 1; i < 3; i++) { /* each value is acted on once */
		char value[8];

		str_format(value, sizeof(value), "%d", i);
		leaving_release(b, value);
		leaving_wait_at(b, "status.requests.release", value, 30);
		assert_true(leaving_is_clear(b));
		assert_string_equal(world_at(b, "status.hold.since"), "");
		leaving_cordon(b, true);
		world_run(&w, 30000);
		assert_string_not_equal(world_at(b, "status.hold.since"), "");
	}
	world_stop(&w);
}

static void a_drain_that_holds_keeps_the_machine_until_it_ends(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 322);

	(void)state;
	leaving_drain(&w, "fans", 0, "  then: Hold\n");
	leaving_wait_at(b, "status.hold.drain", "fans", 120);
	leaving_wait_target(&w, "Done");
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 10);
	assert_string_equal(b->state, "serving");
	assert_string_equal(world_at(b, "status.leave.reason"), "");
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "serving");
	assert_true(leaving_is_marked(b) && leaving_is_cordoned(b));
	leaving_cancel(&w, "fans");
	leaving_wait_at(b, "status.hold.since", "", 60);
	assert_true(leaving_is_clear(b));
	assert_string_equal(b->state, "serving");
	world_stop(&w);
}

static void a_drain_that_holds_drains_once_and_says_who_holds(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 326);

	(void)state;
	leaving_drain(&w, "fans", 0, "  then: Hold\n");
	leaving_wait_at(b, "status.hold.drain", "fans", 120);
	leaving_wait_event(&w, &w.host, "Held", "by Drain fans: fans");
	leaving_wait_target(&w, "Done");
	world_run(&w, 30000);
	assert_int_equal(leaving_events(&w, "Draining"), 2); /* on the Machine and on its claim */
	assert_false(leaving_was_told(&w.host, "DrainWithdrawn", ""));
	world_stop(&w);
}

static void a_hold_that_left_pods_behind_says_so(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 327);
	OWN_JSON d = NULL;
	const json_t *t;

	(void)state;
	leaving_patch_pod(&w, "train",
			  json_pack("{s:{s:[s]}}", "metadata", "finalizers", "example.com/stuck"));
	leaving_drain(&w, "fans", 60, "  then: Hold\n  onDeadline: Escalate\n");
	leaving_wait_at(b, "status.hold.drain", "fans", 180);
	leaving_wait_event(&w, &w.host, "Drained", "1 pod is left");
	leaving_wait_target(&w, "Done");
	assert_int_equal(json_int_at(b->object, "status", "hold", "podsLeft"), 1);
	d = cluster_get(&w.host, "drains.drover.dev/fans");
	t = json_array_get(json_at(d, "status", "targets"), 0);
	assert_int_equal(json_int_at(t, "podsLeft"), 1);
	assert_string_equal(json_str_at(t, "blockedBy"), "pod default/train: stuck terminating");
	leaving_wait_event(&w, &w.host, "Succeeded",
			   "1 of 1 machines done; 1 pod is left on held machines");
	leaving_patch_pod(&w, "train", json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	world_stop(&w);
}

static void a_drain_that_is_deleted_is_a_cancelled_one(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 325);

	(void)state;
	leaving_drain(&w, "fans", 0, "  then: Hold\n");
	leaving_wait_at(b, "status.hold.drain", "fans", 120);
	world_run(&w, 60 * 1000);
	world_do(&w, &w.host, "DELETE", "/apis/drover.dev/v1alpha1/drains/fans", NULL);
	leaving_wait_at(b, "status.hold.since", "", 200);
	assert_true(leaving_is_clear(b));
	world_pod(&w, &w.tenants[0], "next");
	world_wait_running(&w, &w.tenants[0], "next", 60);
	leaving_budget(&w, "next");
	leaving_drain(&w, "again", 0, "");
	world_wait_state(b, "draining", 60);
	world_run(&w, 30000);
	world_do(&w, &w.host, "DELETE", "/apis/drover.dev/v1alpha1/drains/again", NULL);
	world_wait_state(b, "serving", 60);
	leaving_wait_event(&w, &w.host, "DrainWithdrawn", "Drain again was deleted");
	world_wait(&w, leaving_is_clear, b, 30, "the Node is clear");
	world_stop(&w);
}

static void a_person_may_uncordon_what_a_drain_holds(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 323);

	(void)state;
	leaving_drain(&w, "fans", 0, "  then: Hold\n");
	leaving_wait_at(b, "status.hold.drain", "fans", 120);
	world_run(&w, 30000);
	leaving_cordon(b, false);
	leaving_wait_at(b, "status.hold.since", "", 60);
	world_run(&w, 120 * 1000);
	assert_string_equal(b->state, "serving"); /* the Drain does not hold the machine again */
	assert_true(leaving_is_clear(b));
	world_stop(&w);
}

static bool is_out_of_use(void *arg)
{
	return leaving_is_marked(arg) && leaving_is_cordoned(arg);
}

static void a_node_that_is_uncordoned_while_it_drains_is_cordoned_again(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 333);

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", 0, "");
	for (int i = 0; i < 3; i++) {
		world_wait(&w, is_out_of_use, b, 60, "the Node is cordoned and marked");
		world_run(&w, 10000);
		leaving_cordon(b, false);
	}
	leaving_lift_budget(&w);
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

static void a_claim_that_is_deleted_is_not_held_any_more(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 324);

	(void)state;
	leaving_cordon(b, true);
	world_run(&w, 10000);
	world_release(b);
	world_wait_state(b, "free", 900);
	assert_string_equal(world_at(b, "status.hold.since"), "");
	world_stop(&w);
}

/* --- releases without a request --------------------------------------------------------------- */

static void what_is_empty_for_long_is_given_back(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 330);

	(void)state;
	world_delete_pod(&w, &w.tenants[0], "train");
	world_run(&w, 590 * 1000);
	assert_string_equal(b->state, "serving");
	world_wait_state(b, "draining", 60);
	assert_string_equal(world_at(b, "status.leave.reason"), "Empty");
	world_wait_state(b, "free", 900);
	leaving_wait_event(&w, &w.host, "Draining", "Empty");
	world_stop(&w);
}

static void a_pod_that_comes_at_the_last_moment_keeps_the_machine(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 331);

	(void)state;
	world_delete_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "draining", 700);
	/* The scheduler bound the pod before it saw the taint. */
	leaving_small_pod(b, "late");
	world_wait_state(b, "serving", 30);
	leaving_wait_event(&w, &w.host, "DrainWithdrawn", "a pod was placed on it");
	world_wait(&w, leaving_is_clear, b, 30, "the Node is clear");
	world_run(&w, 1200 * 1000);
	world_check_serving(&w, &w.tenants[0], "late");
	world_stop(&w);
}

static void a_paused_pool_gives_nothing_back(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 332);

	(void)state;
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:b}}", "spec", "paused", 1));
	world_delete_pod(&w, &w.tenants[0], "train");
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "serving");
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:b}}", "spec", "paused", 0));
	world_wait_state(b, "free", 1200);
	world_stop(&w);
}

struct both {
	struct sim_world *w;
	/* Largest number of machines leaving at the same time. */
	unsigned most;
};

static bool both_are_free(void *arg)
{
	struct both *o = arg;
	unsigned leaving = 0, free_ = 0;

	for (unsigned i = 0; i < 2; i++) {
		leaving += str_eq(o->w->servers[i].state, "draining") ||
			   str_eq(o->w->servers[i].state, "stopping") ||
			   str_eq(o->w->servers[i].state, "isolating");
		free_ += str_eq(o->w->servers[i].state, "free");
	}
	o->most = leaving > o->most ? leaving : o->most;
	return free_ == 2;
}

static void the_budget_of_the_pool_holds_though_all_are_empty(void **state)
{
	struct sim_world w;
	struct both both = {&w, 0};
	struct server *b;

	(void)state;
	world_start(&w, 333, 2);
	world_replica(&w);
	for (int i = 0; i < 2; i++) {
		world_pod(&w, &w.tenants[i], "train");
		world_wait_running(&w, &w.tenants[i], "train", 900);
	}
	world_wait_all(&w, "serving", 60);
	b = world_box_of(&w, &w.tenants[0], "train");
	leaving_set_pool(&w, json_pack("{s:b}", "paused", 1));
	for (int i = 0; i < 2; i++)
		world_delete_pod(&w, &w.tenants[i], "train");
	world_run(&w, 1200 * 1000);
	leaving_set_pool(&w, json_pack("{s:b}", "paused", 0));
	/* A change of any Node makes each serving machine check immediately whether it may
	 * leave. */
	leaving_patch_node(b, "", json_pack("{s:{s:{s:s}}}", "metadata", "labels", "a", "b"));
	world_wait(&w, both_are_free, &both, 3600, "both are free");
	assert_int_equal(both.most, 1); /* 10 % of two machines, rounded up */
	world_stop(&w);
}

static void what_is_older_than_it_may_be_leaves(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 334, 1);
	leaving_set_pool(&w, json_pack("{s:{s:{s:s,s:s}}}", "template", "spec", "expireAfter",
				       "30m", "terminationGracePeriod", "10m"));
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	leaving_budget(&w, "train");
	world_wait_state(b, "draining", 1900);
	assert_string_equal(world_at(b, "status.leave.reason"), "Expired");
	world_wait_state(b, "stopping", 700);
	leaving_wait_event(&w, &w.host, "PodDeleted", "Expired");
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

static void not_ready(struct server *b, int64_t since)
{
	char when[STR_TIME_SIZE];

	leaving_patch_node(b, "/status",
			   json_pack("{s:{s:[{s:s,s:s,s:s}]}}", "status", "conditions", "type",
				     "Ready", "status", "Unknown", "lastTransitionTime",
				     str_time(when, since)));
}

static void delete_node(struct server *b)
{
	char path[200];

	str_format(path, sizeof(path), "/api/v1/nodes/%s", b->claim);
	world_do(b->world, &b->world->tenants[0], "DELETE", path, NULL);
}

static void a_machine_whose_node_was_deleted_says_so_and_is_given_back(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 345);
	OWN(arena) a = arena_new();
	char claim[128];

	(void)state;
	str_copy(claim, sizeof(claim), b->claim);
	b->tenant = NULL; /* no kubelet creates the Node again */
	world_run(&w, 15000);
	delete_node(b);
	world_run(&w, 15000);
	assert_string_equal(leaving_condition(&w, a, claim, "Ready"), "False NodeGone");
	leaving_wait_event(&w, &w.host, "NodeGone", "no longer exists in the tenant's cluster");
	world_run(&w, 28 * 60 * 1000);
	assert_string_equal(b->state, "serving");
	world_wait_state(b, "stopping", 180);
	leaving_wait_event(&w, &w.host, "NodeGone", "the machine is released");
	assert_false(world_has_failure(b, "NodeDead"));
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

static void a_node_that_is_gone_while_its_tenant_is_away_is_not_gone(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 346);

	(void)state;
	b->tenant = NULL;
	world_run(&w, 15000);
	delete_node(b);
	world_run(&w, 20 * 60 * 1000);
	cluster_away(&w.tenants[0], true);
	world_run(&w, 3600 * 1000);
	assert_string_equal(b->state, "serving");
	cluster_away(&w.tenants[0], false);
	world_wait_state(b, "stopping", 2400);
	world_stop(&w);
}

static void a_dead_node_is_given_up_without_waiting_for_pods(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 335);

	(void)state;
	leaving_budget(&w, "train");
	not_ready(b, loop_wall(w.loop));
	world_run(&w, 29 * 60 * 1000);
	assert_string_equal(b->state, "serving");
	world_wait_state(b, "stopping", 90);
	assert_true(world_has_failure(b, "NodeDead"));
	world_delete_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

static void a_dead_node_that_is_held_is_left_alone(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 336);

	(void)state;
	leaving_cordon(b, true);
	not_ready(b, loop_wall(w.loop));
	world_run(&w, 7200 * 1000);
	assert_string_equal(b->state, "serving");
	world_stop(&w);
}

/* --- what is paused --------------------------------------------------------------------------- */

static void set_paused(struct sim_world *w, bool on)
{
	world_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:b}}", "spec", "paused", on));
}

static void set_observed(struct sim_world *w, bool on)
{
	world_patch_machine(&w->servers[0],
			    json_pack("{s:s}", "managementPolicy", on ? "Observe" : "Manage"));
}

/* An operation in progress stops before its next act, and continues once the machine may be managed
 * again. */
static void an_act_is_held_back_while_its_machine_is_paused(void **state)
{
	static void (*const holds[])(struct sim_world * w, bool on) = {set_paused, set_observed};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 860 + i, 1);
		world_replica(&w);
		world_wait_state(b, "dirty", 300);
		assert_false(b->bmc.on);
		holds[i](&w, true);
		world_run(&w, 300 * 1000);
		assert_string_equal(b->state, "dirty");
		assert_false(b->bmc.on);
		assert_int_equal(b->boots, 0);
		assert_string_equal(world_at(b, "status.operation.lastError.reason"),
				    i ? "Observed" : "Paused");
		holds[i](&w, false);
		world_wait_state(b, "free", 900);
		world_stop(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cordon_holds_and_an_uncordon_ends_it),
		cmocka_unit_test(release_uncordons_what_a_person_cordoned),
		cmocka_unit_test(a_drain_that_holds_keeps_the_machine_until_it_ends),
		cmocka_unit_test(a_drain_that_holds_drains_once_and_says_who_holds),
		cmocka_unit_test(a_hold_that_left_pods_behind_says_so),
		cmocka_unit_test(a_drain_that_is_deleted_is_a_cancelled_one),
		cmocka_unit_test(a_person_may_uncordon_what_a_drain_holds),
		cmocka_unit_test(a_node_that_is_uncordoned_while_it_drains_is_cordoned_again),
		cmocka_unit_test(a_claim_that_is_deleted_is_not_held_any_more),
		cmocka_unit_test(what_is_empty_for_long_is_given_back),
		cmocka_unit_test(a_pod_that_comes_at_the_last_moment_keeps_the_machine),
		cmocka_unit_test(a_paused_pool_gives_nothing_back),
		cmocka_unit_test(the_budget_of_the_pool_holds_though_all_are_empty),
		cmocka_unit_test(what_is_older_than_it_may_be_leaves),
		cmocka_unit_test(a_machine_whose_node_was_deleted_says_so_and_is_given_back),
		cmocka_unit_test(a_node_that_is_gone_while_its_tenant_is_away_is_not_gone),
		cmocka_unit_test(a_dead_node_is_given_up_without_waiting_for_pods),
		cmocka_unit_test(a_dead_node_that_is_held_is_left_alone),
		cmocka_unit_test(an_act_is_held_back_while_its_machine_is_paused),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
