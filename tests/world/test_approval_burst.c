/* Cloud claims of a BurstPolicy that wait for an approval: no time of theirs runs meanwhile. */
#include "tests/unit/testing.h"

#include "base/mem.h"
#include "tests/world/approving.h"
#include "tests/world/burst_scene.h"

/* The wait is longer than the runtime that the policy pays for and than the time within which a
 * gang has to be Ready. The tenant pays for the time after it. */
static void no_time_runs_before_the_approval(void **state)
{
	struct burst_scene *s = burst_start(7701, "150");
	OWN_JSON first = NULL;
	OWN_JSON later = NULL;

	(void)state;
	approving_ask(&s->w, json_pack("{s:s}", "claims", "Manual"));
	world_gang_pod(&s->w, &s->w.tenants[0], "ring-0", "ring", "2");
	world_gang_pod(&s->w, &s->w.tenants[0], "ring-1", "ring", "2");
	world_wait(&s->w, burst_is_claimed, s, 600, "a claim");
	approving_wait(&s->w, "ApprovalPending");
	world_run(&s->w, 10 * 1000);
	first = approving_first(&s->w);
	world_run(&s->w, 6 * 3600 * 1000);
	later = approving_first(&s->w);
	assert_string_equal(json_str_at(first, "metadata", "uid"),
			    json_str_at(later, "metadata", "uid"));
	assert_int_equal(store_count(s->w.host.store, APPROVING_CLAIMS), 2);
	assert_int_equal(s->sky.cloud.asked, 0);
	approving_decide_first(&s->w, "Approved");
	burst_running(s, "ring-0");
	burst_running(s, "ring-1");
	assert_int_equal(s->sky.cloud.launched, 2);
	world_run(&s->w, 30 * 60 * 1000);
	assert_int_equal(fake_cloud_alive(&s->sky.cloud), 2);
	burst_gone(s, "ring-0");
	burst_gone(s, "ring-1");
	burst_nothing_left(s);
	assert_in_range(burst_settled(&s->w), 1, 2 * 23333334);
	burst_stop(s);
}

static bool are_two(void *arg)
{
	struct burst_scene *s = arg;

	return store_count(s->w.host.store, APPROVING_CLAIMS) == 2;
}

/* The budget is enough for one instance. A claim that was denied does not use it. */
static void a_denied_launch_is_not_charged(void **state)
{
	struct burst_scene *s = burst_start(7702, "30");

	(void)state;
	approving_ask(&s->w, json_pack("{s:s}", "claims", "Manual"));
	burst_pod(s, "train");
	world_wait(&s->w, burst_is_claimed, s, 600, "a claim");
	approving_wait(&s->w, "ApprovalPending");
	approving_decide_first(&s->w, "Denied");
	approving_wait(&s->w, "ClaimDenied");
	burst_pod(s, "other");
	world_wait(&s->w, are_two, s, 600, "a claim for the other pod");
	assert_int_equal(s->sky.cloud.asked, 0);
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_time_runs_before_the_approval),
		cmocka_unit_test(a_denied_launch_is_not_charged),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
