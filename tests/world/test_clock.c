/* Jumps and errors of the wall clock: no deadline is shortened by them. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/leaving.h"

#define HOUR_MS (3600 * 1000)

static bool has_died(void *arg)
{
	return world_has_failure(arg, "NodeDead");
}

static void a_drain_keeps_its_time_when_the_clock_is_put_forward(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 500);
	int64_t began;

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", 1800, "  onDeadline: Escalate\n");
	world_wait_state(b, "draining", 60);
	began = loop_now(w.loop);
	world_run(&w, 300 * 1000);
	loop_sim_set_clock(w.loop, 3 * HOUR_MS);
	world_run(&w, 1200 * 1000);
	assert_true(leaving_runs_still(&w));
	assert_string_equal(b->state, "draining");
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 600);
	assert_in_range(loop_now(w.loop) - began, 1780 * 1000, 1900 * 1000);
	assert_non_null(strstr(w.log, "wall clock jumped forward"));
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

static void a_drain_that_has_not_begun_does_not_begin_by_a_jump(void **state)
{
	char more[80], when[STR_TIME_SIZE];
	struct sim_world w;
	struct server *b = leaving_serving(&w, 501);

	(void)state;
	str_format(more, sizeof(more), "  notBefore: %s\n",
		   str_time(when, loop_wall(w.loop) + HOUR_MS));
	leaving_drain(&w, "fans", 2 * 3600, more);
	world_run(&w, 60 * 1000);
	loop_sim_set_clock(w.loop, 5 * HOUR_MS);
	world_run(&w, 3400 * 1000);
	assert_string_equal(b->state, "serving");
	assert_true(leaving_runs_still(&w));
	world_wait_state(b, "free", 1200);
	world_stop(&w);
}

static void a_deleted_claim_has_its_grace_all_the_same(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 502);
	int64_t began;

	(void)state;
	leaving_budget(&w, "train");
	world_release(b);
	world_wait_state(b, "draining", 60);
	began = loop_now(w.loop);
	loop_sim_set_clock(w.loop, 30 * 24 * (int64_t)HOUR_MS);
	world_run(&w, 3500 * 1000);
	assert_true(leaving_runs_still(&w));
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 300);
	assert_true(loop_now(w.loop) - began >= 3590 * 1000);
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

static void work_that_saves_itself_has_its_time(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 503);

	(void)state;
	leaving_patch_pod(&w, "train",
			  json_pack("{s:{s:{s:s}}}", "metadata", "annotations",
				    "drover.dev/checkpoint", "30m"));
	world_release(b);
	leaving_wait_at(b, "status.leave.blockedBy", "checkpoint default/train", 60);
	loop_sim_set_clock(w.loop, 2 * HOUR_MS);
	world_run(&w, 1500 * 1000);
	assert_true(leaving_runs_still(&w));
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 600);
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

static void no_machine_is_empty_expired_or_dead_by_a_jump(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 504);

	(void)state;
	world_delete_pod(&w, &w.tenants[0], "train");
	world_run(&w, 60 * 1000);
	loop_sim_set_clock(w.loop, 24 * (int64_t)HOUR_MS);
	world_run(&w, 400 * 1000);
	assert_string_equal(b->state, "serving");
	world_wait_state(b, "free", 1800);
	world_stop(&w);
}

/* States from imaging on are not tested: a bootstrap token exists in them, and when the tenant's
 * clock jumps, the token expires and the claim is replaced. */
static void no_state_runs_out_of_time_by_a_jump(void **state)
{
	static const char *const at[] = {"dirty", "wiping", "verifying", "claimed"};
	struct sim_world w;

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct server *b;

		world_start(&w, 505 + i, 1);
		b = &w.servers[0];
		b->wipe_ms = 60000;
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_state(b, at[i], 1800);
		loop_sim_set_clock(w.loop, 9 * HOUR_MS);
		world_wait_running(&w, &w.tenants[0], "train", 1800);
		world_wait_state(b, "serving", 60);
		assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
		world_stop(&w);
	}
}

static void a_clock_that_was_wrong_and_is_put_right_again_is_believed(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 508);
	int64_t began;

	(void)state;
	leaving_budget(&w, "train");
	leaving_drain(&w, "fans", 1800, "  onDeadline: Escalate\n");
	world_wait_state(b, "draining", 60);
	began = loop_now(w.loop);
	loop_sim_set_clock(w.loop, 3 * HOUR_MS);
	world_run(&w, 120 * 1000);
	loop_sim_set_clock(w.loop, -3 * HOUR_MS);
	world_run(&w, 1500 * 1000);
	assert_true(leaving_runs_still(&w));
	leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 600);
	assert_true(loop_now(w.loop) - began < 1900 * 1000);
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

/* --- clocks of others ------------------------------------------------------------------------- */

static void set_ready(struct server *b, const char *status, int64_t since)
{
	char when[STR_TIME_SIZE];

	leaving_patch_node(b, "/status",
			   json_pack("{s:{s:[{s:s,s:s,s:s}]}}", "status", "conditions", "type",
				     "Ready", "status", status, "lastTransitionTime",
				     str_time(when, since)));
}

/* The kubelet stops reporting for a while. The tenant's API server reports the time of this with a
 * clock that is a day behind or a day ahead. */
