/* Spending stays recorded when the policy is created anew, a clock is wrong, an instance runs too
 * long, or the work gets another name. */
#include "tests/unit/testing.h"

#include "base/data/json.h"
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"

#define POLICY "/apis/drover.dev/v1alpha1/burstpolicies/research"
#define LEDGER "/apis/drover.dev/v1alpha1/burstledgers/research"
#define HOUR_MS ((int64_t)3600 * 1000)

static void one_has_ended(struct burst_scene *s)
{
	burst_pod(s, "one");
	burst_running(s, "one");
	world_run(&s->w, 600 * 1000);
	burst_gone(s, "one");
	burst_nothing_left(s);
}

static void made_anew(struct burst_scene *s, const char *amount)
{
	world_do(&s->w, &s->w.host, "DELETE", POLICY, NULL);
	world_run(&s->w, 30 * 1000);
	burst_policy(&s->w, "[a, b]", amount);
}

static int64_t spent(struct burst_scene *s)
{
	OWN_JSON o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	int64_t micro;
	struct err e;

	assert_ok(money_parse(str_or(json_str_at(json_array_get(json_at(o, "status", "spend"), 0),
						 "spent"),
				     "0"),
			      &micro, &e),
		  &e);
	return micro;
}

/* The budget is 26 USD. The first instance has spent about 4, and a second one needs 23.34, which
 * is too much. */
static void a_policy_that_is_made_anew_has_spent_what_it_has(void **state)
{
	struct burst_scene *s = burst_start(7340, "26");

	(void)state;
	one_has_ended(s);
	assert_true(burst_settled(&s->w) > 3 * MONEY_UNIT);
	made_anew(s, "26");
	burst_pod(s, "two");
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 1);
	assert_in_range(spent(s), 3 * MONEY_UNIT, 10 * MONEY_UNIT);
	burst_stop(s);
}

/* The policy was deleted while its instance ran. The cost is recorded nevertheless. */
static void what_ends_after_its_policy_is_charged_to_its_name(void **state)
{
	struct burst_scene *s = burst_start(7341, "26");

	(void)state;
	burst_pod(s, "one");
	burst_running(s, "one");
	world_do(&s->w, &s->w.host, "DELETE", POLICY, NULL);
	burst_nothing_left(s);
	assert_true(burst_settled(&s->w) > 3 * MONEY_UNIT);
	burst_policy(&s->w, "[a, b]", "26");
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_stop(s);
}

static bool two_are_launched(void *arg)
{
	return ((struct burst_scene *)arg)->sky.cloud.launched == 2;
}

static void a_reset_lets_go_of_it_and_stays_on_record(void **state)
{
	struct burst_scene *s = burst_start(7342, "26");
	OWN_JSON o = NULL;
	const json_t *r;

	(void)state;
	/* Switch the check of S6 off, because it would also count the cost before the reset. */
	s->sky.bursts.budget = 0;
	one_has_ended(s);
	burst_pod(s, "two");
	world_run(&s->w, 300 * 1000);
	assert_int_equal(s->sky.cloud.launched, 1);
	world_do(&s->w, &s->w.host, "PATCH", LEDGER,
		 json_pack("{s:{s:{s:s, s:s, s:s}}}", "spec", "reset", "id", "1", "by", "jane",
			   "reason", "new fiscal year"));
	world_wait(&s->w, two_are_launched, s, 600, "another is launched");
	o = cluster_get(&s->w.host, "burstledgers.drover.dev/research");
	r = json_array_get(json_at(o, "status", "resets"), 0);
	assert_string_equal(json_str_at(r, "by"), "jane");
	assert_string_equal(json_str_at(r, "reason"), "new fiscal year");
	assert_int_equal(json_array_size(json_at(r, "amounts")), 1);
	assert_int_equal(json_array_size(json_at(o, "status", "rows")), 0);
	burst_stop(s);
}

static void to_tomorrow(struct burst_scene *s)
{
	const int64_t day = 24 * HOUR_MS;

	world_run(&s->w, day - loop_wall(s->w.loop) % day + 60 * 1000);
}

/* The budget of 26 USD a day suffices for one instance at a time; with what yesterday's instance
 * left of it, for two. The ledger alone has that, whichever replica leads. */
static void what_was_not_spent_is_there_the_next_day(void **state)
{
	struct burst_scene *s = burst_start(7345, "26");
	OWN_JSON o = NULL;
	int64_t amount;
	struct err e;

	(void)state;
	s->sky.bursts.budget = 0; /* S6 counts all days together. */
	world_do(&s->w, &s->w.host, "PATCH", POLICY,
		 json_pack("{s:{s:[{s:s,s:s,s:s,s:s}]}}", "spec", "budget", "scope", "Policy",
			   "amount", "26", "per", "Day", "carryOver", "1"));
	to_tomorrow(s);
	one_has_ended(s);
	burst_pod(s, "two");
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_gone(s, "two");
	to_tomorrow(s);
	burst_another_leads(s);
	burst_pod(s, "three");
	burst_pod(s, "four");
	burst_running(s, "three");
	burst_running(s, "four");
	assert_int_equal(s->sky.cloud.launched, 3);
	o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	assert_ok(money_parse(str_or(json_str_at(json_array_get(json_at(o, "status", "spend"), 0),
						 "amount"),
				     "0"),
			      &amount, &e),
		  &e);
	assert_int_equal(amount, 52 * MONEY_UNIT - burst_settled(&s->w));
	burst_pod(s, "five");
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 3);
	burst_stop(s);
}

