/* The main job: GPU pods of two tenants, on machines that were off; and what follows when they are done. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/world.h"

static void a_pod_of_each_tenant_runs_on_a_machine_of_its_own(void **state)
{
	struct earth w;
	struct box *a, *b;

	(void)state;
	earth_start(&w, 1, 2);
	earth_replica(&w);
	earth_wait_all(&w, "free", 600);
	assert_false(w.boxes[0].bmc.on || w.boxes[1].bmc.on);
	earth_pod(&w, &w.tenants[0], "train");
	earth_pod(&w, &w.tenants[1], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 600);
	earth_wait_running(&w, &w.tenants[1], "train", 600);
	earth_run(&w, 60000);
	earth_check_serving(&w, &w.tenants[0], "train");
	earth_check_serving(&w, &w.tenants[1], "train");
	a = earth_box_of(&w, &w.tenants[0], "train");
	b = earth_box_of(&w, &w.tenants[1], "train");
	assert_ptr_not_equal(a, b);
	earth_stop(&w);
}

static void a_released_machine_is_wiped_and_serves_the_other_tenant(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	int64_t tenancy;

	(void)state;
	earth_start(&w, 2, 1);
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 900);
	earth_run(&w, 10000);
	tenancy = b->tenancy;
	assert_false(box_is_blank(b));
	earth_release(b);
	earth_wait_state(b, "draining", 60);
	earth_wait_state(b, "free", 600);
	assert_true(box_is_blank(b));
	earth_pod(&w, &w.tenants[1], "next");
	earth_wait_running(&w, &w.tenants[1], "next", 900);
	earth_run(&w, 10000);
	earth_check_serving(&w, &w.tenants[1], "next");
	assert_true(b->tenancy == tenancy + 1);
	earth_stop(&w);
}

/* With one machine the second pod waits, is told why, and is served when the first has gone. */
static void a_pod_waits_for_the_machine_that_another_tenant_has(void **state)
{
	struct earth w;

	(void)state;
	earth_start(&w, 3, 1);
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 900);
	earth_pod(&w, &w.tenants[1], "later");
	earth_run(&w, 1800 * 1000);
	earth_check_serving(&w, &w.tenants[0], "train");
	assert_string_equal(w.boxes[0].state, "serving");
	earth_delete_pod(&w, &w.tenants[0], "train");
	earth_release(&w.boxes[0]);
	earth_wait_running(&w, &w.tenants[1], "later", 1200);
	earth_stop(&w);
}

/* The node controller takes its taint off a while after Ready: until then the machine is not full,
 * it is on its way, and the pod that waits for it gets no second one. */
static void a_node_that_takes_no_pods_yet_is_still_on_its_way(void **state)
{
	struct earth w;
	struct box *b;
	char path[200];

	(void)state;
	earth_start(&w, 4, 2);
	earth_replica(&w);
	earth_wait_all(&w, "free", 600);
	w.boxes[0].lingering = w.boxes[1].lingering = "node.kubernetes.io/not-ready";
	earth_pod(&w, &w.tenants[0], "train");
	earth_run(&w, 300 * 1000);
	b = str_eq(w.boxes[0].state, "free") ? &w.boxes[1] : &w.boxes[0];
	assert_string_equal(b->state, "gating");
	str_format(path, sizeof(path), "/api/v1/nodes/%s", b->node_name);
	earth_do(&w, &w.tenants[0], "PATCH", path,
		 json_pack("{s:{s:[{s:s,s:s},{s:s,s:s}]}}", "spec", "taints", "key",
			   "drover.dev/unregistered", "effect", "NoSchedule", "key",
			   "nvidia.com/gpu", "effect", "NoSchedule"));
	earth_wait_running(&w, &w.tenants[0], "train", 120);
	earth_run(&w, 60000);
	earth_check_serving(&w, &w.tenants[0], "train");
	assert_string_equal((b == &w.boxes[0] ? &w.boxes[1] : &w.boxes[0])->state, "free");
	earth_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_of_each_tenant_runs_on_a_machine_of_its_own),
		cmocka_unit_test(a_released_machine_is_wiped_and_serves_the_other_tenant),
		cmocka_unit_test(a_pod_waits_for_the_machine_that_another_tenant_has),
		cmocka_unit_test(a_node_that_takes_no_pods_yet_is_still_on_its_way),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
