#include "tests/unit/testing.h"

#include "tests/simulated/loop_sim.h"
#include "controller/core/clock_jumps.h"

#define HOUR_MS ((int64_t)3600 * 1000)
#define RIGHT_MS ((int64_t)1795305600000) /* 2026-11-22 */

static void a_stamp_before_a_jump_keeps_the_time_that_it_had_left(void **state)
{
	struct loop *l = loop_sim_new(1, RIGHT_MS);
	struct context c = {.loop = l, .group = loop_group_new(l, "jumps")};
	int64_t before = loop_wall(l) - HOUR_MS;

	(void)state;
	c.clock_jumps = clock_jumps_new(&c);
	assert_int_equal(clock_jumps_since(&c, before), 0);
	loop_sim_set_clock(l, 3 * HOUR_MS);
	assert_int_equal(clock_jumps_since(&c, before), 3 * HOUR_MS);
	assert_int_equal(clock_jumps_since(&c, loop_wall(l)), 0);
	loop_sim_set_clock(l, -3 * HOUR_MS);
	assert_int_equal(clock_jumps_since(&c, before), 0);
	clock_jumps_free(c.clock_jumps);
	loop_group_free(c.group);
	loop_free(l);
}

/* drover's own host boots at 1970, without a hardware clock. The time stamps were written by hosts
 * with a correct clock. */
static void a_stamp_of_a_right_clock_does_not_get_years_when_this_one_is_put_right(void **state)
{
	struct loop *l = loop_sim_new(1, 1000);
	struct context c = {.loop = l, .group = loop_group_new(l, "jumps")};

	(void)state;
	c.clock_jumps = clock_jumps_new(&c);
	loop_sim_set_clock(l, RIGHT_MS - 1000);
	assert_int_equal(clock_jumps_since(&c, RIGHT_MS - HOUR_MS), HOUR_MS);
	clock_jumps_free(c.clock_jumps);
	loop_group_free(c.group);
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stamp_before_a_jump_keeps_the_time_that_it_had_left),
		cmocka_unit_test(
			a_stamp_of_a_right_clock_does_not_get_years_when_this_one_is_put_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
