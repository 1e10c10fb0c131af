/* The main use case: GPU pods of two tenants on machines that were off, and what follows when the
 * pods end. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

static void a_pod_of_each_tenant_runs_on_a_machine_of_its_own(void **state)
{
	struct sim_world w;
	struct server *a, *b;

	(void)state;
	world_start(&w, 1, 2);
	world_replica(&w);
	world_wait_all(&w, "free", 600);
	assert_false(w.servers[0].bmc.on || w.servers[1].bmc.on);
	world_pod(&w, &w.tenants[0], "train");
	world_pod(&w, &w.tenants[1], "train");
	world_wait_running(&w, &w.tenants[0], "train", 600);
	world_wait_running(&w, &w.tenants[1], "train", 600);
	world_run(&w, 60000);
	world_check_serving(&w, &w.tenants[0], "train");
	world_check_serving(&w, &w.tenants[1], "train");
	a = world_box_of(&w, &w.tenants[0], "train");
	b = world_box_of(&w, &w.tenants[1], "train");
	assert_ptr_not_equal(a, b);
	world_stop(&w);
}

static void a_released_machine_is_wiped_and_serves_the_other_tenant(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t tenancy;

	(void)state;
	world_start(&w, 2, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_run(&w, 10000);
	tenancy = b->tenancy;
	assert_false(server_is_blank(b));
	world_release(b);
	world_wait_state(b, "draining", 60);
	world_wait_state(b, "free", 600);
	assert_true(server_is_blank(b));
	world_pod(&w, &w.tenants[1], "next");
	world_wait_running(&w, &w.tenants[1], "next", 900);
	world_run(&w, 10000);
	world_check_serving(&w, &w.tenants[1], "next");
	assert_true(b->tenancy == tenancy + 1);
	world_stop(&w);
}

/* With one machine the second pod waits, gets the reason as an event, and is served after the first
 * is deleted. */
static void a_pod_waits_for_the_machine_that_another_tenant_has(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 3, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_pod(&w, &w.tenants[1], "later");
	world_run(&w, 1800 * 1000);
	world_check_serving(&w, &w.tenants[0], "train");
	assert_string_equal(w.servers[0].state, "serving");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(&w.servers[0]);
	world_wait_running(&w, &w.tenants[1], "later", 1200);
	world_stop(&w);
}

/* Kubernetes' node controller removes its not-ready taint some time after the Node is Ready. Until
 * then the Node counts as in progress, not as full, and the pod that waits for it gets no second
 * machine. */
static void a_node_that_takes_no_pods_yet_is_still_on_its_way(void **state)
{
	struct sim_world w;
	struct server *b;
	char path[200];

	(void)state;
	world_start(&w, 4, 2);
	world_replica(&w);
	world_wait_all(&w, "free", 600);
	w.servers[0].lingering = w.servers[1].lingering = "node.kubernetes.io/not-ready";
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 300 * 1000);
	b = str_eq(w.servers[0].state, "free") ? &w.servers[1] : &w.servers[0];
	assert_string_equal(b->state, "gating");
	assert_true(
		leaving_was_told(&w.host, "NodeNotReady",
				 " is Ready, but still has taint node.kubernetes.io/not-ready"));
	str_format(path, sizeof(path), "/api/v1/nodes/%s", b->node_name);
	world_do(&w, &w.tenants[0], "PATCH", path,
		 json_pack("{s:{s:[{s:s,s:s},{s:s,s:s}]}}", "spec", "taints", "key",
			   "drover.dev/unregistered", "effect", "NoSchedule", "key",
			   "nvidia.com/gpu", "effect", "NoSchedule"));
	world_wait_running(&w, &w.tenants[0], "train", 120);
	world_run(&w, 60000);
	world_check_serving(&w, &w.tenants[0], "train");
	assert_string_equal((b == &w.servers[0] ? &w.servers[1] : &w.servers[0])->state, "free");
	world_stop(&w);
}

/* The CNI taints a Node that just joined until its agent runs there: the pod gets no second
 * machine, and the first is not released as empty. */
static void a_node_that_an_agent_taints_keeps_its_pod(void **state)
{
	struct sim_world w;
	struct server *b;
	char path[200];

	(void)state;
	world_start(&w, 5, 2);
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/nodepools/gpus",
		 json_pack("{s:{s:{s:s}}}", "spec", "disruption", "consolidateAfter", "5s"));
	world_replica(&w);
	world_wait_all(&w, "free", 600);
	w.servers[0].lingering = w.servers[1].lingering = "example.com/agent-not-ready";
	world_pod(&w, &w.tenants[0], "train");
	world_run(&w, 150 * 1000);
	b = str_eq(w.servers[0].state, "free") ? &w.servers[1] : &w.servers[0];
	assert_string_equal(b->state, "serving");
	assert_string_equal((b == &w.servers[0] ? &w.servers[1] : &w.servers[0])->state, "free");
	str_format(path, sizeof(path), "/api/v1/nodes/%s", b->node_name);
	world_do(&w, &w.tenants[0], "PATCH", path,
		 json_pack("{s:{s:[{s:s,s:s}]}}", "spec", "taints", "key", "nvidia.com/gpu",
			   "effect", "NoSchedule"));
	world_wait_running(&w, &w.tenants[0], "train", 60);
	world_check_serving(&w, &w.tenants[0], "train");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_of_each_tenant_runs_on_a_machine_of_its_own),
		cmocka_unit_test(a_released_machine_is_wiped_and_serves_the_other_tenant),
		cmocka_unit_test(a_pod_waits_for_the_machine_that_another_tenant_has),
		cmocka_unit_test(a_node_that_takes_no_pods_yet_is_still_on_its_way),
		cmocka_unit_test(a_node_that_an_agent_taints_keeps_its_pod),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
