/* How pods of a leaving machine are evicted, and what may stop them or the machine from leaving. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/str.h"
#include "tests/world/leaving.h"

/* --- budgets of pods -------------------------------------------------------------------------- */

static void a_budget_is_waited_for_and_named(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 300);

	(void)state;
	leaving_budget(&w, "train");
	world_release(b);
	leaving_wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	leaving_wait_at(b, "status.operation.waitingFor", "Budget", 60);
	assert_string_equal(world_at(b, "status.leave.reason"), "ClaimDeleted");
	assert_int_equal(json_int_at(b->object, "status", "leave", "podsLeft"), 1);
	assert_true(leaving_is_marked(b) && leaving_is_cordoned(b));
	world_run(&w, 1800 * 1000);
	assert_string_equal(b->state, "draining");
	leaving_lift_budget(&w);
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 60);
	world_wait_state(b, "free", 900);
	assert_false(leaving_was_told(&w.host, "PodDeleted", ""));
	world_settle(&w);
	world_stop(&w);
}

static void a_budget_does_not_outlast_the_deadline(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 301);
	int64_t began;

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", 600, "  onDeadline: Escalate\n");
	leaving_wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	began = loop_wall(w.loop);
	assert_string_equal(world_at(b, "status.leave.drain"), "fans");
	world_wait_state(b, "stopping", 660);
	assert_true(loop_wall(w.loop) - began > 500 * 1000);
	leaving_wait_event(&w, &w.host, "PodDeleted", "it was blocked by: pdb default/web");
	leaving_wait_event(&w, &w.host, "PodDeleted", "Drain fans: fans");
	leaving_wait_event(&w, &w.tenants[0], "PodDeleted", "pod default/train");
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 60);
	assert_false(world_has_failure(b, "DeadlineExceeded"));
	world_wait_state(b, "free", 900);
	leaving_wait_target(&w, "Done");
	world_settle(&w);
	world_stop(&w);
}

/* The first Drain has no deadline, and must not hide the deadline of the second. */
static void of_two_drains_the_one_in_a_hurry_is_not_held_back(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 313);

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "first", 0, "  then: Quarantine\n");
	leaving_wait_at(b, "status.leave.drain", "first", 60);
	world_run(&w, 5000);
	leaving_drain(&w, "fans", 600, "  onDeadline: Escalate\n");
	world_run(&w, 500 * 1000);
	assert_string_equal(b->state, "draining");
	world_wait_state(b, "stopping", 160);
	leaving_wait_event(&w, &w.host, "PodDeleted", "Drain fans: fans");
	world_wait_state(b, "quarantined", 900);
	leaving_wait_target(&w, "Done");
	assert_string_equal(world_at(b, "status.quarantine.reason"), "QuarantinedByOperator");
	world_settle(&w);
	world_stop(&w);
}

static void what_a_hurried_drain_adds_is_told_before_its_deadline(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 314);

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "patient", 0, "");
	leaving_wait_at(b, "status.leave.drain", "patient", 60);
	assert_string_equal(world_at(b, "status.leave.then"), "Release");
	assert_string_equal(world_at(b, "status.leave.deadlineBy"), "");
	world_run(&w, 5000);
	leaving_drain(&w, "fans", 600, "  onDeadline: Escalate\n  then: Quarantine\n");
	leaving_wait_at(b, "status.leave.deadlineBy", "fans", 30);
	assert_string_equal(world_at(b, "status.leave.drain"), "patient");
	assert_string_equal(world_at(b, "status.leave.then"), "Quarantine");
	assert_string_equal(world_at(b, "status.leave.thenBy"), "fans");
	leaving_wait_event(&w, &w.host, "Draining",
			   " of Drain fans, then pods are deleted; "
			   "afterwards: Quarantine, for Drain fans");
	/* 660 s: until the deadline of the Drain that acts */
	leaving_wait_at(b, "status.leave.drain", "fans", 660);
	assert_string_equal(world_at(b, "status.leave.thenBy"), "");
	world_wait_state(b, "quarantined", 1800);
	leaving_wait_target(&w, "Done");
	world_settle(&w);
	world_stop(&w);
}

/* Two Drains name the machine. Drain "fans" evicts the pods; afterwards, the quarantine that Drain
 * "second" requests is still carried out. */
static void what_another_drain_wants_afterwards_outlives_the_one_that_acts(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 315);

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", 0, "");
	leaving_drain(&w, "second", 0, "  then: Quarantine\n");
	leaving_wait_at(b, "status.leave.thenBy", "second", 60);
	leaving_lift_budget(&w);
	world_wait_state(b, "quarantined", 1800);
	assert_string_equal(world_at(b, "status.quarantine.reason"), "QuarantinedByOperator");
	leaving_wait_target(&w, "Done");
	world_settle(&w);
	world_stop(&w);
}

