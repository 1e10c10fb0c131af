#include "tests/unit/testing.h"

#include "base/str.h"
#include "base/data/yaml.h"
#include "sim/cluster/scheduler.h"
#include "tests/unit/kube/apiserver/api_rig.h"

#define ORIGIN "https://api:6443"

static json_t *yaml(const char *text)
{
	struct err e;
	json_t *j = yaml_parse(text, strlen(text), &e);

	if (!j)
		fail_msg("%s: %s", text, e.text);
	return j;
}

#define NODE                                                                                       \
	"metadata: {name: n1, labels: {product: h100, n: '8'}}\n"                                  \
	"spec: {taints: [{key: gpu, effect: NoSchedule}, "                                         \
	"{key: soft, effect: PreferNoSchedule}]}\n"                                                \
	"status:\n  allocatable: {cpu: '4', nvidia.com/gpu: '8', pods: '3'}\n"                     \
	"  conditions: [{type: Ready, status: 'True'}]\n"
#define TOLERANT "tolerations: [{key: gpu, operator: Exists}]"
#define AFFINITY(terms)                                                                            \
	"spec: {" TOLERANT ", affinity: {nodeAffinity: "                                           \
	"{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" terms "]}}}}"

static const struct {
	/* pod: the pod's spec. why: reason why the pod does not fit; NULL: it fits */
	const char *pod, *why;
} cases[] = {
	{"spec: {" TOLERANT "}", NULL},
	{"spec: {}", "taint"},
	{"spec: {tolerations: [{operator: Exists}]}", NULL},
	{"spec: {tolerations: [{key: gpu, value: x}]}", "taint"},
	{"spec: {tolerations: [{key: gpu, value: ''}]}", NULL},
	{"spec: {tolerations: [{key: gpu, operator: Exists, effect: NoExecute}]}", "taint"},
	{"spec: {" TOLERANT ", nodeSelector: {product: h100}}", NULL},
	{"spec: {" TOLERANT ", nodeSelector: {product: a100}}", "affinity"},
	{AFFINITY("{matchExpressions: [{key: product, operator: In, values: [h100]}]}"), NULL},
	{AFFINITY("{matchExpressions: [{key: product, operator: NotIn, values: [h100]}]}"),
	 "affinity"},
	{AFFINITY("{matchExpressions: [{key: n, operator: Gt, values: ['7']}]}"), NULL},
	{AFFINITY("{matchExpressions: [{key: n, operator: Near, values: ['7']}]}"), "affinity"},
	{AFFINITY("{matchFields: [{key: metadata.name, operator: In, values: [n2]}]},"
		  "{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}"),
	 NULL},
	{AFFINITY("{}"), "affinity"},
	{"spec: {" TOLERANT ", containers: [{resources: {limits: {nvidia.com/gpu: '6'}}}]}", NULL},
	{"spec: {" TOLERANT ", containers: [{resources: {limits: {nvidia.com/gpu: '7'}}}]}",
	 "Insufficient"},
	{"spec: {" TOLERANT ", containers: [{resources: {requests: {cpu: 4001m}}}]}",
	 "Insufficient"},
	{"spec: {" TOLERANT ", containers: [{resources: {requests: {rdma/hca: 1}}}]}",
	 "Insufficient"},
	{"spec: {" TOLERANT ", initContainers: [{resources: {requests: {cpu: '5'}}}]}",
	 "Insufficient"},
};

static void tolerations_compare_numbers_as_in_kube_scheduler(void **state)
{
	static const struct {
		const char *operator_, *value;
		bool fits;
	} rows[] = {
		{"Gt", "900", true},	{"Gt", "950", false},  {"Lt", "1000", true},
		{"Lt", "950", false},	{"Gt", "0900", false}, {"Gt", "many", false},
		{"Equal", "950", true}, {"", "950", true},     {"Gte", "950", false},
		{"Exists", "", true},
	};
	OWN_JSON node = yaml(
		"metadata: {name: n1}\n"
		"spec: {taints: [{key: sla, value: '950', effect: NoExecute}]}\n"
		"status: {allocatable: {pods: 3}, conditions: [{type: Ready, status: 'True'}]}\n");
	OWN_JSON none = json_array();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		OWN_JSON pod =
			json_pack("{s:{s:[{s:s, s:s, s:s}]}}", "spec", "tolerations", "key", "sla",
				  "operator", rows[i].operator_, "value", rows[i].value);

		if (!sim_scheduler_misfit(pod, node, none) != rows[i].fits)
			fail_msg("%s %s", rows[i].operator_, rows[i].value);
	}
}