static void a_machine_is_not_dead_by_its_tenants_clock(void **state)
{
	static const int64_t wrong_ms[] = {-24 * HOUR_MS, 24 * (int64_t)HOUR_MS};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct sim_world w;
		struct server *b = leaving_serving(&w, 510 + i);

		b->tenant = NULL; /* so that the kubelet does not report Ready again */
		world_run(&w, 120 * 1000);
		set_ready(b, "Unknown", loop_wall(w.loop) + wrong_ms[i]);
		world_run(&w, 1700 * 1000);
		assert_string_equal(b->state, "serving");
		assert_false(world_has_failure(b, "NodeDead"));
		world_wait(&w, has_died, b, 300, "NodeDead");
		world_stop(&w);
	}
}

/* Starts a replica whose clock is wrong, while the clocks of all servers stay right. The replica
 * starts with this clock, so it sees no jump. */
static void wrong_by(struct sim_world *w, int64_t by_ms)
{
	world_kill(&w->replicas[w->nreplicas - 1]);
	loop_sim_set_clock(w->loop, by_ms);
	http_mem_clock(w->net, -by_ms);
	world_replica(w);
}

/* Starts the next replica with the right clock. It sees no jump either. */
static void put_right(struct sim_world *w, int64_t by_ms)
{
	world_kill(&w->replicas[w->nreplicas - 1]);
	loop_sim_set_clock(w->loop, -by_ms);
	http_mem_clock(w->net, 0);
	world_replica(w);
}

static void a_leader_whose_clock_is_not_the_hosts_acts_on_no_deadline(void **state)
{
	static const int64_t by_ms[] = {24 * (int64_t)HOUR_MS, -24 * HOUR_MS};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct sim_world w;
		struct server *b = leaving_serving(&w, 520 + i);
		int64_t began;

		leaving_budget(&w, "train");
		leaving_drain(&w, "fans", 3600, "  onDeadline: Escalate\n");
		world_wait_state(b, "draining", 60);
		began = loop_now(w.loop);
		wrong_by(&w, by_ms[i]);
		world_run(&w, 1800 * 1000);
		assert_true(leaving_runs_still(&w));
		assert_string_equal(b->state, "draining");
		leaving_wait_event(&w, &w.host, "ClockDisagrees", i ? "behind" : "ahead of");
		put_right(&w, by_ms[i]);
		leaving_wait_gone(&w, &w.tenants[0], "pods/default/train", 2000);
		assert_in_range(loop_now(w.loop) - began, 3580 * 1000, 3700 * 1000);
		world_wait_state(b, "free", 900);
		world_stop(&w);
	}
}

static void a_drain_does_not_begin_by_a_wrong_clock(void **state)
{
	char more[80], when[STR_TIME_SIZE];
	struct sim_world w;
	OWN_JSON d = NULL;

	(void)state;
	(void)leaving_serving(&w, 525);
	str_format(more, sizeof(more), "  notBefore: %s\n",
		   str_time(when, loop_wall(w.loop) + HOUR_MS));
	leaving_drain(&w, "fans", 2 * 3600, more);
	wrong_by(&w, 24 * (int64_t)HOUR_MS);
	world_run(&w, 1800 * 1000);
	d = cluster_get(&w.host, "drains.drover.dev/fans");
	assert_null(json_at(d, "status", "startTime"));
	put_right(&w, 24 * (int64_t)HOUR_MS);
	world_wait_state(&w.servers[0], "free", 4000);
	world_stop(&w);
}

/* Times computed with the wrong clock must not be recorded, since the next leader has the right
 * clock. */
static void a_leader_whose_clock_is_behind_leaves_no_times_that_are_past(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 523, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "wiping", 900);
	wrong_by(&w, -24 * HOUR_MS);
	world_run(&w, 600 * 1000);
	assert_string_equal(b->state, "wiping");
	put_right(&w, -24 * HOUR_MS);
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_int_equal(json_array_size(json_at(b->object, "status", "failures")), 0);
	world_stop(&w);
}

/* All clocks were a year ahead when the machine began to join. */
static void a_deadline_that_is_a_year_away_is_brought_near(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	const int64_t year_ms = 365 * 24 * (int64_t)HOUR_MS;

	(void)state;
	world_start(&w, 524, 1);
	b->no_kubelet = true;
	world_replica(&w);
	world_wait_state(b, "free", 900);
	loop_sim_set_clock(w.loop, year_ms);
	world_run(&w, 60 * 1000);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "booting", 900);
	loop_sim_set_clock(w.loop, -year_ms);
	world_wait_reason(b, "JoinTimeout", 3600);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drain_keeps_its_time_when_the_clock_is_put_forward),
		cmocka_unit_test(a_drain_that_has_not_begun_does_not_begin_by_a_jump),
		cmocka_unit_test(a_deleted_claim_has_its_grace_all_the_same),
		cmocka_unit_test(work_that_saves_itself_has_its_time),
		cmocka_unit_test(no_machine_is_empty_expired_or_dead_by_a_jump),
		cmocka_unit_test(no_state_runs_out_of_time_by_a_jump),
		cmocka_unit_test(a_clock_that_was_wrong_and_is_put_right_again_is_believed),
		cmocka_unit_test(a_machine_is_not_dead_by_its_tenants_clock),
		cmocka_unit_test(a_leader_whose_clock_is_not_the_hosts_acts_on_no_deadline),
		cmocka_unit_test(a_drain_does_not_begin_by_a_wrong_clock),
		cmocka_unit_test(a_leader_whose_clock_is_behind_leaves_no_times_that_are_past),
		cmocka_unit_test(a_deadline_that_is_a_year_away_is_brought_near),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
