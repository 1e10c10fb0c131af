/* test_devices: tests what resource claims require of a node, and which resource claims keep their
 * pod out of the planner's queue. */
#include "base/str.h"
#include "tests/unit/planner/worlds.h"
#include "tests/unit/testing.h"

#include <stdlib.h>

#define PRODUCT "nvidia.com/gpu.product"
#define CHANNEL ":channel of its ComputeDomain"

static void add_machine(struct world *w, struct arena *a, const char *name, const char *product)
{
	struct world_machine m = worlds_machine(name, "gpu");

	m.labels = worlds_labels(a, arena_printf(a, PRODUCT "=%s", product));
	world_put_machine(w, &m);
}

static const char *said(struct world *w, struct arena *a, const char *pod)
{
	return worlds_pod_text(plan_make(w, 0, a), pod, a);
}

static void a_claim_chooses_the_machine_and_the_node(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "p", "nvidia.com/gpu=4");
	struct world_node n = worlds_node(a, "n1");

	(void)state;
	add_machine(w, a, "m1", "l4");
	add_machine(w, a, "m2", "b200");
	p.devices = worlds_term(a, PRODUCT " in (b200)");
	world_put_pod(w, &p);
	assert_string_equal(said(w, a, "p"), "new 0 on m2");
	n.allocatable = worlds_resources(a, "cpu=4,memory=8Gi,pods=10,nvidia.com/gpu=8");
	n.labels = worlds_labels(a, PRODUCT "=l4");
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"), "new 0 on m2");
	n.labels = worlds_labels(a, PRODUCT "=b200");
	world_put_node(w, &n);
	assert_string_equal(said(w, a, "p"), "node n1");
	p.devices = worlds_term(a, PRODUCT " in (b300)");
	world_put_pod(w, &p);
	assert_non_null(strstr(said(w, a, "p"), "nothing; RequirementsNotMet: pool main: "));
	assert_non_null(strstr(said(w, a, "p"), "resource claims: " PRODUCT " In (b300)"));
}

static void a_pod_whose_claims_are_not_there_has_no_place(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "p", "nvidia.com/gpu=1"),
			 q = worlds_pod(a, "q", "nvidia.com/gpu=1");
	const struct plan *plan;

	(void)state;
	add_machine(w, a, "m1", "l4");
	p.device_wait = "resource claim gpu: ResourceClaim x does not exist";
	world_put_pod(w, &p);
	world_put_pod(w, &q);
	plan = plan_make(w, 0, a);
	assert_string_equal(
		worlds_pod_text(plan, "p", a),
		"nothing; DeviceNotReady: resource claim gpu: ResourceClaim x does not exist");
	assert_string_equal(worlds_pod_text(plan, "q", a), "new 0 on m1");
	assert_int_equal(plan->pods[0].place + plan->pods[1].place, 1);
}

/* A node has exactly one channel, just as it has each host port once. */
static void two_channels_are_on_two_machines(void **state)
{
	OWN(arena) a = arena_new();
	OWN(world) w = worlds_new(a);
	struct world_pod p = worlds_pod(a, "p", "nvidia.com/gpu=1," CHANNEL "=1"),
			 q = worlds_pod(a, "q", "nvidia.com/gpu=1," CHANNEL "=1");
	const struct plan *plan;

	(void)state;
	add_machine(w, a, "m1", "gb200");
	add_machine(w, a, "m2", "gb200");
	world_put_pod(w, &p);
	world_put_pod(w, &q);
	plan = plan_make(w, 0, a);
	assert_string_equal(worlds_pod_text(plan, "p", a), "new 0 on m1");
	assert_string_equal(worlds_pod_text(plan, "q", a), "new 1 on m2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claim_chooses_the_machine_and_the_node),
		cmocka_unit_test(a_pod_whose_claims_are_not_there_has_no_place),
		cmocka_unit_test(two_channels_are_on_two_machines),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
