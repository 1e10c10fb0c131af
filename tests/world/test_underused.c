/*
 * test_underused: a Node whose pods fit on another Node of their tenant is released, if the pool
 * requests that. Also tests the cases in which the Node is not released.
 */
#include "tests/unit/testing.h"

#include "base/str.h"
#include "controller/core/lookup.h"
#include "tests/world/leaving.h"

/* Creates a pod of a ReplicaSet with a GPU, bound to the machine's Node; notes: the pod's
 * annotations. */
static void put_web(struct server *b, const char *name, json_t *notes)
{
	json_t *pod = json_pack("{s:s,s:s,s:{s:s,s:s,s:[{s:s,s:s,s:s,s:s,s:b}]},"
				"s:{s:s,s:[{s:s,s:s,s:{s:{s:s}}}],s:[{s:s,s:s}]}}",
				"apiVersion", "v1", "kind", "Pod", "metadata", "name", name,
				"namespace", "default", "ownerReferences", "apiVersion", "apps/v1",
				"kind", "ReplicaSet", "name", "web", "uid", "web-1", "controller",
				1, "spec", "nodeName", b->claim, "containers", "name", "main",
				"image", "web:1", "resources", "limits", "nvidia.com/gpu", "1",
				"tolerations", "key", "nvidia.com/gpu", "operator", "Exists");

	if (notes)
		json_object_set_new(json_object_get(pod, "metadata"), "annotations", notes);
	world_do(b->world, &b->world->tenants[0], "POST", "/api/v1/namespaces/default/pods", pod);
}

/* Sets a consolidation time of one minute (the shortest interval measured) and a termination grace
 * period of five minutes. */
static void ask_for(struct sim_world *w, const char *policy)
{
	leaving_set_pool(w, json_pack("{s:{s:s,s:s,s:[{s:s}]},s:{s:{s:s}}}", "disruption",
				      "consolidationPolicy", policy, "consolidateAfter", "1m",
				      "budgets", "nodes", "1", "template", "spec",
				      "terminationGracePeriod", "5m"));
}

struct two {
	/* The machine with one pod, and the machine with two. */
	struct server *light, *heavy;
};

/* Starts two machines of team-a with small pods; the pods for which they were claimed are
 * deleted. */
static struct two start(struct sim_world *w, uint64_t seed, const char *policy, json_t *notes)
{
	struct two t;

	world_start(w, seed, 2);
	ask_for(w, policy);
	world_replica(w);
	world_pod(w, &w->tenants[0], "train");
	world_pod(w, &w->tenants[0], "other");
	world_wait_running(w, &w->tenants[0], "train", 900);
	world_wait_running(w, &w->tenants[0], "other", 900);
	world_wait_all(w, "serving", 60);
	t.light = world_box_of(w, &w->tenants[0], "train");
	t.heavy = world_box_of(w, &w->tenants[0], "other");
	put_web(t.light, "a", notes);
	put_web(t.heavy, "b", NULL);
	put_web(t.heavy, "c", NULL);
	world_delete_pod(w, &w->tenants[0], "train");
	world_delete_pod(w, &w->tenants[0], "other");
	return t;
}

static const char *condition_of(struct sim_world *w, struct arena *a, const struct server *b)
{
	world_run(w, 15000);
	return leaving_condition(w, a, b->claim, "Consolidatable");
}

static void a_node_whose_pods_have_room_elsewhere_is_given_back_by_a_pool_that_says_so(void **state)
{
	struct sim_world w;
	struct two t = start(&w, 811, "WhenEmpty", NULL);
	OWN(arena) a = arena_new();

	(void)state;
	world_run(&w, 200 * 1000);
	assert_string_equal(condition_of(&w, a, t.light), "");
	leaving_set_pool(&w, json_pack("{s:{s:s,s:[{s:s,s:[s]}]}}", "disruption",
				       "consolidationPolicy", "WhenEmptyOrUnderutilized", "budgets",
				       "nodes", "0", "reasons", "Underutilized"));
	assert_string_equal(condition_of(&w, a, t.light), "True Underutilized");
	assert_string_equal(condition_of(&w, a, t.heavy), "False ReceivesPods");
	world_run(&w, 200 * 1000);
	assert_string_equal(t.light->state, "serving");
	leaving_set_pool(&w, json_pack("{s:{s:[{s:s}]}}", "disruption", "budgets", "nodes", "1"));
	world_wait_state(t.light, "draining", 60);
	assert_string_equal(world_at(t.light, "status.leave.reason"), "Underutilized");
	leaving_wait_gone(&w, &w.tenants[0], "/pods/default/a", 60);
	world_wait_state(t.light, "free", 900);
	assert_string_equal(t.heavy->state, "serving");
	world_check_serving(&w, &w.tenants[0], "b");
	leaving_wait_event(&w, &w.host, "Draining", "Underutilized");
	world_stop(&w);
}

static void a_pod_that_may_not_be_disrupted_keeps_its_node_for_as_long_as_it_says(void **state)
{
	struct sim_world w;
	struct two t = start(&w, 813, "WhenEmptyOrUnderutilized",
			     json_pack("{s:s}", "drover.dev/do-not-disrupt", "40m"));
	OWN(arena) a = arena_new();

	(void)state;
	assert_string_equal(condition_of(&w, a, t.light), "False PodKeepsNode");
	/* The other machine leaves instead. */
	world_wait_state(t.heavy, "draining", 100);
	world_run(&w, 200 * 1000);
	assert_string_equal(t.light->state, "serving");
	world_stop(&w);
}

/* While a pod waits, no Node is released, because the machine would be claimed again at once.
 * Afterwards a Node is drained, but a disruption budget stops the eviction. Then the drain is
 * withdrawn, and no new one begins soon. */
static void what_its_tenant_needs_or_keeps_serves_on(void **state)
{
	static const char *const large[] = {"large-1", "large-2"};
	struct sim_world w;
	struct two t = start(&w, 814, "WhenEmptyOrUnderutilized", NULL);

	(void)state;
	for (size_t i = 0; i < 2; i++)
		world_pod(&w, &w.tenants[0], large[i]);
	world_run(&w, 200 * 1000);
	assert_string_equal(t.light->state, "serving");
	assert_string_equal(t.heavy->state, "serving");
	for (size_t i = 0; i < 2; i++)
		world_delete_pod(&w, &w.tenants[0], large[i]);
	leaving_budget(&w, "a");
	world_wait_state(t.light, "draining", 100);
	world_wait_state(t.light, "serving", 330);
	leaving_wait_event(&w, &w.host, "DrainWithdrawn", "terminationGracePeriod");
	world_check_serving(&w, &w.tenants[0], "a");
	world_run(&w, 300 * 1000);
	assert_string_equal(t.light->state, "serving");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_node_whose_pods_have_room_elsewhere_is_given_back_by_a_pool_that_says_so),
		cmocka_unit_test(
			a_pod_that_may_not_be_disrupted_keeps_its_node_for_as_long_as_it_says),
		cmocka_unit_test(what_its_tenant_needs_or_keeps_serves_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
