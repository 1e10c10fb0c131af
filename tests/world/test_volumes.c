/* A pod with a volume gets a machine in the volume's zone, once the volume exists. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "api/kinds.h"
#include "base/str.h"
#include "tests/world/world.h"

#define ZONE "topology.kubernetes.io/zone"
#define CLAIMS "/api/v1/namespaces/default/persistentvolumeclaims"

static void add_pod(struct sim_world *w, const char *name, const char *claim)
{
	world_do(w, &w->tenants[0], "POST", "/api/v1/namespaces/default/pods",
		 json_pack("{s:s,s:s,s:{s:s,s:s},s:{s:[{s:s,s:{s:s}}],s:[{s:s,s:s}],"
			   "s:[{s:s,s:s,s:{s:{s:s}}}]}}",
			   "apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "namespace",
			   "default", "spec", "volumes", "name", "v", "persistentVolumeClaim",
			   "claimName", claim, "tolerations", "key", "nvidia.com/gpu", "operator",
			   "Exists", "containers", "name", "main", "image", "train:1", "resources",
			   "limits", "nvidia.com/gpu", "8"));
}

/* Creates a PersistentVolumeClaim bound to the volume of the same name, which is in this zone. */
static void add_claim(struct sim_world *w, const char *name, const char *key, const char *value)
{
	struct cluster *p = &w->tenants[0];

	world_do(w, p, "POST", "/api/v1/persistentvolumes",
		 json_pack("{s:s,s:s,s:{s:s},s:{s:{s:s,s:s},s:{s:{s:[{s:[{s:s,s:s,s:[s]}]}]}}}}",
			   "apiVersion", "v1", "kind", "PersistentVolume", "metadata", "name", name,
			   "spec", "claimRef", "namespace", "default", "name", name, "nodeAffinity",
			   "required", "nodeSelectorTerms", "matchExpressions", "key", key,
			   "operator", "In", "values", value));
	world_do(w, p, "POST", CLAIMS,
		 json_pack("{s:s,s:s,s:{s:s,s:{s:s}},s:{s:s},s:{s:s}}", "apiVersion", "v1", "kind",
			   "PersistentVolumeClaim", "metadata", "name", name, "annotations",
			   "pv.kubernetes.io/bind-completed", "yes", "spec", "volumeName", name,
			   "status", "phase", "Bound"));
}

struct said {
	const char *pod, *text;
	bool found;
};

static bool says(const json_t *o, void *arg)
{
	struct said *s = arg;

	s->found |= str_eq(json_str_at(o, "involvedObject", "name"), s->pod) &&
		    strstr(str_or(json_str_at(o, "message"), ""), s->text);
	return !s->found;
}

static bool is_told(struct sim_world *w, const char *pod, const char *text)
{
	struct said s = {pod, text, false};

	cluster_each(&w->tenants[0], "events/", says, &s);
	return s.found;
}

static void a_pod_gets_a_machine_where_its_volume_is(void **state)
{
	struct sim_world w;
	char path[200];

	(void)state;
	world_start(&w, 811, 3);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	for (unsigned i = 0; i < 3; i++) {
		str_format(path, sizeof(path), "/apis/" OBJECT_API_VERSION "/machines/%s",
			   w.servers[i].name);
		world_do(
			&w, &w.host, "PATCH", path,
			json_pack("{s:{s:{s:s}}}", "metadata", "labels", ZONE, i == 1 ? "b" : "a"));
	}
	add_pod(&w, "train", "data");
	world_run(&w, 30000);
	assert_true(is_told(&w, "train", "persistentVolumeClaim data does not exist"));
	world_wait_all(&w, "free", 10); /* no machine was claimed for it */
	add_claim(&w, "data", ZONE, "b");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "train"), &w.servers[1]);
	world_stop(&w);
}

static void a_volume_on_a_node_that_is_gone_brings_no_machine(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 812, 2);
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	add_claim(&w, "data", "kubernetes.io/hostname", "n-gone");
	add_pod(&w, "train", "data");
	world_run(&w, 60000);
	assert_true(is_told(&w, "train",
			    "persistentVolumeClaim data: its volume data is on Node n-gone, "
			    "which no longer exists"));
	world_wait_all(&w, "free", 10);
	world_stop(&w);
}

/* If drover may not read CSINodes, pods with volumes wait, but the tenant's other pods do not. */
static void who_may_not_read_volumes_serves_the_other_pods(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 813, 2);
	w.refused = "/csinodes";
	world_replica(&w);
	world_wait_all(&w, "free", 1800);
	add_claim(&w, "data", ZONE, "a");
	add_pod(&w, "train", "data");
	world_pod(&w, &w.tenants[0], "plain");
	world_wait_running(&w, &w.tenants[0], "plain", 1800);
	assert_true(is_told(&w, "train", "CSINodes cannot be read: "));
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_gets_a_machine_where_its_volume_is),
		cmocka_unit_test(a_volume_on_a_node_that_is_gone_brings_no_machine),
		cmocka_unit_test(who_may_not_read_volumes_serves_the_other_pods),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
