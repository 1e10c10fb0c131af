/* Pods that request GPUs by ResourceClaims get machines like pods that request the extended
 * resource. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "api/kinds.h"
#include "base/str.h"
#include "tests/world/world.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define V1 "/apis/resource.k8s.io/v1/"

static void serve_kind(struct sim_world *w, const char *plural, const char *kind, const char *scope)
{
	OWN(arena) a = arena_new();

	world_do(w, &w->tenants[0], "POST", CRDS,
		 json_pack("{s:{s:s},s:{s:s,s:s,s:{s:s,s:s,s:s,s:s},"
			   "s:[{s:s,s:b,s:b,s:{s:{s:s,s:b}}}]}}",
			   "metadata", "name", arena_printf(a, "%s.resource.k8s.io", plural),
			   "spec", "group", "resource.k8s.io", "scope", scope, "names", "plural",
			   plural, "singular", plural, "kind", kind, "listKind",
			   arena_printf(a, "%sList", kind), "versions", "name", "v1", "served", 1,
			   "storage", 1, "schema", "openAPIV3Schema", "type", "object",
			   "x-kubernetes-preserve-unknown-fields", 1));
}

static void begin(struct sim_world *w, uint64_t seed, unsigned servers)
{
	world_start(w, seed, servers);
	world_replica(w);
	world_wait_all(w, "free", 1800);
	for (unsigned i = 0; i < servers; i++)
		w->servers[i].by_claims = true;
	serve_kind(w, "resourceclaims", "ResourceClaim", "Namespaced");
	serve_kind(w, "resourceclaimtemplates", "ResourceClaimTemplate", "Namespaced");
	serve_kind(w, "deviceclasses", "DeviceClass", "Cluster");
	serve_kind(w, "resourceslices", "ResourceSlice", "Cluster");
	world_do(w, &w->tenants[0], "POST", V1 "deviceclasses",
		 json_pack("{s:{s:s},s:{s:[{s:{s:s}}]}}", "metadata", "name", "gpu.nvidia.com",
			   "spec", "selectors", "cel", "expression",
			   "device.driver == 'gpu.nvidia.com' && "
			   "device.attributes['gpu.nvidia.com'].type == 'gpu'"));
}

static void add_template(struct sim_world *w, const char *name, int count, const char *mode)
{
	world_do(w, &w->tenants[0], "POST", V1 "namespaces/default/resourceclaimtemplates",
		 json_pack("{s:{s:s},s:{s:{s:{s:[{s:s,s:{s:s,s:s,s:i}}]}}}}", "metadata", "name",
			   name, "spec", "spec", "devices", "requests", "name", "gpus", "exactly",
			   "deviceClassName", "gpu.nvidia.com", "allocationMode", mode, "count",
			   count));
}

static void add_pod(struct sim_world *w, const char *name, const char *template)
{
	world_do(w, &w->tenants[0], "POST", "/api/v1/namespaces/default/pods",
		 json_pack("{s:s,s:s,s:{s:s,s:s},s:{s:[{s:s,s:s}],s:[{s:s,s:s}],s:[{s:s,s:s}]}}",
			   "apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "namespace",
			   "default", "spec", "resourceClaims", "name", "gpus",
			   "resourceClaimTemplateName", template, "tolerations", "key",
			   "nvidia.com/gpu", "operator", "Exists", "containers", "name", "main",
			   "image", "train:1"));
}

/* Publishes eight whole GPUs, as the DRA driver's daemon on the Node does. */
static void publish(struct sim_world *w, const char *node)
{
	json_t *devices = json_array();
	OWN(arena) a = arena_new();

	for (int i = 0; i < 8; i++)
		json_array_append_new(devices, json_pack("{s:s,s:{s:{s:s}}}", "name",
							 arena_printf(a, "gpu-%d", i), "attributes",
							 "type", "string", "gpu"));
	world_do(w, &w->tenants[0], "POST", V1 "resourceslices",
		 json_pack("{s:{s:s},s:{s:s,s:s,s:{s:s,s:i,s:i},s:o}}", "metadata", "name",
			   arena_printf(a, "%s-gpu", node), "spec", "driver", "gpu.nvidia.com",
			   "nodeName", node, "pool", "name", node, "generation", 1,
			   "resourceSliceCount", 1, "devices", devices));
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

static struct server *gating(struct sim_world *w)
{
	for (unsigned i = 0; i < w->nboxes; i++)
		if (str_eq(world_at(&w->servers[i], "status.state"), "gating"))
			return &w->servers[i];
	return NULL;
}

static bool is_gating(void *arg)
{
	return gating(arg) != NULL;
}

/* True if the leader's metrics show n GPUs of team-a in this state. */
static bool has_gpus(struct sim_world *w, const char *state, int n)
{
	struct controller *c = world_leader(w)->controller;
	char line[128];
	struct buf b;
	bool found;

	str_format(line, sizeof(line),
		   "\ndrover_gpus{pool=\"gpus\",tenant=\"team-a\",state=\"%s\"} %d\n", state, n);
	controller_read_gauges(c);
	buf_init(&b, 4u << 20);
	metrics_write(controller_context(c)->metrics, &b);
	found = strstr(b.data, line) != NULL;
	buf_done(&b);
	return found;
}

/* Two pods of four GPUs share a machine. The machine serves only after its DRA driver has published
 * devices of its type. */
static void a_pod_with_a_claim_gets_a_machine(void **state)
{
	struct sim_world w;
	const struct server *b;

	(void)state;
	begin(&w, 851, 3);
	add_template(&w, "four", 4, "ExactCount");
	add_pod(&w, "one", "four");
	add_pod(&w, "two", "four");
	world_wait(&w, is_gating, &w, 1800, "a machine is gating");
	b = gating(&w);
	world_run(&w, 60000);
	assert_string_equal(world_at(b, "status.state"), "gating");
	publish(&w, b->node_name);
	world_wait_running(&w, &w.tenants[0], "one", 600);
	world_wait_running(&w, &w.tenants[0], "two", 600);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "one"),
			 world_box_of(&w, &w.tenants[0], "two"));
	world_run(&w, 120000);
	assert_null(gating(&w)); /* no further machine was claimed */
	add_pod(&w, "three", "four");
	world_wait(&w, is_gating, &w, 1800, "another machine is gating");
	b = gating(&w);
	publish(&w, b->node_name);
	world_wait_running(&w, &w.tenants[0], "three", 600);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "three"), b);
	world_run(&w, 30000);
	assert_true(has_gpus(&w, "allocated", 12));
	assert_true(has_gpus(&w, "idle", 4));
	world_stop(&w);
}

