/* BurstPolicies that launch only for approved work. */
#include "tests/unit/testing.h"

#include <string.h>
#include "base/arena.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"
#include "tests/world/leaving.h"

#define POLICY "/apis/drover.dev/v1alpha1/burstpolicies/research"
#define LEDGERS "/apis/drover.dev/v1alpha1/burstledgers"

/* Patches the policy so that it launches only for approved work, in one of two ways. */
static struct burst_scene *start(uint64_t seed, bool recommends)
{
	struct burst_scene *s = burst_start(seed, "1000");

	world_do(&s->w, &s->w.host, "PATCH", POLICY,
		 recommends ? json_pack("{s:{s:s}}", "spec", "mode", "Recommend")
			    : json_pack("{s:{s:{s:{s:s}}}}", "spec", "trigger", "guards",
					"approval", "Manual"));
	return s;
}

static void pause_policy(struct burst_scene *s, bool is)
{
	world_do(&s->w, &s->w.host, "PATCH", POLICY, json_pack("{s:{s:b}}", "spec", "paused", is));
}

/* Approves default/train of team-a now, in the ledger of that policy. */
static void approve(struct burst_scene *s, const char *policy)
{
	char at[STR_TIME_SIZE];

	world_do(&s->w, &s->w.host, "POST", LEDGERS,
		 json_pack("{s:s, s:s, s:{s:s}, s:{s:[{s:s, s:s, s:s, s:s}]}}", "apiVersion",
			   "drover.dev/v1alpha1", "kind", "BurstLedger", "metadata", "name", policy,
			   "spec", "approvals", "tenant", "team-a", "work", "default/train", "by",
			   "alice", "at", str_time(at, loop_wall(s->w.loop))));
}

/* Asserts that the policy waits for an approval, reports offer, cost and command, and launches
 * nothing. */
static void assert_waits(struct burst_scene *s)
{
	OWN_JSON o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	const json_t *d = json_array_get(json_at(o, "status", "decisions"), 0);

	assert_string_equal(json_str_at(d, "reason"), "ApprovalNeeded");
	assert_non_null(strstr(json_str_at(d, "message"),
			       "(1 x OnDemand gpu-8 in a for at most 23.333334 USD): drover "
			       "approve burst/research/team-a/default/train"));
	assert_string_equal(json_str_at(d, "zone"), "a");
	assert_int_equal(s->sky.cloud.launched, 0);
	assert_int_equal(store_count(s->w.host.store, "nodeclaims.drover.dev/"), 0);
}

static void is_launched_once_it_is_approved(uint64_t seed, bool recommends)
{
	struct burst_scene *s = start(seed, recommends);

	burst_pod(s, "train");
	world_run(&s->w, 1800 * 1000);
	assert_waits(s);
	approve(s, "another");
	world_run(&s->w, 600 * 1000);
	assert_waits(s);
	approve(s, "research");
	burst_another_leads(s);
	burst_running(s, "train");
	assert_int_equal(s->sky.cloud.launched, 1);
	assert_true(leaving_was_told(&s->w.tenants[0], "BurstChosen", "approved by alice"));
	burst_stop(s);
}

static void work_is_launched_once_it_is_approved(void **state)
{
	(void)state;
	is_launched_once_it_is_approved(8301, false);
}

static void a_recommendation_is_launched_once_it_is_approved(void **state)
{
	(void)state;
	is_launched_once_it_is_approved(8304, true);
}

/* The budget of 30 suffices for one instance. An approval counts for its work alone. */
static void beyond_the_budget_only_approved_work_is_launched(void **state)
{
	struct burst_scene *s = burst_start(8306, "30");
	OWN_JSON o = NULL;
	json_t *d;

	(void)state;
	s->sky.bursts.budget = 0; /* S6 has no approvals. */
	world_do(&s->w, &s->w.host, "PATCH", POLICY,
		 json_pack("{s:{s:[{s:s,s:s,s:s,s:s}]}}", "spec", "budget", "scope", "Policy",
			   "amount", "30", "per", "Day", "onExhausted", "RequireApproval"));
	burst_pod(s, "first");
	burst_running(s, "first");
	burst_pod(s, "train");
	world_run(&s->w, 600 * 1000);
	o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	d = json_array_get(json_at(o, "status", "decisions"), 0);
	assert_string_equal(json_str_at(d, "reason"), "ApprovalNeeded");
	assert_non_null(strstr(json_str_at(d, "message"), "leaves 6.666666, and the work is not "
							  "approved (1 x OnDemand gpu-8"));
	assert_int_equal(s->sky.cloud.launched, 1);
	approve(s, "research");
	burst_running(s, "train");
	assert_int_equal(s->sky.cloud.launched, 2);
	assert_true(leaving_was_told(&s->w.tenants[0], "BurstChosen", "approved by alice"));
	burst_pod(s, "third");
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 2);
	burst_stop(s);
}

static void an_approval_ends_after_a_day(void **state)
{
	struct burst_scene *s = start(8302, false);

	(void)state;
	pause_policy(s, true);
	burst_pod(s, "train");
	world_run(&s->w, 60 * 1000);
	approve(s, "research");
	world_run(&s->w, INT64_C(25) * 3600 * 1000);
	pause_policy(s, false);
	world_run(&s->w, 600 * 1000);
	assert_waits(s);
	burst_stop(s);
}

static void a_new_pod_of_the_same_name_is_not_approved(void **state)
{
	struct burst_scene *s = start(8303, false);

	(void)state;
	pause_policy(s, true);
	burst_pod(s, "train");
	world_run(&s->w, 60 * 1000);
	approve(s, "research");
	burst_gone(s, "train");
	world_run(&s->w, 60 * 1000);
	burst_pod(s, "train");
	pause_policy(s, false);
	world_run(&s->w, 600 * 1000);
	assert_waits(s);
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_launched_once_it_is_approved),
		cmocka_unit_test(a_recommendation_is_launched_once_it_is_approved),
		cmocka_unit_test(beyond_the_budget_only_approved_work_is_launched),
		cmocka_unit_test(an_approval_ends_after_a_day),
		cmocka_unit_test(a_new_pod_of_the_same_name_is_not_approved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
