/* Tests status.operation.progress in a whole simulated world. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/world.h"

#define WIPE_MS 60000

static const json_t *operation(const struct server *b)
{
	return json_at(b->object, "status", "operation");
}

static const json_t *progress(const struct server *b)
{
	const json_t *p = json_object_get(operation(b), "progress");

	return json_is_object(p) ? p : NULL;
}

static void start(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 1);
	w->servers[0].wipe_ms = WIPE_MS;
	world_replica(w);
	world_wait_state(&w->servers[0], "wiping", 900);
}

static void progress_is_told_every_five_seconds_and_at_a_new_phase(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t last = -1, at = 0, now;
	char phase[32] = "";
	unsigned told = 0, phases = 0;

	(void)state;
	start(&w, 41);
	while (str_eq(b->state, "wiping")) {
		const json_t *p = progress(b);
		int64_t done = p ? json_int_at(p, "doneBytes") : -1;

		now = loop_now(w.loop);
		if (done > last) {
			bool fresh = !str_eq(json_str_at(p, "phase"), phase);

			if (told && !fresh && now - at < 4900)
				fail_msg("told again after %lld ms", (long long)(now - at));
			str_copy(phase, sizeof(phase), json_str_at(p, "phase"));
			phases += fresh;
			told++;
			last = done;
			at = now;
		}
		world_run(&w, 20);
	}
	assert_int_equal(phases, 2);
	assert_in_range(told, 8, WIPE_MS / 5000 + 3);
	/* The progress of a finished order is cleared. */
	assert_string_equal(b->state, "verifying");
	assert_null(progress(b));
	world_stop(&w);
}

static void the_end_is_expected_by_the_rate_and_not_without_one(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t end = 0;

	(void)state;
	start(&w, 42);
	for (int i = 0; i < 3000 && !progress(b); i++)
		world_run(&w, 20);
	assert_string_equal(json_str_at(progress(b), "phase"), "canaries");
	assert_null(json_str_at(progress(b), "expectedEnd"));
	for (int i = 0; i < 3000 && str_eq(json_str_at(progress(b), "phase"), "canaries"); i++)
		world_run(&w, 20);
	assert_string_equal(json_str_at(progress(b), "phase"), "overwrite");
	assert_int_equal(json_int_at(progress(b), "bytesPerSecond"), 1000 << 20);
	assert_true(str_to_time(json_str_at(progress(b), "expectedEnd"), &end));
	/* Half of the work is left: 30 s. */
	assert_true(end - loop_wall(w.loop) > 25000 && end - loop_wall(w.loop) < 31000);
	world_stop(&w);
}

/* A drive may stall before the agent gives it up. Meanwhile status must not show an expected end in
 * the past. */
static void what_stands_still_has_no_expected_end(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 44, 1);
	b->wipe_ms = 10 * WIPE_MS;
	b->wipe_still_ms = 6 * WIPE_MS;
	world_replica(&w);
	world_wait_state(b, "wiping", 900);
	world_run(&w, 6 * WIPE_MS + 10000);
	assert_non_null(json_str_at(progress(b), "expectedEnd"));
	world_run(&w, WIPE_MS + 20000);
	assert_string_equal(b->state, "wiping");
	assert_int_equal(json_int_at(progress(b), "doneBytes"), (int64_t)6 * WIPE_MS << 20);
	assert_null(json_str_at(progress(b), "expectedEnd"));
	world_stop(&w);
}

static void the_journal_is_as_it_was(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char deadline[40];

	(void)state;
	start(&w, 43);
	str_copy(deadline, sizeof(deadline), json_str_at(operation(b), "deadline"));
	for (int i = 0; i < 3000 && !progress(b); i++)
		world_run(&w, 20);
	while (str_eq(b->state, "wiping")) {
		assert_string_equal(json_str_at(operation(b), "step"), "order wipe");
		assert_int_equal(json_int_at(operation(b), "attempt"), 1);
		assert_string_equal(json_str_at(operation(b), "deadline"), deadline);
		assert_null(json_str_at(operation(b), "lastError", "reason"));
		world_run(&w, 100);
	}
	world_wait_state(b, "free", 900);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(progress_is_told_every_five_seconds_and_at_a_new_phase),
		cmocka_unit_test(the_end_is_expected_by_the_rate_and_not_without_one),
		cmocka_unit_test(what_stands_still_has_no_expected_end),
		cmocka_unit_test(the_journal_is_as_it_was),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