/* The cloud does not answer for ten hours, past midnight: the instance cannot be ended, and each
 * day is charged for its own hours. */
static void what_runs_over_is_charged_to_the_day_in_which_it_does(void **state)
{
	struct burst_scene *s = burst_start(7343, "1000");
	const int64_t day = 24 * HOUR_MS;
	int64_t midnight, hours;

	(void)state;
	s->sky.bursts.budget = 0;
	burst_pod(s, "train");
	burst_running(s, "train");
	assert_in_range(spent(s), 23 * MONEY_UNIT, 24 * MONEY_UNIT);
	s->sky.cloud.deaf = true;
	midnight = (loop_wall(s->w.loop) / day + 1) * day;
	world_run(&s->w, midnight + 2 * HOUR_MS - loop_wall(s->w.loop));
	assert_in_range(spent(s), 40 * MONEY_UNIT, 44 * MONEY_UNIT);
	s->sky.cloud.deaf = false;
	burst_nothing_left(s);
	world_run(&s->w, 20 * 1000);
	hours = burst_newest(s)->ended_at - burst_newest(s)->launched_at;
	assert_in_range(burst_settled(&s->w), 20 * hours / 3600 * 1000,
			20 * (hours + 900 * 1000) / 3600 * 1000);
	assert_in_range(spent(s), 40 * MONEY_UNIT, 48 * MONEY_UNIT);
	burst_stop(s);
}

/* Drover's clock is a day ahead of or behind the host cluster's. */
static void a_wrong_clock_decides_on_nothing(void **state)
{
	static const int64_t by_ms[] = {24 * HOUR_MS, -24 * HOUR_MS};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct burst_scene *s = burst_start(7344 + i, "1000");

		burst_pod(s, "train");
		world_run(&s->w, 5000);
		world_kill(&s->w.replicas[s->w.nreplicas - 1]);
		loop_sim_set_clock(s->w.loop, by_ms[i]);
		http_mem_clock(s->w.net, -by_ms[i]);
		world_replica(&s->w);
		world_run(&s->w, 900 * 1000);
		assert_false(burst_is_claimed(s));
		assert_int_equal(s->sky.cloud.launched, 0);
		world_kill(&s->w.replicas[s->w.nreplicas - 1]);
		loop_sim_set_clock(s->w.loop, -by_ms[i]);
		http_mem_clock(s->w.net, 0);
		world_replica(&s->w);
		burst_running(s, "train");
		burst_stop(s);
	}
}

static void part_of(struct burst_scene *s, const char *pod, json_t *meta)
{
	OWN(arena) a = arena_new();

	burst_pod(s, pod);
	world_do(&s->w, &s->w.tenants[0], "PATCH",
		 arena_printf(a, "/api/v1/namespaces/default/pods/%s", pod),
		 json_pack("{s:o}", "metadata", meta));
}

static json_t *of_job(const char *name)
{
	return json_pack("{s:[{s:s, s:s, s:s, s:s, s:b}]}", "ownerReferences", "apiVersion",
			 "batch/v1", "kind", "Job", "name", name, "uid", "u-1", "controller", 1);
}

static json_t *said(const char *workload)
{
	return json_pack("{s:{s:s}}", "annotations", "drover.dev/workload", workload);
}

/* With scope Workload, a new pod of the same Job or of the same annotation must not get a budget of
 * its own. */
static void a_pod_that_is_made_anew_is_no_new_work(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct burst_scene *s = burst_start(7350 + i, "1000");

		world_do(&s->w, &s->w.host, "PATCH", POLICY,
			 json_pack("{s:{s:[{s:s, s:s, s:s}]}}", "spec", "budget", "scope",
				   "Workload", "amount", "26", "per", "Day"));
		part_of(s, "one", i ? said("sweep") : of_job("sweep"));
		burst_running(s, "one");
		world_run(&s->w, 600 * 1000);
		burst_gone(s, "one");
		burst_nothing_left(s);
		part_of(s, "two", i ? said("sweep") : of_job("sweep"));
		world_run(&s->w, 600 * 1000);
		assert_int_equal(s->sky.cloud.launched, 1);
		part_of(s, "three", i ? said("eval") : of_job("eval"));
		world_wait(&s->w, two_are_launched, s, 600, "other work is launched for");
		burst_stop(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_policy_that_is_made_anew_has_spent_what_it_has),
		cmocka_unit_test(what_ends_after_its_policy_is_charged_to_its_name),
		cmocka_unit_test(what_was_not_spent_is_there_the_next_day),
		cmocka_unit_test(a_reset_lets_go_of_it_and_stays_on_record),
		cmocka_unit_test(what_runs_over_is_charged_to_the_day_in_which_it_does),
		cmocka_unit_test(a_wrong_clock_decides_on_nothing),
		cmocka_unit_test(a_pod_that_is_made_anew_is_no_new_work),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
