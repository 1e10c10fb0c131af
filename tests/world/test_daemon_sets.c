/* A tenant's first machine has room for the pods of the tenant's DaemonSets. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/kinds.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

#define PROVIDER "/apis/" OBJECT_API_VERSION "/providers/rack"

/* Starts a world with two machines: the first has 4 CPUs, the second, of type gpu-8-big, 16. */
static void start(struct sim_world *w, uint64_t seed)
{
	json_t *types, *big;

	world_start(w, seed, 2);
	OWN_JSON o = cluster_get(&w->host, "providers.drover.dev/rack");
	types = json_deep_copy(json_at(o, "spec", "instanceTypes"));
	big = json_deep_copy(json_array_get(types, 0));
	json_object_set_new(big, "name", json_string("gpu-8-big"));
	json_object_set_new(json_object_get(big, "capacity"), "cpu", json_string("16"));
	json_array_append_new(types, big);
	world_do(w, &w->host, "PATCH", PROVIDER,
		 json_pack("{s:{s:o}}", "spec", "instanceTypes", types));
	leaving_set_pool(w, json_pack("{s:{s:{s:[]}}}", "template", "spec", "requirements"));
	world_patch_machine(&w->servers[1], json_pack("{s:s}", "instanceType", "gpu-8-big"));
}

/* Returns a pod spec of one container that requests these CPUs and GPUs. */
static json_t *spec_of(const char *cpu, const char *gpus)
{
	return json_pack("{s:[{s:s,s:s}],s:[{s:s,s:s,s:{s:{s:s},s:{s:s}}}]}", "tolerations", "key",
			 "nvidia.com/gpu", "operator", "Exists", "containers", "name", "main",
			 "image", "train:1", "resources", "requests", "cpu", cpu, "limits",
			 "nvidia.com/gpu", gpus);
}

static void add_pod(struct sim_world *w, const char *cpu)
{
	world_do(w, &w->tenants[0], "POST", "/api/v1/namespaces/default/pods",
		 json_pack("{s:s,s:s,s:{s:s},s:o}", "apiVersion", "v1", "kind", "Pod", "metadata",
			   "name", "train", "spec", spec_of(cpu, "8")));
}

static void add_daemon_set(struct sim_world *w, const char *cpu)
{
	json_t *labels = json_pack("{s:s}", "app", "cni");

	world_do(w, &w->tenants[0], "POST", "/apis/apps/v1/namespaces/kube-system/daemonsets",
		 json_pack("{s:s,s:s,s:{s:s},s:{s:{s:O},s:{s:{s:o},s:o}}}", "apiVersion", "apps/v1",
			   "kind", "DaemonSet", "metadata", "name", "cni", "spec", "selector",
			   "matchLabels", labels, "template", "metadata", "labels", labels, "spec",
			   spec_of(cpu, "0")));
}

static void a_first_machine_has_room_for_daemonsets(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 861);
	add_daemon_set(&w, "1");
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	add_pod(&w, "3500m");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "train"), &w.servers[1]);
	assert_string_equal(w.servers[0].state, "free");
	world_stop(&w);
}

static void a_small_machine_does_where_it_has_room(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 862);
	add_daemon_set(&w, "500m");
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	add_pod(&w, "3500m");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "train"), &w.servers[0]);
	world_stop(&w);
}

/* A tenant whose DaemonSets cannot be read gets machines nevertheless. */
static void who_may_not_read_daemonsets_serves_the_pods(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 863);
	add_daemon_set(&w, "1");
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	w.refused = "/daemonsets";
	/* drover connects to the tenant anew. */
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a",
		 json_pack("{s:{s:s}}", "spec", "server", w.tenants[0].origin));
	add_pod(&w, "3500m");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "train"), &w.servers[0]);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_first_machine_has_room_for_daemonsets),
		cmocka_unit_test(a_small_machine_does_where_it_has_room),
		cmocka_unit_test(who_may_not_read_daemonsets_serves_the_pods),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
