/* BurstPolicies of mode Enforce: each decision is launched once, and never beyond the budget. */
#include "tests/unit/testing.h"

#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"

/* The pool has no node limit, so the burst decision alone causes the launch. The offer that was
 * decided on is launched, although another zone is cheaper. */
static void what_is_decided_is_launched_and_comes_home(void **state)
{
	struct burst_scene *s = burst_start_in(7301, "[b]", "30");

	(void)state;
	burst_pod(s, "train");
	burst_running(s, "train");
	assert_int_equal(s->sky.cloud.launched, 1);
	assert_string_equal(burst_newest(s)->zone, "b");
	assert_string_equal(json_str_at(burst_newest(s)->tags, "drover.dev/policy"), "research");
	burst_gone(s, "train");
	burst_nothing_left(s);
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_stop(s);
}

/* Sets what an owned machine costs per hour, in USD. */
static void owned_costs(struct burst_scene *s, const char *price)
{
	OWN_JSON rack = cluster_get(&s->w.host, "providers.drover.dev/rack");
	json_t *types = json_deep_copy(json_at(rack, "spec", "instanceTypes"));

	json_object_set_new(json_array_get(types, 0), "pricePerHour", json_string(price));
	json_object_set_new(json_array_get(types, 0), "currency", json_string("USD"));
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/providers/rack",
		 json_pack("{s:{s:o}}", "spec", "instanceTypes", types));
}

static const char *why_of(const json_t *policy, const char *type)
{
	const json_t *c;
	size_t i;

	json_array_foreach (json_at(policy, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return json_str_at(c, "reason");
	return "";
}

/* An instance costs 2.50 per GPU and hour. A machine that costs 15 has a rate of 1.875, to which a
 * quarter is added; one of 16 has 2. */
static void no_offer_is_launched_beyond_the_premium(void **state)
{
	struct burst_scene *s = burst_start_in(7312, "[a]", "1000");
	OWN_JSON o = NULL;
	OWN_JSON then = NULL;
	const json_t *d;

	(void)state;
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/burstpolicies/research",
		 json_pack("{s:{s:{s:s}}}", "spec", "cost", "maxPremiumOverOnPrem", "0.25"));
	owned_costs(s, "15");
	burst_pod(s, "train");
	world_run(&s->w, 300 * 1000);
	o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	assert_string_equal(why_of(o, "Active"), "OnPremRateUnknown");
	world_apply(&s->w, "apiVersion: drover.dev/v1alpha1\nkind: Machine\n"
			   "metadata: {name: owned}\n"
			   "spec: {providerRef: {name: rack}, instanceType: gpu-8}\n");
	world_run(&s->w, 300 * 1000);
	then = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	d = json_array_get(json_at(then, "status", "decisions"), 0);
	assert_string_equal(json_str_at(json_array_get(json_at(d, "offers"), 0), "reason"),
			    "PremiumTooHigh");
	assert_int_equal(s->sky.cloud.launched, 0);
	owned_costs(s, "16");
	burst_running(s, "train");
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_stop(s);
}

static void set_paused(struct burst_scene *s, bool is)
{
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/burstpolicies/research",
		 json_pack("{s:{s:b}}", "spec", "paused", is));
}

static void a_paused_policy_launches_nothing_until_it_is_resumed(void **state)
{
	struct burst_scene *s = burst_start(7311, "1000");
	json_t *o;

	(void)state;
	set_paused(s, true);
	burst_pod(s, "train");
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 0);
	assert_int_equal(store_count(s->w.host.store, "nodeclaims.drover.dev/"), 0);
	o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	assert_non_null(strstr(
		json_str_at(json_array_get(json_at(o, "status", "conditions"), 0), "message"),
		"would launch"));
	json_decref(o);
	set_paused(s, false);
	burst_running(s, "train");
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_stop(s);
}

/* The budget suffices for one instance, however long the other pod waits and whichever replica
 * leads. */
static void a_spent_budget_refuses(void **state)
{
	struct burst_scene *s = burst_start(7302, "46");

	(void)state;
	burst_pod(s, "one");
	world_run(&s->w, 10 * 1000);
	burst_pod(s, "two");
	burst_running(s, "one");
	world_run(&s->w, 120 * 1000);
	burst_another_leads(s);
	world_run(&s->w, 200 * 1000);
	assert_int_equal(s->sky.cloud.launched, 1);
	assert_int_equal(store_count(s->w.host.store, "nodeclaims.drover.dev/"), 1);
	burst_stop(s);
}

