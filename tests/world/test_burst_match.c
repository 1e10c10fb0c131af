/* BurstPolicies that select some of a tenant's pods. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "tests/world/sky.h"
#include "tests/world/world.h"

#define POLICY "/apis/drover.dev/v1alpha1/burstpolicies/research"

struct scene {
	struct sim_world w;
	struct sky sky;
};

/* Starts a world with a cloud, a pool of at most three nodes, and a policy in mode Shadow with this
 * spec.match. */
static struct scene *start(uint64_t seed, const char *match)
{
	struct scene *s = mem_new(struct scene);
	OWN(arena) a = arena_new();

	world_start(&s->w, seed, 0);
	sky_start(&s->sky, &s->w, "3");
	world_apply(
		&s->w,
		arena_printf(a,
			     "apiVersion: drover.dev/v1alpha1\nkind: BurstPolicy\n"
			     "metadata: {name: research}\n"
			     "spec:\n  match: %s\n  trigger: {maxQueueWait: {default: 1m}}\n"
			     "  tiers: [{market: OnDemand}]\n"
			     "  offers: [{name: sky, provider: sky, regions: [r1], instanceTypes: "
			     "[gpu-8]}]\n"
			     "  cost: {currency: USD}\n  runtime: {maxRuntime: 1h}\n"
			     "  budget: [{scope: Policy, amount: '100', per: Day}]\n",
			     match));
	world_replica(&s->w);
	return s;
}

static void stop(struct scene *s)
{
	sky_stop(&s->sky);
	world_stop(&s->w);
	free(s);
}

static void pod(struct scene *s, const char *name, const char *key, const char *value)
{
	world_pod_with(&s->w, &s->w.tenants[0], name, json_pack("{s:s}", key, value), NULL);
}

/* Asserts that the pod waits, and that the policy would launch an instance for it. */
static void assert_decided(struct scene *s, const char *name)
{
	OWN_JSON policy = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	const json_t *rows = json_at(policy, "status", "decisions");
	OWN(arena) a = arena_new();
	OWN_JSON o = cluster_get(&s->w.tenants[0], arena_printf(a, "pods/default/%s", name));

	assert_non_null(o);
	assert_null(json_at(o, "spec", "nodeName"));
	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(json_str_at(json_array_get(rows, 0), "work"),
			    arena_printf(a, "default/%s", name));
	assert_string_equal(json_str_at(json_array_get(rows, 0), "reason"), "Chosen");
}

static void running(struct scene *s, const char *name)
{
	world_wait_running(&s->w, &s->w.tenants[0], name, 1800);
}

/* The pool launches by its limits.nodes for the pod that the policy does not select. Once the
 * policy selects other namespaces only, the pool launches for the first pod too. */
static void the_pool_launches_for_pods_that_no_policy_selects(void **state)
{
	struct scene *s = start(8801, "{workloadSelector: {matchLabels: {team: vision}}}");

	(void)state;
	pod(s, "other", "team", "language");
	running(s, "other");
	pod(s, "mine", "team", "vision");
	world_run(&s->w, 600 * 1000);
	assert_decided(s, "mine");
	assert_int_equal(s->sky.cloud.launched, 1);
	world_do(&s->w, &s->w.host, "PATCH", POLICY,
		 json_pack("{s:{s:{s:[s]}}}", "spec", "match", "namespaces", "elsewhere"));
	running(s, "mine");
	assert_int_equal(s->sky.cloud.launched, 2);
	stop(s);
}

static void a_policy_selects_by_namespace_and_queue(void **state)
{
	struct scene *s = start(8802, "{namespaces: [default], queues: [batch]}");

	(void)state;
	pod(s, "other", "kueue.x-k8s.io/queue-name", "serving");
	running(s, "other");
	pod(s, "mine", "kueue.x-k8s.io/queue-name", "batch");
	world_run(&s->w, 600 * 1000);
	assert_decided(s, "mine");
	assert_int_equal(s->sky.cloud.launched, 1);
	stop(s);
}

/* The policy decides on the gang only if it selects all of its pods. */
static void a_policy_selects_whole_gangs(void **state)
{
	struct scene *s =
		start(8803, "{workloadSelector: {matchExpressions: [{key: team, operator: "
			    "In, values: [vision]}]}}");
	static const char *const teams[] = {"vision", "language"};
	OWN_JSON o = NULL;

	(void)state;
	for (int i = 0; i < 2; i++)
		world_pod_with(&s->w, &s->w.tenants[0], i ? "ring-1" : "ring-0",
			       json_pack("{s:s}", "team", teams[i]),
			       json_pack("{s:s, s:s}", "drover.dev/gang", "ring",
					 "drover.dev/gang-size", "2"));
	world_run(&s->w, 300 * 1000);
	o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	assert_int_equal(json_array_size(json_at(o, "status", "decisions")), 0);
	assert_int_equal(s->sky.cloud.launched, 0);
	stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pool_launches_for_pods_that_no_policy_selects),
		cmocka_unit_test(a_policy_selects_by_namespace_and_queue),
		cmocka_unit_test(a_policy_selects_whole_gangs),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