/* A DeviceClass provides the extended resource: no pod has a ResourceClaim of its own. */
static void an_extended_resource_may_be_had_by_claims(void **state)
{
	struct sim_world w;
	const struct server *b;

	(void)state;
	begin(&w, 854, 2);
	world_do(&w, &w.tenants[0], "PATCH", V1 "deviceclasses/gpu.nvidia.com",
		 json_pack("{s:{s:s}}", "spec", "extendedResourceName", "nvidia.com/gpu"));
	world_pod(&w, &w.tenants[0], "plain");
	world_wait(&w, is_gating, &w, 1800, "a machine is gating");
	b = gating(&w);
	publish(&w, b->node_name);
	world_run(&w, 30000);
	/* The machine still waits, because a device plugin could register the GPUs later. */
	assert_string_equal(world_at(b, "status.state"), "gating");
	world_wait_running(&w, &w.tenants[0], "plain", 600);
	assert_ptr_equal(world_box_of(&w, &w.tenants[0], "plain"), b);
	world_stop(&w);
}

static void what_is_not_judged_is_told_and_brings_nothing(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 852, 2);
	add_pod(&w, "early", "none");
	add_template(&w, "all", 1, "All");
	add_pod(&w, "all", "all");
	world_run(&w, 60000);
	assert_true(is_told(&w, "early", "ResourceClaimTemplate none does not exist"));
	assert_true(is_told(
		&w, "all",
		"drover does not support resource claim gpus: request gpus: allocationMode All"));
	world_wait_all(&w, "free", 10);
	world_stop(&w);
}

/* If drover may not read ResourceSlices, pods with claims wait, but the tenant's other pods do
 * not. */
static void who_may_not_read_claims_serves_the_other_pods(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 853, 2);
	for (unsigned i = 0; i < 2; i++)
		w.servers[i].by_claims = false;
	w.refused = "/resourceslices";
	add_template(&w, "four", 4, "ExactCount");
	add_pod(&w, "train", "four");
	world_pod(&w, &w.tenants[0], "plain");
	world_wait_running(&w, &w.tenants[0], "plain", 1800);
	assert_true(is_told(&w, "train", "resourceslices cannot be read: "));
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_with_a_claim_gets_a_machine),
		cmocka_unit_test(an_extended_resource_may_be_had_by_claims),
		cmocka_unit_test(what_is_not_judged_is_told_and_brings_nothing),
		cmocka_unit_test(who_may_not_read_claims_serves_the_other_pods),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