static void what_refuses_every_eviction_is_told_and_passed_at_the_deadline(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 302);

	(void)state;
	w.refused = "/eviction";
	world_release(b);
	world_run(&w, 120 * 1000);
	assert_true(str_starts(world_at(b, "status.leave.blockedBy"), "pod default/train: "));
	world_wait_state(b, "stopping", 3600);
	leaving_wait_event(&w, &w.host, "PodDeleted", "pod default/train");
	world_wait_state(b, "free", 900);
	world_settle(&w);
	world_stop(&w);
}

static void a_pod_that_cannot_end_does_not_outlast_the_deadline(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 303);
	int64_t began;

	(void)state;
	leaving_patch_pod(&w, "train",
			  json_pack("{s:{s:[s]}}", "metadata", "finalizers", "example.com/stuck"));
	world_release(b);
	world_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	world_run(&w, 120 * 1000);
	assert_string_equal(world_at(b, "status.leave.blockedBy"),
			    "pod default/train: stuck terminating");
	leaving_wait_at(b, "status.operation.step", "escalate", 3600);
	world_run(&w, 26000);
	assert_string_equal(b->state, "draining");
	assert_string_equal(world_at(b, "status.leave.blockedBy"),
			    "pod default/train: stuck terminating");
	world_wait_state(b, "stopping", 100);
	assert_true(loop_wall(w.loop) - began >= 3600 * 1000);
	assert_true(loop_wall(w.loop) - began < 3640 * 1000);
	leaving_wait_event(&w, &w.host, "DeadlinePassed", "1 pod is left");
	leaving_wait_event(&w, &w.host, "PodDeleted",
			   "it was blocked by: pod default/train: stuck terminating");
	assert_string_equal(world_at(b, "status.leave.blockedBy"), "");
	leaving_patch_pod(&w, "train", json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	world_wait_state(b, "free", 900);
	world_settle(&w);
	world_stop(&w);
}

static void many_pods_are_asked_side_by_side(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 304);
	int64_t began;

	(void)state;
	for (int i = 0; i < 30; i++) {
		OWN(arena) a = arena_new();

		leaving_small_pod(b, arena_printf(a, "web-%d", i));
	}
	w.unanswered = "/eviction"; /* each eviction call runs into its time limit */
	world_release(b);
	world_wait_state(b, "draining", 60);
	began = loop_wall(w.loop);
	world_wait_state(b, "stopping", 120);
	assert_true(loop_wall(w.loop) - began < 75000);
	world_wait_state(b, "free", 900);
	world_settle(&w);
	world_stop(&w);
}

/* An API server in front of the tenant's API server. It counts evictions and deletions of pods, and
 * lets no pod terminate. */
struct drain_front {
	unsigned evictions, forced;
	/* True: an eviction specified a grace period. */
	bool graced;
	json_int_t train, web;
};

static void on_eviction(struct httpd_req *q, void *arg)
{
	struct drain_front *f = arg;
	size_t len;

	f->evictions++;
	f->graced |= strstr(httpd_body(q, &len), "gracePeriod") != NULL;
	httpd_reply_json(q, 429,
			 "{\"kind\": \"Status\", \"apiVersion\": \"v1\", \"status\": "
			 "\"Failure\", \"reason\": \"TooManyRequests\", \"code\": 429}");
}

static void on_forced(struct httpd_req *q, void *arg)
{
	struct drain_front *f = arg;
	size_t len;
	const char *text = httpd_body(q, &len);
	struct err e;
	OWN_JSON o = json_parse(text, len, &e);

	f->forced++;
	*(str_eq(httpd_segment(q, 1), "web") ? &f->web : &f->train) =
		json_at(o, "gracePeriodSeconds") ? json_int_at(o, "gracePeriodSeconds") : -1;
	httpd_reply_json(q, 503,
			 "{\"kind\": \"Status\", \"apiVersion\": \"v1\", \"status\": "
			 "\"Failure\", \"code\": 503}");
}

static bool both_were_forced(void *arg)
{
	const struct drain_front *f = arg;

	return f->train && f->web;
}

/* An eviction uses the pod's own grace period. A forced deletion at the deadline uses the smaller
 * of the pod's own period and 30 s. */