static void a_leader_that_dies_launches_nothing_twice(void **state)
{
	static bool (*const when[])(void *) = {burst_is_claimed, burst_was_launched};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct burst_scene *s = burst_start(7303 + i, "1000");

		s->sky.cloud.visible_ms = 20000;
		burst_pod(s, "train");
		world_wait(&s->w, when[i], s, 1200, "the claim, or its launch");
		burst_another_leads(s);
		burst_running(s, "train");
		world_run(&s->w, 300 * 1000);
		assert_int_equal(s->sky.cloud.launched, 1);
		burst_stop(s);
	}
}

static void a_lost_reply_launches_nothing_twice(void **state)
{
	struct burst_scene *s = burst_start(7305, "1000");

	(void)state;
	s->sky.cloud.lose_launches = 1;
	s->sky.cloud.visible_ms = 8000;
	burst_pod(s, "train");
	burst_running(s, "train");
	burst_gone(s, "train");
	burst_nothing_left(s);
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_stop(s);
}

/* The cloud answers slowly. So the pod is deleted before the launch, and the launch becomes due
 * before drover has withdrawn the claim. */
static void nothing_is_launched_for_a_pod_that_has_gone(void **state)
{
	struct burst_scene *s = burst_start(7306, "1000");

	(void)state;
	burst_pod(s, "train");
	world_wait(&s->w, burst_is_claimed, s, 1200, "the claim");
	s->sky.cloud.ms = 14000;
	world_run(&s->w, 1000);
	burst_gone(s, "train");
	burst_nothing_left(s);
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 0);
	burst_stop(s);
}

/* Zone a refuses: drover avoids that offer and deletes its claim, and the next decision chooses
 * zone b. */
static void what_is_refused_is_decided_anew(void **state)
{
	struct burst_scene *s = burst_start(7307, "30");

	(void)state;
	s->sky.cloud.zones[0].capacity = 0;
	burst_pod(s, "train");
	burst_running(s, "train");
	assert_string_equal(burst_newest(s)->zone, "b");
	assert_int_equal(s->sky.cloud.asked, 2);
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_stop(s);
}

static bool quota_is_told(void *arg)
{
	struct burst_scene *s = arg;
	OWN_JSON p = cluster_get(&s->w.host, "providers.drover.dev/sky");
	const json_t *row = json_array_get(json_at(p, "status", "refusals"), 0);

	return str_eq(json_str_at(row, "message"), "the cloud says no") &&
	       json_is_true(json_object_get(row, "quota")) && !json_object_get(row, "zone");
}

/* A quota is used up. quotaCooldown (default 6h) is still observed after the leader has died. */
static void a_new_leader_knows_what_was_refused(void **state)
{
	struct burst_scene *s = burst_start(7318, "1000");

	(void)state;
	s->sky.cloud.error = "quota";
	burst_pod(s, "train");
	world_wait(&s->w, quota_is_told, s, 1200, "the refusal in the Provider's status");
	burst_another_leads(s);
	s->sky.cloud.error = NULL;
	world_run(&s->w, INT64_C(5) * 3600 * 1000);
	assert_int_equal(s->sky.cloud.asked, 1);
	world_run(&s->w, INT64_C(1) * 3600 * 1000);
	burst_running(s, "train");
	assert_int_equal(s->sky.cloud.asked, 2);
	burst_stop(s);
}

/* The instance is launched for the work that the policy decided on. A pod without a policy has
 * waited longer, and its pool allows it no instance of its own: this pod must not run on the
 * instance. */
static void only_the_work_that_was_decided_on_has_the_instance(void **state)
{
	struct burst_scene *s = burst_start(7310, "1000");
	OWN_JSON o = NULL;

	(void)state;
	world_pod(&s->w, &s->w.tenants[1], "other");
	world_run(&s->w, 5000);
	burst_pod(s, "train");
	burst_running(s, "train");
	world_run(&s->w, 300 * 1000);
	o = cluster_get(&s->w.tenants[1], "pods/default/other");
	assert_null(json_at(o, "spec", "nodeName"));
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_stop(s);
}