/* The node has one running pod with 2 GPUs and one pod that has ended. A third pod runs on another
 * node. */
static void a_pod_fits_where_kube_scheduler_would_put_it(void **state)
{
	OWN_JSON node = yaml(NODE);
	OWN_JSON pods =
		yaml("- spec: {nodeName: n1, containers: [{resources: {limits: {nvidia.com/gpu: "
		     "'2'}}}]}\n"
		     "- spec: {nodeName: n1, containers: [{resources: {limits: {nvidia.com/gpu: "
		     "'8'}}}]}\n"
		     "  status: {phase: Succeeded}\n"
		     "- spec: {nodeName: n2, containers: [{resources: {limits: {nvidia.com/gpu: "
		     "'8'}}}]}\n");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		OWN_JSON pod = yaml(cases[i].pod);
		const char *why = sim_scheduler_misfit(pod, node, pods);

		if (!cases[i].why != !why || (why && !strstr(why, cases[i].why)))
			fail_msg("%s: %s", cases[i].pod, str_or(why, "fits"));
	}
}

static void a_cordoned_or_unready_node_takes_nobody(void **state)
{
	OWN_JSON pod = yaml("spec: {" TOLERANT "}");
	OWN_JSON pods = json_array();
	OWN_JSON node = yaml(NODE);

	(void)state;
	json_object_set_new(json_at(node, "spec"), "unschedulable", json_true());
	assert_string_equal(sim_scheduler_misfit(pod, node, pods), "node(s) were unschedulable");
	json_object_set_new(json_at(node, "spec"), "unschedulable", json_false());
	assert_null(sim_scheduler_misfit(pod, node, pods));
	json_object_set_new(json_array_get(json_at(node, "status", "conditions"), 0), "status",
			    json_string("Unknown"));
	assert_string_equal(sim_scheduler_misfit(pod, node, pods), "node(s) were not ready");
}

/* --- against an API server -------------------------------------------------------------------- */

static void create_pod(struct api *r, const char *name, int priority)
{
	char text[400];

	str_format(
		text, sizeof(text),
		"{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"priority\":%d,\"containers\":[{"
		"\"name\":\"main\",\"image\":\"x\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":"
		"\"8\"}}}]}}",
		name, priority);
	api_do(r, "POST", "/api/v1/namespaces/default/pods", text);
	assert_int_equal(r->status, 201);
}

static const char *pod_at(struct api *r, const char *name, const char *a, const char *b)
{
	char path[120];

	str_format(path, sizeof(path), "/api/v1/namespaces/default/pods/%s", name);
	api_do(r, "GET", path, NULL);
	assert_int_equal(r->status, 200);
	return json_str_at(r->j, a, b);
}

static void pods_wait_with_a_reason_and_are_bound_by_priority(void **state)
{
	struct api r;
	struct err e;
	struct sim_rounds_spec spec = {.server = ORIGIN};
	struct sim_scheduler *s;
	const json_t *c;

	(void)state;
	api_start(&r, NULL, 1000);
	spec.http = r.h;
	s = sim_scheduler_new(r.g, &spec, &e);
	assert_non_null(s);
	create_pod(&r, "low", 1);
	create_pod(&r, "high", 2);
	loop_sim_run_until(r.l, loop_now(r.l) + 3000);
	assert_null(pod_at(&r, "low", "spec", "nodeName"));
	c = json_array_get(json_at(r.j, "status", "conditions"), 0);
	assert_string_equal(json_str_at(c, "reason"), "Unschedulable");
	assert_string_equal(json_str_at(c, "message"), "0/0 nodes are available.");
	api_do(&r, "POST", "/api/v1/nodes",
	       "{\"metadata\":{\"name\":\"n1\"},"
	       "\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"8\","
	       "\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
	assert_int_equal(r.status, 201);
	loop_sim_run_until(r.l, loop_now(r.l) + 3000);
	assert_string_equal(pod_at(&r, "high", "spec", "nodeName"), "n1");
	assert_null(pod_at(&r, "low", "spec", "nodeName"));
	c = json_array_get(json_at(r.j, "status", "conditions"), 0);
	assert_string_equal(json_str_at(c, "message"),
			    "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
	sim_scheduler_free(s);
	api_stop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tolerations_compare_numbers_as_in_kube_scheduler),
		cmocka_unit_test(a_pod_fits_where_kube_scheduler_would_put_it),
		cmocka_unit_test(a_cordoned_or_unready_node_takes_nobody),
		cmocka_unit_test(pods_wait_with_a_reason_and_are_bound_by_priority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