static void a_pod_has_its_grace_period_and_no_more_than_30_s_of_it_at_the_deadline(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 305);
	struct cluster *team = &w.tenants[0];
	struct drain_front f = {0};
	struct httpd *d = httpd_new(team->group);

	(void)state;
	leaving_small_pod(b, "web");
	leaving_patch_pod(&w, "train",
			  json_pack("{s:{s:i}}", "spec", "terminationGracePeriodSeconds", 7));
	leaving_patch_pod(&w, "web",
			  json_pack("{s:{s:i}}", "spec", "terminationGracePeriodSeconds", 3600));
	world_run(&w, 5000);
	httpd_route(d, "POST", "/api/v1/namespaces/{}/pods/{}/eviction", 1 << 16, on_eviction, &f);
	httpd_route(d, "DELETE", "/api/v1/namespaces/{}/pods/{}", 1 << 16, on_forced, &f);
	apiserver_routes(team->api, d);
	http_mem_serve(w.net, team->origin, d);
	leaving_drain(&w, "fans", 60, "  onDeadline: Escalate\n");
	world_wait_state(b, "draining", 60);
	world_run(&w, 30000);
	assert_true(f.evictions >= 2);
	assert_int_equal(f.forced, 0);
	world_wait(&w, both_were_forced, &f, 120, "both pods are deleted");
	assert_false(f.graced);
	assert_int_equal(f.train, 7);
	assert_int_equal(f.web, 30);
	http_mem_serve(w.net, team->origin, team->httpd);
	httpd_free(d);
	world_wait_state(b, "free", 1200);
	world_settle(&w);
	world_stop(&w);
}

/* --- Drains ----------------------------------------------------------------------------------- */

/* Checks what blocked the Drain, and that drover withdrew the drain of the machine because the
 * deadline had passed. */
static void assert_stopped(struct sim_world *w)
{
	OWN_JSON d = cluster_get(&w->host, "drains.drover.dev/fans");
	const json_t *t = json_array_get(json_at(d, "status", "targets"), 0);

	assert_int_equal(json_int_at(t, "podsLeft"), 1);
	assert_string_equal(json_str_at(t, "blockedBy"), "pdb default/web");
	leaving_wait_event(w, &w->host, "Partial",
			   "0 of 1 machines done; 1 stopped at the deadline");
	leaving_wait_event(w, &w->host, "DrainWithdrawn",
			   "the deadline of Drain fans has passed, and its onDeadline is Stop; 1 "
			   "pod is left; blocked by pdb default/web");
}

static void a_drain_that_stops_lets_the_machine_serve_on(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 310);

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", 300, "  onDeadline: Stop\n");
	world_wait_state(b, "draining", 60);
	world_run(&w, 60 * 1000);
	assert_true(leaving_is_marked(b));
	world_wait_state(b, "serving", 400);
	leaving_wait_target(&w, "Stopped");
	assert_stopped(&w);
	world_wait(&w, leaving_is_clear, b, 30, "the Node is clear");
	assert_string_equal(world_at(b, "status.leave.reason"), "");
	world_run(&w, 1200 * 1000);
	world_check_serving(&w, &w.tenants[0], "train");
	world_settle(&w);
	world_stop(&w);
}

static void a_cancelled_drain_lets_the_machine_serve_on(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 311);

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", 0, "");
	leaving_wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	leaving_cancel(&w, "fans");
	world_wait_state(b, "serving", 30);
	leaving_wait_target(&w, "Cancelled");
	world_wait(&w, leaving_is_clear, b, 30, "the Node is clear");
	leaving_wait_event(&w, &w.host, "DrainWithdrawn", "Drain fans was cancelled");
	world_run(&w, 60 * 1000);
	world_check_serving(&w, &w.tenants[0], "train");
	world_settle(&w);
	world_stop(&w);
}

static void a_person_s_cordon_outlives_a_drain_that_was_cancelled(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 312);

	(void)state;
	leaving_budget(&w, "train");
	leaving_cordon(b, true);
	leaving_wait_event(&w, &w.host, "Held", "cordoned (not by drover)");
	assert_false(leaving_was_told(&w.host, "HoldEnded", ""));
	leaving_drain(&w, "fans", 0, "");
	leaving_wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	leaving_cancel(&w, "fans");
	world_wait_state(b, "serving", 30);
	world_run(&w, 60 * 1000);
	assert_true(leaving_is_cordoned(b) && !leaving_is_marked(b));
	assert_string_not_equal(world_at(b, "status.hold.since"), "");
	leaving_release(b, "1");
	leaving_wait_at(b, "status.requests.release", "1", 30);
	assert_true(leaving_is_clear(b));
	leaving_wait_event(&w, &w.host, "HoldEnded", "released by an operator");
	world_settle(&w);
	world_stop(&w);
}

