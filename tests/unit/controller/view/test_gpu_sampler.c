/* Tests when samples are taken, and to which group and tenant each machine counts. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>

#include "api/machine_states.h"
#include "base/str.h"
#include "controller/view/gpu_sampler.h"

#define MINUTE INT64_C(60000)

struct bed {
	struct bench *d;
	struct gpu_sampler *s;
	struct gpu_history *h;
	unsigned done;
};

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));

	assert_int_equal(bench_setup_fleet((void **)&b->d), 0);
	b->d->c.leading = b->d->c.ready = true;
	b->s = gpu_sampler_new(&b->d->c);
	b->h = gpu_sampler_history(b->s);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;
	struct bench *d = b->d;

	gpu_sampler_free(b->s);
	free(b);
	return bench_teardown((void **)&d);
}

static int64_t step_now(const struct bed *b)
{
	return loop_wall(b->d->l) / GPU_HISTORY_STEP_MS;
}

static void machine_is(struct bed *b, const char *state, const char *tenant)
{
	bench_status(b->d, OBJECT_MACHINE, "m-1",
		     arena_printf(b->d->a,
				  "{'state': '%s', 'inventory': {'gpus': 8}, 'tenant': {'name': "
				  "'%s', 'uid': 'u'}}",
				  state, tenant));
}

static void samples_are_taken_every_5_minutes_of_wall_time(void **state)
{
	struct bed *b = *state;
	const int64_t first = step_now(b);

	machine_is(b, "serving", "team-a");
	gpu_sampler_lead(b->s);
	bench_run(b->d, 1000);
	assert_int_equal(gpu_history_newest(b->h), first); /* at once, so that the gap is short */
	bench_run(b->d, GPU_HISTORY_STEP_MS - loop_wall(b->d->l) % GPU_HISTORY_STEP_MS - 1);
	assert_int_equal(gpu_history_newest(b->h), first);
	bench_run(b->d, 2);
	assert_int_equal(gpu_history_newest(b->h), first + 1);
	bench_run(b->d, 60 * MINUTE);
	for (int64_t s = first; s <= first + 13; s++) {
		assert_true(gpu_history_has(b->h, s));
		assert_int_equal(gpu_column_at(gpu_history_tenant(b->h, "team-a"), s), 8);
	}
}

static void each_state_counts_to_its_group(void **state)
{
	struct bed *b = *state;
	int64_t step;

	gpu_sampler_lead(b->s);
	for (int s = 0; s < MACHINE_STATES; s++) {
		const enum gpu_group want =
			s == MACHINE_SERVING				  ? GPU_SERVING
			: s >= MACHINE_CLAIMED && s <= MACHINE_GATING	  ? GPU_MOVING
			: s >= MACHINE_DRAINING && s <= MACHINE_VERIFYING ? GPU_LEAVING
			: s == MACHINE_FREE				  ? GPU_FREE
			: s == MACHINE_QUARANTINED			  ? GPU_QUARANTINED
									  : GPU_OTHER;

		machine_is(b, machine_state_info[s].name, "team-a");
		bench_run(b->d, 6 * MINUTE);
		step = gpu_history_newest(b->h);
		for (int g = 0; g < GPU_GROUPS; g++)
			assert_int_equal(
				gpu_column_at(gpu_history_group(b->h, (enum gpu_group)g), step),
				g == (int)want ? 8 : 0);
		assert_int_equal(gpu_column_at(gpu_history_tenant(b->h, "team-a"), step),
				 want == GPU_SERVING ? 8 : 0);
	}
}

static void no_sample_is_taken_without_leadership_or_caches(void **state)
{
	struct bed *b = *state;
	int64_t newest;

	b->d->c.ready = false;
	gpu_sampler_lead(b->s);
	bench_run(b->d, 20 * MINUTE);
	assert_int_equal(gpu_history_newest(b->h), -1);
	b->d->c.ready = true;
	bench_run(b->d, 15000);
	newest = gpu_history_newest(b->h);
	assert_int_equal(newest, step_now(b));
	b->d->c.leading = false;
	bench_run(b->d, 20 * MINUTE);
	assert_int_equal(gpu_history_newest(b->h), newest);
	b->d->c.leading = true;
	gpu_sampler_lead(b->s);
	bench_run(b->d, 1000);
	assert_int_equal(gpu_history_newest(b->h), newest + 4);
	assert_false(gpu_history_has(b->h, newest + 1));
}

static void a_clock_that_was_set_back_adds_no_sample(void **state)
{
	struct bed *b = *state;
	int64_t newest;
	uint64_t version;

	gpu_sampler_lead(b->s);
	bench_run(b->d, 60 * MINUTE);
	newest = gpu_history_newest(b->h);
	version = gpu_history_version(b->h);
	loop_sim_set_clock(b->d->l, -30 * MINUTE);
	bench_run(b->d, 29 * MINUTE);
	assert_true(gpu_history_version(b->h) == version);
	bench_run(b->d, 10 * MINUTE);
	assert_true(gpu_history_newest(b->h) > newest);
}

static void a_gap_is_not_filled_later(void **state)
{
	struct bed *b = *state;
	int64_t newest;

	gpu_sampler_lead(b->s);
	bench_run(b->d, MINUTE);
	newest = gpu_history_newest(b->h);
	b->d->c.leading = false;
	bench_run(b->d, 60 * MINUTE);
	b->d->c.leading = true;
	gpu_sampler_lead(b->s);
	bench_run(b->d, MINUTE);
	assert_int_equal(gpu_history_newest(b->h), newest + 12);
	loop_sim_set_clock(b->d->l, -30 * MINUTE);
	machine_is(b, "serving", "team-a"); /* the reply has the new Date */
	bench_run(b->d, 20 * MINUTE);
	for (int64_t s = newest + 1; s < newest + 12; s++)
		assert_false(gpu_history_has(b->h, s));
}

static void on_done(void *arg)
{
	((struct bed *)arg)->done++;
}

static void the_next_process_continues(void **state)
{
	struct bed *b = *state;
	const int64_t first = step_now(b);

	machine_is(b, "serving", "team-a");
	gpu_sampler_lead(b->s);
	bench_run(b->d, 2 * MINUTE);
	gpu_sampler_stop(b->s, on_done, b);
	bench_run(b->d, 3000);
	assert_int_equal(b->done, 1);
	gpu_sampler_free(b->s);
	b->s = gpu_sampler_new(&b->d->c);
	b->h = gpu_sampler_history(b->s);
	bench_run(b->d, 20 * MINUTE);
	gpu_sampler_lead(b->s);
	bench_run(b->d, MINUTE);
	assert_true(gpu_history_has(b->h, first));
	assert_false(gpu_history_has(b->h, first + 1));
	assert_true(gpu_history_has(b->h, step_now(b)));
	assert_int_equal(gpu_column_at(gpu_history_tenant(b->h, "team-a"), first), 8);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(samples_are_taken_every_5_minutes_of_wall_time),
		T(each_state_counts_to_its_group),
		T(no_sample_is_taken_without_leadership_or_caches),
		T(a_clock_that_was_set_back_adds_no_sample),
		T(a_gap_is_not_filled_later),
		T(the_next_process_continues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
