/* Work that was interrupted too often, or that saves its state too rarely, gets no spot
 * instances. */
#include "tests/unit/testing.h"

#include "base/mem.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"

#define POLICY "/apis/drover.dev/v1alpha1/burstpolicies/research"

/* Starts a world whose cloud has only spot instances, for work that was never interrupted. */
static struct burst_scene *start(uint64_t seed)
{
	struct burst_scene *s = burst_start_in(seed, "[a]", "1000");

	s->sky.cloud.zones[0].spot = true;
	world_do(&s->w, &s->w.host, "PATCH", POLICY,
		 json_pack("{s:{s:[{s:s}], s:{s:i, s:{s:b}}}}", "spec", "tiers", "market", "Spot",
			   "runtime", "maxRestarts", 0, "spotNeeds", "checkpointable", 0));
	return s;
}

/* Creates a pod of the workload, as its controller does. */
static void pod(struct burst_scene *s, const char *name, const char *workload)
{
	world_pod_with(&s->w, &s->w.tenants[0], name, NULL,
		       json_pack("{s:s}", "drover.dev/workload", workload));
}

/* Asserts that the work got no offer, for that reason. */
static void assert_refused_for(struct burst_scene *s, const char *work, const char *reason)
{
	OWN_JSON o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	const json_t *row = json_array_get(json_at(o, "status", "decisions"), 0);

	assert_string_equal(json_str_at(row, "work"), work);
	assert_string_equal(json_str_at(row, "reason"), "NoOffer");
	assert_string_equal(json_str_at(json_array_get(json_at(row, "offers"), 0), "reason"),
			    reason);
}

static void assert_refused(struct burst_scene *s, const char *work)
{
	assert_refused_for(s, work, "TooManyRestarts");
}

static size_t restarts(struct burst_scene *s)
{
	OWN_JSON o = cluster_get(&s->w.host, "burstledgers.drover.dev/research");

	return json_array_size(json_at(o, "status", "restarts"));
}

/* The cloud ends the instance while its pod runs. A new leader remembers that; other work still
 * gets spot instances. */
static void interrupted_work_gets_no_more_spot(void **state)
{
	struct burst_scene *s = start(8811);

	(void)state;
	pod(s, "train-0", "train");
	burst_running(s, "train-0");
	fake_cloud_kill((struct fake_instance *)burst_newest(s));
	burst_nothing_left(s);
	assert_int_equal(restarts(s), 1);
	burst_another_leads(s);
	pod(s, "train-1", "train");
	world_run(&s->w, 300 * 1000);
	assert_refused(s, "default/train-1");
	assert_int_equal(s->sky.cloud.launched, 1);
	pod(s, "eval-0", "eval");
	burst_running(s, "eval-0");
	assert_int_equal(s->sky.cloud.launched, 2);
	burst_stop(s);
}

static void work_that_ended_was_not_interrupted(void **state)
{
	struct burst_scene *s = start(8812);

	(void)state;
	for (unsigned i = 1; i < 3; i++) {
		pod(s, "train", "train");
		burst_running(s, "train");
		burst_gone(s, "train");
		burst_nothing_left(s);
		assert_int_equal(s->sky.cloud.launched, i);
	}
	assert_int_equal(restarts(s), 0);
	burst_stop(s);
}

/* The policy's time ends while the pod runs. */
static void work_that_is_ended_by_the_policy_was_interrupted(void **state)
{
	struct burst_scene *s = start(8813);

	(void)state;
	pod(s, "train", "train");
	burst_running(s, "train");
	burst_nothing_left(s);
	assert_int_equal(restarts(s), 1);
	burst_stop(s);
}

static void restarts_of_a_jobset_count(void **state)
{
	struct burst_scene *s = start(8814);

	(void)state;
	world_pod_with(&s->w, &s->w.tenants[0], "train",
		       json_pack("{s:s}", "jobset.sigs.k8s.io/restart-attempt", "1"), NULL);
	world_run(&s->w, 300 * 1000);
	assert_refused(s, "default/train");
	assert_int_equal(s->sky.cloud.launched, 0);
	burst_stop(s);
}

/* Creates a pod of a gang of two. interval: how often it saves its state; NULL: not declared. */
static void pair(struct burst_scene *s, const char *name, const char *interval)
{
	world_pod_with(&s->w, &s->w.tenants[0], name, NULL,
		       json_pack("{s:s, s:s, s:s*}", "drover.dev/gang", "pair",
				 "drover.dev/gang-size", "2", "drover.dev/checkpoint-interval",
				 interval));
}

static void saves_every(struct burst_scene *s, const char *name, const char *interval)
{
	world_pod_with(&s->w, &s->w.tenants[0], name, NULL,
		       json_pack("{s:s}", "drover.dev/checkpoint-interval", interval));
}

/* The pod that saves its state most rarely counts for its gang, and all pods must declare how
 * often. */
static void work_that_would_lose_too_much_gets_no_spot(void **state)
{
	struct burst_scene *s = start(8815);

	(void)state;
	world_do(&s->w, &s->w.host, "PATCH", POLICY,
		 json_pack("{s:{s:{s:{s:s}}}}", "spec", "runtime", "spotNeeds", "maxLostWork",
			   "30m"));
	pair(s, "pair-0", "5m");
	pair(s, "pair-1", NULL);
	world_run(&s->w, 300 * 1000);
	assert_refused_for(s, "default/gangs/pair", "LostWorkUnknown");
	saves_every(s, "rare", "31m");
	world_run(&s->w, 300 * 1000);
	assert_refused_for(s, "default/rare", "LostWorkTooLarge");
	assert_int_equal(s->sky.cloud.launched, 0);
	saves_every(s, "often", "30m");
	burst_running(s, "often");
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupted_work_gets_no_more_spot),
		cmocka_unit_test(work_that_ended_was_not_interrupted),
		cmocka_unit_test(work_that_is_ended_by_the_policy_was_interrupted),
		cmocka_unit_test(restarts_of_a_jobset_count),
		cmocka_unit_test(work_that_would_lose_too_much_gets_no_spot),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