static void a_tenant_that_goes_away_in_the_middle_is_not_waited_for_past_the_deadline(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 313);
	int64_t began;

	(void)state;
	leaving_budget(&w, "train");
	began = loop_wall(w.loop);
	leaving_drain(&w, "fans", 900, "  onDeadline: Escalate\n");
	leaving_wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	cluster_away(&w.tenants[0], true);
	w.tenants[0].owed = true;
	world_run(&w, 600 * 1000);
	assert_string_equal(b->state, "draining");
	assert_string_equal(world_at(b, "status.operation.lastError.reason"), "TenantUnreachable");
	world_wait_state(b, "stopping", 400);
	assert_true(loop_wall(w.loop) - began < 910 * 1000);
	world_wait_state(b, "free", 1200);
	cluster_away(&w.tenants[0], false);
	world_settle(&w); /* the Node in its cluster is deleted */
	w.tenants[0].owed = false;
	world_stop(&w);
}

static void a_claim_deleted_while_a_drain_waits_cannot_be_called_back(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 314);

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", 0, "  then: Hold\n");
	leaving_wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	world_release(b);
	leaving_wait_at(b, "status.leave.reason", "ClaimDeleted", 30);
	assert_string_equal(world_at(b, "status.leave.then"), "Release");
	leaving_cancel(&w, "fans");
	world_run(&w, 60 * 1000);
	assert_string_equal(b->state, "draining");
	leaving_lift_budget(&w);
	world_wait_state(b, "free", 900);
	world_settle(&w);
	world_stop(&w);
}

static void a_machine_that_drains_is_no_room_for_anybody(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	world_start(&w, 315, 2);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	b = world_box_of(&w, &w.tenants[0], "train");
	world_wait_state(b, "serving", 60);
	leaving_small_pod(b, "web");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_run(&w, 10000);
	leaving_budget(&w, "web");
	leaving_drain_of(&w, "fans", b->name, 0, "");
	leaving_wait_at(b, "status.leave.blockedBy", "pdb default/web", 60);
	world_pod(&w, &w.tenants[0], "next");
	world_wait_running(&w, &w.tenants[0], "next", 900);
	assert_ptr_not_equal(world_box_of(&w, &w.tenants[0], "next"), b);
	world_stop(&w);
}

/* The progress of a drain is in the journal: the next leader continues it, forward or back. */
static void leaders_die_and_the_drain_goes_on(void **state)
{
	(void)state;
	for (uint64_t seed = 320; seed < 324; seed++) {
		struct sim_world w;
		struct server *b = leaving_serving(&w, seed);
		bool back = seed % 2;

		leaving_budget(&w, "train");
		leaving_drain(&w, "fans", 60,
			      back ? "  onDeadline: Stop\n" : "  onDeadline: Escalate\n");
		for (int k = 0; k < 4; k++) {
			world_run(&w, 1 + (int64_t)loop_random_below(w.loop, 30000));
			world_kill(&w.replicas[w.nreplicas - 1]);
			world_replica(&w);
		}
		if (!back) {
			world_wait_state(b, "free", 900);
		} else {
			world_run(&w, 120 * 1000);
			assert_true(leaving_is_clear(b));
			world_check_serving(&w, &w.tenants[0], "train");
		}
		leaving_wait_target(&w, back ? "Stopped" : "Done");
		world_settle(&w);
		world_stop(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_budget_is_waited_for_and_named),
		cmocka_unit_test(a_budget_does_not_outlast_the_deadline),
		cmocka_unit_test(of_two_drains_the_one_in_a_hurry_is_not_held_back),
		cmocka_unit_test(what_a_hurried_drain_adds_is_told_before_its_deadline),
		cmocka_unit_test(what_another_drain_wants_afterwards_outlives_the_one_that_acts),
		cmocka_unit_test(what_refuses_every_eviction_is_told_and_passed_at_the_deadline),
		cmocka_unit_test(a_pod_that_cannot_end_does_not_outlast_the_deadline),
		cmocka_unit_test(many_pods_are_asked_side_by_side),
		cmocka_unit_test(
			a_pod_has_its_grace_period_and_no_more_than_30_s_of_it_at_the_deadline),
		cmocka_unit_test(a_drain_that_stops_lets_the_machine_serve_on),
		cmocka_unit_test(a_cancelled_drain_lets_the_machine_serve_on),
		cmocka_unit_test(a_person_s_cordon_outlives_a_drain_that_was_cancelled),
		cmocka_unit_test(
			a_tenant_that_goes_away_in_the_middle_is_not_waited_for_past_the_deadline),
		cmocka_unit_test(a_claim_deleted_while_a_drain_waits_cannot_be_called_back),
		cmocka_unit_test(a_machine_that_drains_is_no_room_for_anybody),
		cmocka_unit_test(leaders_die_and_the_drain_goes_on),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