/* The price rises between decision and launch, so that the cost would exceed the budget. */
static void nothing_dearer_is_launched(void **state)
{
	struct burst_scene *s = burst_start_in(7316, "[a]", "24");

	(void)state;
	burst_pod(s, "train");
	world_wait(&s->w, burst_is_claimed, s, 1200, "the claim");
	s->sky.cloud.deaf = true;
	s->sky.cloud.zones[0].micros = 21000000;
	world_run(&s->w, 70 * 1000);
	s->sky.cloud.deaf = false;
	burst_nothing_left(s);
	world_run(&s->w, 120 * 1000);
	assert_int_equal(s->sky.cloud.asked, 0);
	burst_stop(s);
}

static void a_reservation_is_launched_by_its_name(void **state)
{
	struct burst_scene *s = burst_start(7317, "30");

	(void)state;
	s->sky.cloud.zones[0].reservation = "cr-1";
	s->sky.cloud.zones[0].micros = 25000000;
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/burstpolicies/research",
		 json_pack("{s:{s:[{s:s}]}}", "spec", "tiers", "market", "Reserved"));
	burst_pod(s, "train");
	burst_running(s, "train");
	assert_string_equal(burst_newest(s)->zone, "a");
	burst_stop(s);
}

/* In mode Shadow the policy reports what it would launch; after the change to Enforce it launches
 * that, and reports so. */
static void a_shadow_becomes_the_policy(void **state)
{
	static const char *const modes[] = {"Shadow", "Enforce"};
	static const char *const says[] = {"Shadow: would launch 1 x OnDemand gpu-8 in a",
					   "Enforce: launches 1 x OnDemand gpu-8 in a"};
	struct burst_scene *s = burst_start(7320, "30");

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		OWN_JSON o = NULL;
		const char *text;

		assert_int_equal(s->sky.cloud.asked, 0);
		world_do(&s->w, &s->w.host, "PATCH",
			 "/apis/drover.dev/v1alpha1/burstpolicies/research",
			 json_pack("{s:{s:s}}", "spec", "mode", modes[i]));
		if (!i)
			burst_pod(s, "train");
		world_run(&s->w, 120 * 1000);
		o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
		text = json_str_at(json_array_get(json_at(o, "status", "decisions"), 0), "message");
		assert_non_null(strstr(str_or(text, ""), says[i]));
	}
	burst_running(s, "train");
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_stop(s);
}

static void what_fits_no_instance_has_none(void **state)
{
	struct burst_scene *s = burst_start(7319, "30");
	OWN_JSON o = NULL;
	const json_t *row;

	(void)state;
	burst_unfit_pod(s, "arm");
	world_run(&s->w, 200 * 1000);
	o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	row = json_array_get(json_at(o, "status", "decisions"), 0);
	assert_string_equal(json_str_at(row, "reason"), "NotPlaced");
	assert_string_equal(json_str_at(json_array_get(json_at(o, "status", "spend"), 0), "spent"),
			    "0.00");
	assert_int_equal(store_count(s->w.host.store, "nodeclaims.drover.dev/"), 0);
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_decided_is_launched_and_comes_home),
		cmocka_unit_test(no_offer_is_launched_beyond_the_premium),
		cmocka_unit_test(a_paused_policy_launches_nothing_until_it_is_resumed),
		cmocka_unit_test(a_spent_budget_refuses),
		cmocka_unit_test(a_leader_that_dies_launches_nothing_twice),
		cmocka_unit_test(a_lost_reply_launches_nothing_twice),
		cmocka_unit_test(nothing_is_launched_for_a_pod_that_has_gone),
		cmocka_unit_test(what_is_refused_is_decided_anew),
		cmocka_unit_test(a_new_leader_knows_what_was_refused),
		cmocka_unit_test(nothing_dearer_is_launched),
		cmocka_unit_test(a_reservation_is_launched_by_its_name),
		cmocka_unit_test(a_shadow_becomes_the_policy),
		cmocka_unit_test(what_fits_no_instance_has_none),
		cmocka_unit_test(only_the_work_that_was_decided_on_has_the_instance),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
