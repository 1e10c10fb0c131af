/* Power-ons are paced; the wait does not count against a machine's deadline. */
#include "api/reasons.h"
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/life/power_turn.h"
#include "tests/world/world.h"

static void limit(struct sim_world *w, json_t *limits)
{
	world_do(w, &w->host, "PATCH", "/apis/" OBJECT_API_VERSION "/providers/rack",
		 json_pack("{s:{s:o}}", "spec", "limits", limits));
}

/* Times of power-ons, in loop ms, in order. */
struct watch {
	struct sim_world *w;
	bool on[WORLD_BOXES];
	int64_t at[64];
	unsigned n;
	/* True once a machine has reported that it waits for its turn. */
	bool told;
	struct server *who;
};

static bool look(void *arg)
{
	struct watch *s = arg;
	unsigned running = 0;

	for (unsigned i = 0; i < s->w->nboxes; i++) {
		struct server *b = &s->w->servers[i];

		if (b->bmc.on && !s->on[i] && s->n < 64)
			s->at[s->n++] = loop_now(s->w->loop);
		s->on[i] = b->bmc.on;
		s->told |= str_eq(world_at(b, "status.operation.waitingFor"), "Rate") &&
			   str_eq(world_at(b, "status.operation.lastError.reason"),
				  reason_name(REASON_PowerOnPaced));
		running += str_eq(b->state, "serving");
	}
	return running == s->w->nboxes;
}

static void machines_are_switched_on_one_after_the_other(void **state)
{
	static const char *const pods[] = {"a", "b", "c", "d"};
	struct sim_world w;
	struct watch s = {.w = &w};

	(void)state;
	world_start(&w, 711, 4);
	limit(&w, json_pack("{s:i}", "powerOnPerMinute", 2));
	for (int i = 0; i < 4; i++)
		world_pod(&w, &w.tenants[0], pods[i]);
	world_replica(&w);
	world_wait(&w, look, &s, 3600, "four serve");
	assert_true(s.n >= 12); /* each machine is switched on three times: wipe, image, boot */
	for (unsigned i = 1; i < s.n; i++)
		assert_true(s.at[i] - s.at[i - 1] >= 29000);
	assert_true(s.told);
	world_stop(&w);
}

/* One power-on a minute is allowed, so the last machine waits longer than its boot deadline. */
static void a_wait_for_its_turn_does_not_eat_the_deadline(void **state)
{
	static const char *const pods[] = {"a", "b", "c", "d"};
	struct sim_world w;
	struct watch s = {.w = &w};

	(void)state;
	world_start(&w, 712, 4);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	limit(&w, json_pack("{s:i}", "powerOnPerMinute", 1));
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/nodepools/gpus",
		 json_pack("{s:{s:{s:s}}}", "spec", "deadlines", "booting", "2m"));
	for (int i = 0; i < 4; i++)
		world_pod(&w, &w.tenants[0], pods[i]);
	world_wait(&w, look, &s, 3600, "four serve");
	assert_true(s.told);
	assert_int_equal(s.n, 8); /* two power-ons for each machine, so no claim failed */
	world_stop(&w);
}

static bool waits_to_boot(void *arg)
{
	struct watch *s = arg;

	(void)look(s);
	for (unsigned i = 0; i < s->w->nboxes; i++)
		if (str_eq(s->w->servers[i].state, "booting") &&
		    str_eq(world_at(&s->w->servers[i], "status.operation.waitingFor"), "Rate"))
			s->who = &s->w->servers[i];
	return s->who;
}

/* An operator switches on a machine that waits for its power-on, and its system never joins.
 * Because the machine no longer waits for its turn, its deadline must count. */
static void a_deadline_does_not_sleep_when_there_is_no_place_to_wait_for(void **state)
{
	static const char *const pods[] = {"a", "b", "c", "d"};
	struct sim_world w;
	struct watch s = {.w = &w};

	(void)state;
	world_start(&w, 714, 4);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	limit(&w, json_pack("{s:i}", "powerOnPerMinute", 1));
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/nodepools/gpus",
		 json_pack("{s:{s:{s:s}}}", "spec", "deadlines", "booting", "2m"));
	for (int i = 0; i < 4; i++)
		world_pod(&w, &w.tenants[0], pods[i]);
	world_wait(&w, waits_to_boot, &s, 3600, "one waits to be switched on");
	s.who->no_kubelet = true;
	server_power(s.who, true);
	world_wait_reason(s.who, "JoinTimeout", 1200);
	world_stop(&w);
}

static bool one_is_free(void *arg)
{
	struct watch *s = arg;

	(void)look(s);
	for (unsigned i = 0; i < s->w->nboxes; i++)
		if (str_eq(s->w->servers[i].state, "free"))
			return true;
	return false;
}

static bool one_serves(void *arg)
{
	struct watch *s = arg;

	(void)look(s);
	for (unsigned i = 0; i < s->w->nboxes; i++)
		if (str_eq(s->w->servers[i].state, "serving"))
			return true;
	return false;
}

/* 47 machines wait for their inspection when the only free one is claimed. Until it serves, it is
 * switched on twice, and of the others at most those whose turn has come already, one of each four
 * turns, and those that fill the time in which it writes its image. */
static void a_claim_does_not_wait_until_a_new_rack_is_inspected(void **state)
{
	struct sim_world w;
	struct watch s = {.w = &w};
	unsigned before;

	(void)state;
	world_start(&w, 715, 48);
	limit(&w, json_pack("{s:i}", "powerOnPerMinute", 2));
	world_replica(&w);
	world_wait(&w, one_is_free, &s, 3600, "the first is free");
	before = s.n;
	world_pod(&w, &w.tenants[0], "train");
	world_wait(&w, one_serves, &s, 3600, "the claimed one serves");
	assert_in_range(s.n - before, 2, 10);
	world_stop(&w);
}

/* All machines of a hall appear at once. Reading every BMC once takes longer than the time for
 * which an earlier release of drover reserved a place in the power-on queue. */
static void more_machines_than_their_bmcs_answer_in_time_all_get_their_turn(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 713, 48);
	limit(&w, json_pack("{s:i, s:i}", "powerOnPerMinute", 4, "requestsPerSecond", 2));
	world_replica(&w);
	world_wait_all(&w, "free", 4 * 3600);
	for (unsigned i = 0; i < w.nboxes; i++) /* no deadline passed meanwhile */
		assert_int_equal(
			json_array_size(json_at(w.servers[i].object, "status", "failures")), 0);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claim_does_not_wait_until_a_new_rack_is_inspected),
		cmocka_unit_test(machines_are_switched_on_one_after_the_other),
		cmocka_unit_test(a_wait_for_its_turn_does_not_eat_the_deadline),
		cmocka_unit_test(a_deadline_does_not_sleep_when_there_is_no_place_to_wait_for),
		cmocka_unit_test(more_machines_than_their_bmcs_answer_in_time_all_get_their_turn),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
