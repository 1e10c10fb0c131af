/* test_nominated: tests pods for which kube-scheduler has already chosen a node
 * (nominatedNodeName). */
#include "base/str.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

/* Returns a world with node n1 (4 cpu) and free machine m2 (4 cpu). */
static struct world *start(struct arena *a)
{
	struct world *w = worlds_new(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_machine m = worlds_machine("m2", "small");

	world_put_node(w, &n);
	world_put_machine(w, &m);
	return w;
}

static struct world_pod nominate(struct arena *a, const char *name, const char *requests,
				 const char *node)
{
	struct world_pod p = worlds_pod(a, name, requests);

	p.nominated = node;
	return p;
}

static void add_pod(struct world *w, struct arena *a, const char *name, const char *requests,
		    const char *node)
{
	const struct world_pod p = nominate(a, name, requests, node);

	world_put_pod(w, &p);
}

/* Puts a pod with these requests that is bound to n1. */
static void fill(struct world *w, struct arena *a, const char *requests)
{
	struct world_pod p = worlds_pod(a, "there", requests);

	p.node = "n1";
	world_put_pod(w, &p);
}

static const char *said(struct world *w, struct arena *a, const char *pod)
{
	return worlds_pod_text(plan_make(w, 0, a), pod, a);
}

static void its_room_is_taken_before_others_have_their_turn(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = start(a);

	(void)state;
	add_pod(w, a, "a", "cpu=3", NULL);
	assert_string_equal(said(w, a, "a"), "node n1");
	add_pod(w, a, "b", "cpu=3", "n1");
	assert_string_equal(said(w, a, "b"), "node n1");
	assert_string_equal(said(w, a, "a"), "new 0 on m2");
	add_pod(w, a, "c", "cpu=1", NULL);
	assert_string_equal(said(w, a, "c"), "node n1");
}

static void one_whose_node_is_not_there_waits_like_others(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = start(a);
	struct world_node n = worlds_node(a, "n1");

	(void)state;
	add_pod(w, a, "a", "cpu=1", "gone");
	assert_string_equal(said(w, a, "a"), "node n1");
	n.unschedulable = true;
	world_put_node(w, &n);
	add_pod(w, a, "a", "cpu=1", "n1");
	assert_string_equal(said(w, a, "a"), "new 0 on m2");
}

static void one_that_may_preempt_waits_for_its_victims(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = start(a);
	struct world_pod p = nominate(a, "a", "cpu=3", "n1");

	(void)state;
	fill(w, a, "cpu=3");
	p.preempts = true;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "a"), "node n1");
	/* Pod a is going to preempt another pod. Pod b does not get the room of that other pod. */
	add_pod(w, a, "b", "cpu=1", NULL);
	assert_string_equal(said(w, a, "b"), "new 0 on m2");
}

static void one_that_has_no_room_there_is_placed_elsewhere_and_closes_the_node(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = start(a);

	(void)state;
	fill(w, a, "cpu=2");
	add_pod(w, a, "a", "cpu=3", "n1");
	add_pod(w, a, "b", "memory=1Gi", NULL);
	assert_string_equal(said(w, a, "a"), "new 0 on m2");
	/* As long as pod a waits, kube-scheduler counts it on n1, so n1 has no room for pod b. */
	assert_null(strstr(said(w, a, "b"), "node n1"));
}

static void one_that_the_node_does_not_suit_is_placed_elsewhere(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = start(a);
	struct world_node n = worlds_node(a, "n1");
	struct world_pod p = nominate(a, "a", "cpu=1", "n1");

	(void)state;
	n.taints = worlds_taints(a, "k=v:NoSchedule");
	world_put_node(w, &n);
	p.preempts = true;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "a"), "new 0 on m2");
}

static void several_need_room_together(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = start(a);

	(void)state;
	add_pod(w, a, "a", "cpu=2", "n1");
	add_pod(w, a, "b", "cpu=2", "n1");
	assert_string_equal(said(w, a, "a"), "node n1");
	assert_string_equal(said(w, a, "b"), "node n1");
	/* kube-scheduler counts each nominated pod against the others. So neither pod a nor pod b
	 * is bound to n1. */
	add_pod(w, a, "b", "cpu=3", "n1");
	assert_string_equal(said(w, a, "a"), "new 0 on m2");
	assert_null(strstr(said(w, a, "b"), "node n1"));
}

static void constraints_among_pods_of_one_node_promise_nothing_there(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = start(a);
	struct world_topology apart = {
		.kind = WORLD_APART, .key = WORLD_HOSTNAME, .pods = worlds_term(a, "app in (x)")};
	struct world_pod p = nominate(a, "a", "cpu=1", "n1"), q = nominate(a, "b", "cpu=1", "n1");

	(void)state;
	p.labels = q.labels = worlds_labels(a, "app=x");
	p.topology.v = &apart;
	p.topology.n = 1;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "a"), "node n1");
	world_put_pod(w, &q);
	assert_null(strstr(said(w, a, "a"), "node n1"));
	assert_null(strstr(said(w, a, "b"), "node n1"));
}

static void one_that_is_no_demand_counts_as_bound(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = start(a);
	struct world_pod p = nominate(a, "a", "cpu=3", "n1");

	(void)state;
	p.unschedulable = false;
	world_put_pod(w, &p);
	add_pod(w, a, "b", "cpu=2", NULL);
	assert_string_equal(said(w, a, "b"), "new 0 on m2");
	p.nominated = NULL;
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "b"), "node n1");
}

static void a_claim_on_its_way_has_a_name_too(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_claim c = worlds_claim(a, "c1", "m1"), d = worlds_claim(a, "c0", "m0");

	(void)state;
	world_put_claim(w, &c);
	world_put_claim(w, &d);
	add_pod(w, a, "a", "cpu=1", NULL);
	assert_string_equal(said(w, a, "a"), "claim c0");
	add_pod(w, a, "a", "cpu=1", "c1");
	assert_string_equal(said(w, a, "a"), "claim c1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_room_is_taken_before_others_have_their_turn),
		cmocka_unit_test(one_whose_node_is_not_there_waits_like_others),
		cmocka_unit_test(one_that_may_preempt_waits_for_its_victims),
		cmocka_unit_test(
			one_that_has_no_room_there_is_placed_elsewhere_and_closes_the_node),
		cmocka_unit_test(one_that_the_node_does_not_suit_is_placed_elsewhere),
		cmocka_unit_test(several_need_room_together),
		cmocka_unit_test(constraints_among_pods_of_one_node_promise_nothing_there),
		cmocka_unit_test(one_that_is_no_demand_counts_as_bound),
		cmocka_unit_test(a_claim_on_its_way_has_a_name_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
