/* A virtual cluster that shares its host cluster's nodes: its machines become Nodes of the host
 * cluster, reserved for it. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/kinds.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

#define CLUSTER "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a"
#define CONFIG "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"
#define KEY "drover.dev/virtual-cluster"

/* Starts a tenant like a vCluster without private nodes: no machine can join its own API server. */
static void start(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 1);
	world_do(w, &w->tenants[0], "DELETE", CONFIG, NULL);
	world_do(w, &w->host, "PATCH", CLUSTER,
		 json_pack("{s:{s:s, s:n, s:{s:s}}}", "spec", "nodes", "Host", "joinEndpoint",
			   "network", "segment", "host"));
}

static void allow(struct sim_world *w)
{
	leaving_set_pool(
		w, json_pack("{s:{s:{s:[s,s]}}}", "template", "spec", "nodes", "Private", "Host"));
}

static bool has_taint(const json_t *node, const char *key, const char *value, const char *effect)
{
	json_t *t;
	size_t i;

	json_array_foreach (json_at(node, "spec", "taints"), i, t)
		if (str_eq(json_str_at(t, "key"), key) && str_eq(json_str_at(t, "value"), value) &&
		    str_eq(json_str_at(t, "effect"), effect))
			return true;
	return false;
}

/* Writes the pod's binding to the tenant's API server, as the syncer of vCluster does once the
 * host's scheduler has bound the copy of the pod. */
static void bind(struct sim_world *w, const char *pod, const char *node)
{
	OWN(arena) a = arena_new();
	const char *path = arena_printf(a, "/api/v1/namespaces/default/pods/%s", pod);

	world_do(w, &w->tenants[0], "POST", arena_printf(a, "%s/binding", path),
		 json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s}}", "apiVersion", "v1", "kind",
			   "Binding", "metadata", "name", pod, "target", "kind", "Node", "name",
			   node));
	world_do(w, &w->tenants[0], "PATCH", arena_printf(a, "%s/status", path),
		 json_pack("{s:{s:s}}", "status", "phase", "Running"));
}

static unsigned count(const struct cluster *p, const char *prefix)
{
	return (unsigned)store_count(p->store, prefix);
}

static void a_machine_joins_the_host_cluster_for_one_virtual_cluster(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char name[128];

	(void)state;
	start(&w, 75);
	allow(&w);
	world_replica(&w);
	world_wait_state(b, "free", 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "serving", 1800);
	str_copy(name, sizeof(name), b->claim);
	assert_true(leaving_has(&w.host, "nodes", name));
	assert_int_equal(count(&w.tenants[0], "nodes/"), 0);
	OWN_JSON node = cluster_get(&w.host, arena_printf(b->os, "nodes/%s", name));
	assert_string_equal(json_str_at(node, "metadata", "labels", KEY), "team-a");
	assert_true(has_taint(node, KEY, "team-a", "NoExecute"));
	assert_false(has_taint(node, "drover.dev/unregistered", NULL, "NoSchedule"));
	assert_int_equal(count(&w.host, "secrets/kube-system/"), 0);
	assert_int_equal(count(&w.tenants[0], "secrets/kube-system/"), 0);

	/* The machine is in use while the pod is bound in the virtual cluster, and is released
	 * afterwards. */
	bind(&w, "train", name);
	world_run(&w, 3600000);
	assert_string_equal(b->state, "serving");
	assert_string_equal(b->claim, name);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 1800);
	assert_true(server_is_blank(b));
	assert_int_equal(count(&w.host, "nodes/"), 0);
	world_settle(&w);
	world_stop(&w);
}

static void a_pool_that_does_not_allow_it_gives_none_and_no_kubelet_forgets_it(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	start(&w, 76);
	world_replica(&w);
	world_wait_state(b, "free", 900);
	world_pod(&w, &w.tenants[0], "train");
	leaving_wait_event(&w, &w.tenants[0], "NodesNotTaken",
			   "pool gpus: its spec.template.spec.nodes does not allow Host nodes");
	world_run(&w, 60000);
	assert_string_equal(b->state, "free");
	allow(&w);
	/* The kubelet registers without its tenant's taint: no pod may start before drover adds the
	 * taint. */
	world_wait_state(b, "joining", 1800);
	world_do(&w, &w.host, "PATCH", arena_printf(b->os, "/api/v1/nodes/%s", b->claim),
		 json_pack("{s:{s:[{s:s, s:s}]}}", "spec", "taints", "key",
			   "drover.dev/unregistered", "effect", "NoSchedule"));
	world_wait_state(b, "serving", 1800);
	OWN_JSON node = cluster_get(&w.host, arena_printf(b->os, "nodes/%s", b->claim));
	assert_true(has_taint(node, KEY, "team-a", "NoExecute"));
	world_settle(&w);
	world_stop(&w);
}

/* A kubelet may remove its own labels: drover no longer sees the Node, but still deletes it with
 * the machine. */
static void a_node_without_its_label_goes_with_its_machine(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	start(&w, 77);
	allow(&w);
	world_replica(&w);
	world_wait_state(b, "free", 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "serving", 1800);
	world_run(&w, 30000); /* the claim has recorded its Node's UID */
	world_do(&w, &w.host, "PATCH", arena_printf(b->os, "/api/v1/nodes/%s", b->claim),
		 json_pack("{s:{s:{s:n}}}", "metadata", "labels", KEY));
	world_delete_pod(&w, &w.tenants[0], "train");
	world_release(b);
	world_wait_state(b, "free", 1800);
	assert_int_equal(count(&w.host, "nodes/"), 0);
	world_settle(&w);
	world_stop(&w);
}

/* Only an administrator may send machines to the host cluster. A virtual cluster without join
 * config of its own must not get its machines into the host cluster. */
static void a_virtual_cluster_that_cannot_be_joined_is_not_led_into_the_host_cluster(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 78, 1);
	allow(&w);
	world_do(&w, &w.tenants[0], "DELETE", CONFIG, NULL);
	world_replica(&w);
	world_wait_state(&w.servers[0], "free", 900);
	world_pod(&w, &w.tenants[0], "train");
	leaving_wait_event(&w, &w.tenants[0], "NodesNotTaken", "does not accept nodes");
	world_run(&w, 120000);
	assert_int_equal(count(&w.host, "nodes/"), 0);
	assert_string_equal(w.servers[0].state, "free");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_joins_the_host_cluster_for_one_virtual_cluster),
		cmocka_unit_test(
			a_pool_that_does_not_allow_it_gives_none_and_no_kubelet_forgets_it),
		cmocka_unit_test(a_node_without_its_label_goes_with_its_machine),
		cmocka_unit_test(
			a_virtual_cluster_that_cannot_be_joined_is_not_led_into_the_host_cluster),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
