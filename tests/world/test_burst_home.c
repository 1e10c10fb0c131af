/* Final cost of a burst, and when its instances end. */
#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"

/* After the first instance ended, its actual cost counts: the time billed by the cloud, and a
 * little more, at 20 USD an hour. This cost and that of the second instance leave no budget for a
 * third. */
static void what_has_ended_counts_by_what_it_cost(void **state)
{
	struct burst_scene *s = burst_start(7309, "50");
	int64_t ran;

	(void)state;
	burst_pod(s, "one");
	burst_running(s, "one");
	world_run(&s->w, 600 * 1000);
	burst_gone(s, "one");
	burst_nothing_left(s);
	ran = burst_newest(s)->ended_at - burst_newest(s)->launched_at;
	assert_in_range(burst_settled(&s->w), 20 * ran / 3600 * 1000,
			20 * (ran + 300 * 1000) / 3600 * 1000);
	burst_pod(s, "two");
	burst_running(s, "two");
	burst_pod(s, "three");
	burst_another_leads(s);
	world_run(&s->w, 200 * 1000);
	assert_int_equal(s->sky.cloud.launched, 2);
	burst_stop(s);
}

/* The pod never ends by itself, and its pool is paused. The instance must nevertheless end at the
 * policy's maxRuntime. */
static void what_runs_too_long_is_ended_within_what_was_committed(void **state)
{
	struct burst_scene *s = burst_start(7313, "8.5");

	(void)state;
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/burstpolicies/research",
		 json_pack("{s:{s:{s:s}}}", "spec", "runtime", "maxRuntime", "15m"));
	burst_pod(s, "train");
	burst_running(s, "train");
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:b}}", "spec", "paused", 1));
	burst_nothing_left(s);
	assert_in_range(burst_newest(s)->ended_at - burst_newest(s)->launched_at, 1100 * 1000,
			1500 * 1000);
	burst_stop(s);
}

/* Billing by half hours: an empty instance stays until the end of its half hour is near. */
static void what_is_paid_for_is_kept(void **state)
{
	struct burst_scene *s = burst_start(7314, "1000");

	(void)state;
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/burstpolicies/research",
		 json_pack("{s:{s:{s:{s:s}}, s:{s:s, s:b}}}", "spec", "cost", "minimumBilling",
			   "increment", "30m", "scaleBack", "idleTimeout", "1m", "alignToBilling",
			   1));
	burst_pod(s, "train");
	burst_running(s, "train");
	burst_gone(s, "train");
	burst_nothing_left(s);
	assert_in_range(burst_newest(s)->ended_at - burst_newest(s)->launched_at, 1500 * 1000,
			1800 * 1000);
	burst_stop(s);
}

static void what_is_young_is_kept(void **state)
{
	struct burst_scene *s = burst_start(7315, "1000");

	(void)state;
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/burstpolicies/research",
		 json_pack("{s:{s:{s:s, s:s}}}", "spec", "scaleBack", "idleTimeout", "1m",
			   "minNodeLifetime", "8m"));
	burst_pod(s, "train");
	burst_running(s, "train");
	burst_gone(s, "train");
	burst_nothing_left(s);
	assert_in_range(burst_newest(s)->ended_at - burst_newest(s)->launched_at, 420 * 1000,
			600 * 1000);
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_ended_counts_by_what_it_cost),
		cmocka_unit_test(what_runs_too_long_is_ended_within_what_was_committed),
		cmocka_unit_test(what_is_paid_for_is_kept),
		cmocka_unit_test(what_is_young_is_kept),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
