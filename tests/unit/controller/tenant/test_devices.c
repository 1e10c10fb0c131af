/* Tests devices: how ResourceClaims and ResourceSlices that are added and removed change the pods
 * and Nodes of the planner's world. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/devices.h"

#define PODS "/api/v1/namespaces/default/pods"
#define V1 "/apis/resource.k8s.io/v1/"
#define CLAIMS V1 "namespaces/default/resourceclaims"
#define TEMPLATES V1 "namespaces/default/resourceclaimtemplates"
#define SLICES V1 "resourceslices"
#define CLASSES V1 "deviceclasses"
#define SOON_MS 5000

static struct tenant *team(struct bench *d)
{
	return tenant_get(d->tenants, "team-a");
}

static void put(struct bench *d, const char *path, const char *text)
{
	bench_must(d, &d->team, "POST", path, text);
}

static void serve_kind(struct bench *d, const char *plural, const char *kind, const char *scope)
{
	put(d, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	    arena_printf(
		    d->a,
		    "{'metadata': {'name': '%s.resource.k8s.io'}, 'spec': {"
		    "'group': 'resource.k8s.io', 'scope': '%s', 'names': {'plural': '%s',"
		    "'singular': '%s', 'kind': '%s', 'listKind': '%sList'}, 'versions': ["
		    "{'name': 'v1', 'served': true, 'storage': true, 'schema': {'openAPIV3Schema':"
		    "{'type': 'object', 'x-kubernetes-preserve-unknown-fields': true}}}]}}",
		    plural, scope, plural, plural, kind, kind));
}

static void serve(struct bench *d)
{
	serve_kind(d, "resourceclaims", "ResourceClaim", "Namespaced");
	serve_kind(d, "resourceclaimtemplates", "ResourceClaimTemplate", "Namespaced");
	serve_kind(d, "deviceclasses", "DeviceClass", "Cluster");
	serve_kind(d, "resourceslices", "ResourceSlice", "Cluster");
}

/* Creates the DeviceClasses that NVIDIA's driver installs. */
static void put_classes(struct bench *d)
{
	put(d, CLASSES,
	    "{'metadata': {'name': 'gpu.nvidia.com'}, 'spec': {'selectors': [{'cel': {'expression':"
	    " \"device.driver == \\\"gpu.nvidia.com\\\" &&"
	    " device.attributes[\\\"gpu.nvidia.com\\\"].type == \\\"gpu\\\"\"}}]}}");
	put(d, CLASSES,
	    "{'metadata': {'name': 'channel'}, 'spec': {'selectors': [{'cel': {'expression':"
	    " \"device.driver == \\\"compute-domain.nvidia.com\\\" &&"
	    " device.attributes[\\\"compute-domain.nvidia.com\\\"].id == 0\"}}]}}");
}

#define ASKS(n)                                                                                    \
	"'devices': {'requests': [{'name': 'r', "                                                  \
	"'exactly': {'deviceClassName': 'gpu.nvidia.com', 'count': " n "}}]}"

static void put_template(struct bench *d, const char *name, const char *asks)
{
	put(d, TEMPLATES,
	    arena_printf(d->a, "{'metadata': {'name': '%s'}, 'spec': {'spec': {%s}}}", name, asks));
}

static void put_claim(struct bench *d, const char *name, const char *status)
{
	put(d, CLAIMS,
	    arena_printf(d->a,
			 "{'metadata': {'name': '%s'}, 'spec': {" ASKS("2") "}, 'status': {%s}}",
			 name, status));
}

static const char *uid_of(struct bench *d, const char *pod)
{
	return tenant_world_pod(team(d), "default", pod, d->a)->uid;
}

/* Adds a pod. node NULL: the pod is marked unschedulable. */
static void add_pod(struct bench *d, const char *name, const char *spec, const char *node)
{
	put(d, PODS,
	    arena_printf(d->a,
			 "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s'},"
			 " 'spec': {%s%s%s %s, 'containers': [{'name': 'c'}]}}",
			 name, node ? "'nodeName': '" : "", str_or(node, ""), node ? "'," : "",
			 spec));
	if (!node)
		bench_must(d, &d->team, "PATCH", arena_printf(d->a, PODS "/%s/status", name),
			   "{'status': {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled',"
			   " 'status': 'False', 'reason': 'Unschedulable'}]}}");
}

#define BY_TEMPLATE(name)                                                                          \
	"'resourceClaims': [{'name': 'gpu', 'resourceClaimTemplateName': '" name "'}]"
#define BY_CLAIM(name) "'resourceClaims': [{'name': 'gpu', 'resourceClaimName': '" name "'}]"

/* Returns the pod of the planner's world as text: "waits: TEXT", "drover does not support TEXT", or
 * requests and required labels such as "nvidia.com/gpu*2 KEY OP VALUE ". */
static const char *seen(struct bench *d, const char *pod)
{
	const struct world_pod *p = tenant_world_pod(team(d), "default", pod, d->a);
	const char *text;

	if (!p)
		return "none";
	if (p->unsupported)
		return arena_printf(d->a, "drover does not support %s", p->unsupported);
	if (p->device_wait)
		return arena_printf(d->a, "waits: %s", p->device_wait);
	text = p->unschedulable || p->node ? "" : "not known yet";
	for (size_t i = 0; i < p->requests.n; i++)
		text = arena_printf(d->a, "%s%s*%d ", text, p->requests.v[i].name,
				    (int)quantity_floor(p->requests.v[i].q));
	for (size_t i = 0; i < p->devices.n; i++)
		text = arena_printf(d->a, "%s%s %s %s ", text, p->devices.v[i].key,
				    selector_op_name(p->devices.v[i].op),
				    p->devices.v[i].values[0]);
	return text;
}

static double ended(struct bench *d, const char *result)
{
	return metric_get(metrics_find(d->c.metrics, "drover_gpu_pods_ended_total"),
			  (const char *const[]){"team-a", result, NULL});
}

static void end_pod(struct bench *d, const char *name, const char *phase)
{
	bench_must(d, &d->team, "PATCH", arena_printf(d->a, PODS "/%s/status", name),
		   arena_printf(d->a, "{'status': {'phase': '%s'}}", phase));
	bench_run(d, SOON_MS);
}

/* The claim of `train` is read only after the pod; that of `other` does not exist. */
static void a_pod_whose_claims_are_for_gpus_is_counted_when_it_ends(void **state)
{
	struct bench *d = *state;

	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, 'spec': "
		     "{'virtualClusterRef': {'name': 'team-a', 'uid': 'u'}, "
		     "'nodePoolRef': {'name': 'h100', 'uid': 'u'}, "
		     "'machineRef': {'name': 'm-1', 'uid': 'u'}, 'expireAfter': '10m', 'image': "
		     "{'kubernetesVersion': '1.36', 'url': 'http://images/a', 'format': 'raw', "
		     "'digest': 'sha256:"
		     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}");
	serve(d);
	put_classes(d);
	put_claim(d, "two", "");
	add_pod(d, "train", BY_CLAIM("two"), "c-1");
	add_pod(d, "other", BY_CLAIM("none"), "c-1");
	bench_run(d, SOON_MS);
	end_pod(d, "other", "Failed");
	end_pod(d, "train", "Succeeded");
	assert_true(ended(d, "failed") == 0);
	assert_true(ended(d, "succeeded") == 1);
}

#define KEEP_OFF "drover.dev/gpus-by NotIn DevicePlugin "

static void nobody_asks_for_devices_where_no_pod_has_a_claim(void **state)
{
	struct bench *d = *state;

	d->team.denied_at = "resource.k8s.io";
	add_pod(d, "plain", "'priority': 1", NULL);
	bench_run(d, 60000);
	assert_int_equal(d->team.denials, 0);
	add_pod(d, "train", BY_TEMPLATE("one"), NULL);
	bench_run(d, SOON_MS);
	assert_true(d->team.denials > 0);
	assert_string_equal(seen(d, "train"), "waits: drover may not get, list and watch "
					      "resourceclaims.resource.k8s.io in this cluster");
	assert_true(bench_events(&d->team, "DeviceNotReady") >= 1);
	assert_true(tenant_usable(team(d)));
}

static void what_is_not_served_is_told(void **state)
{
	struct bench *d = *state;

	add_pod(d, "train", BY_TEMPLATE("one"), NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(
		seen(d, "train"),
		"waits: this cluster does not serve resourceclaims.resource.k8s.io in v1");
	/* From now on, the API server serves the kinds of resource.k8s.io. */
	serve(d);
	bench_run(d, 60000);
	assert_string_equal(seen(d, "train"),
			    "waits: resource claim gpu: ResourceClaimTemplate one does not exist");
}

static void the_version_of_the_cluster_says_in_which_they_are_read(void **state)
{
	static const struct {
		const char *cluster, *says;
	} cases[] = {
		{"1.31",
		 "waits: resource claims require Kubernetes 1.32 or later, this cluster is 1.31"},
		{"1.32",
		 "waits: this cluster does not serve resourceclaims.resource.k8s.io in v1beta1"},
		{"1.33",
		 "waits: this cluster does not serve resourceclaims.resource.k8s.io in v1beta2"},
		{"1.34", "waits: this cluster does not serve resourceclaims.resource.k8s.io in v1"},
		{"1.40", "waits: this cluster does not serve resourceclaims.resource.k8s.io in v1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench *d;

		bench_teardown(state);
		bench_setup_fleet(state);
		d = *state;
		free(team(d)->version);
		team(d)->version = mem_strdup(cases[i].cluster);
		add_pod(d, "train", BY_TEMPLATE("one"), NULL);
		bench_run(d, SOON_MS);
		assert_string_equal(seen(d, "train"), cases[i].says);
	}
}

/* The tenant's pods run on Nodes of the host cluster, where their devices are as well. So drover
 * cannot evaluate the tenant's ResourceClaims. */
static void of_a_tenant_that_shares_nodes_claims_are_not_judged(void **state)
{
	struct bench *d = *state;

	serve(d);
	team(d)->on_host = true;
	add_pod(d, "train", BY_TEMPLATE("one"), NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(
		seen(d, "train"),
		"drover does not support resource claim gpu (ResourceClaimTemplate one)");
}

static void a_pod_follows_its_template_and_its_class(void **state)
{
	struct bench *d = *state;

	serve(d);
	add_pod(d, "train", BY_TEMPLATE("two"), NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"),
			    "waits: resource claim gpu: ResourceClaimTemplate two does not exist");
	put_template(d, "two", ASKS("2"));
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"),
			    "waits: resource claim gpu: DeviceClass gpu.nvidia.com does not exist");
	put_classes(d);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"), "nvidia.com/gpu*2 " KEEP_OFF);
	put_template(d, "all",
		     "'devices': {'requests': [{'name': 'r', 'exactly': {'deviceClassName':"
		     " 'gpu.nvidia.com', 'allocationMode': 'All'}}]}");
	add_pod(d, "all", BY_TEMPLATE("all"), NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(
		seen(d, "all"),
		"drover does not support resource claim gpu: request r: allocationMode All");
	assert_true(bench_events(&d->team, "ConstraintNotSupported") >= 1);
}

#define ALLOCATED(devices, reserved)                                                               \
	"'allocation': {'devices': {'results': [" devices "]}, 'nodeSelector': {"                  \
	"'nodeSelectorTerms': [{'matchFields': [{'key': 'metadata.name', 'operator': 'In',"        \
	" 'values': ['n-1']}]}]}}, 'reservedFor': [" reserved "]"
#define RESULT(name)                                                                               \
	"{'request': 'r', 'driver': 'gpu.nvidia.com', 'pool': 'n-1', 'device': '" name "'}"

static void a_claim_of_several_pods_counts_once(void **state)
{
	struct bench *d = *state;

	serve(d);
	put_classes(d);
	put_claim(d, "ours", "");
	add_pod(d, "first", BY_CLAIM("ours"), NULL);
	bench_run(d, SOON_MS);
	add_pod(d, "second", BY_CLAIM("ours"), NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "first"), "nvidia.com/gpu*2 " KEEP_OFF);
	assert_string_equal(seen(d, "second"), "waits: resource claim gpu: ResourceClaim ours is "
					       "shared with pod first, which gets a machine first");
	bench_must(d, &d->team, "DELETE", PODS "/first?gracePeriodSeconds=0", NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "second"), "nvidia.com/gpu*2 " KEEP_OFF);
	/* Once a claim is allocated, further pods that share it must run on the Node of its
	 * devices. */
	put_claim(d, "theirs",
		  ALLOCATED(RESULT("gpu-0") "," RESULT("gpu-1"), "{'uid': 'u-other'}"));
	add_pod(d, "third", BY_CLAIM("theirs"), NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "third"), ":metadata.name In n-1 ");
}

static void a_pod_that_runs_counts_what_was_allocated(void **state)
{
	struct bench *d = *state;

	serve(d);
	put_classes(d);
	add_pod(d, "runs", BY_CLAIM("ours"), "n-1");
	bench_run(d, SOON_MS);
	put_claim(d, "ours",
		  ALLOCATED(RESULT("gpu-0") ", {'driver': 'x', 'pool': 'p', 'device': 'gpu-1'}",
			    "{'uid': 'u-other'}"));
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "runs"), "");
	bench_must(d, &d->team, "DELETE", CLAIMS "/ours", NULL);
	put_claim(d, "ours",
		  arena_printf(d->a,
			       ALLOCATED(RESULT("gpu-0") "," RESULT("gpu-1"), "{'uid': '%s'}"),
			       uid_of(d, "runs")));
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "runs"), "nvidia.com/gpu*2 ");
	/* The pod's status names the claim that was created for the pod. Until this claim exists,
	 * its template counts. */
	put_template(d, "three", ASKS("3"));
	add_pod(d, "own", BY_TEMPLATE("three"), "n-1");
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "own"), "nvidia.com/gpu*3 ");
	put_claim(d, "own-gpu-x7k2p", ALLOCATED(RESULT("gpu-2"), ""));
	bench_must(
		d, &d->team, "PATCH", PODS "/own/status",
		"{'status': {'resourceClaimStatuses': [{'name': 'other', 'resourceClaimName': 'x'},"
		" {'name': 'gpu', 'resourceClaimName': 'own-gpu-x7k2p'}]}}");
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "own"), "nvidia.com/gpu*1 ");
}

#define GPU(name)                                                                                  \
	"{'name': '" name                                                                          \
	"', 'attributes': {'type': {'string': 'gpu'}, 'productName': {'string': 'NVIDIA B200'}}}"
#define PART "{'name': 'gpu-0-mig-1g.23gb-0', 'attributes': {'type': {'string': 'mig'}}}"

static void put_slice(struct bench *d, const char *name, const char *pool, const char *devices)
{
	put(d, SLICES,
	    arena_printf(
		    d->a,
		    "{'metadata': {'name': '%s'}, 'spec': {'driver': 'gpu.nvidia.com', 'nodeName':"
		    " 'n-1', 'pool': {'name': 'n-1', %s}, 'devices': [%s]}}",
		    name, pool, devices));
}

/* Returns number and product label of the Node's GPUs, such as "8 by ResourceClaim NVIDIA-B200". */
static const char *node(struct bench *d)
{
	const struct tenant_node *n = tenant_node_get(team(d), "n-1");
	const struct quantity *q;
	struct world_node w;

	assert_non_null(n);
	w = tenant_world_node(team(d), n, d->a);
	q = resources_get(&w.allocatable, DEVICES_GPU);
	assert_int_equal(quantity_floor(tenant_node_has(team(d), n, DEVICES_GPU)),
			 q ? quantity_floor(*q) : 0);
	return arena_printf(d->a, "%d by %s %s", q ? (int)quantity_floor(*q) : 0,
			    str_or(labels_get(&w.labels, DEVICES_BY), "nothing"),
			    str_or(labels_get(&w.labels, "nvidia.com/gpu.product"), ""));
}

static void put_node(struct bench *d, const char *gpus)
{
	put(d, "/api/v1/nodes",
	    "{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n-1'}}");
	bench_must(d, &d->team, "PATCH", "/api/v1/nodes/n-1/status",
		   arena_printf(d->a, "{'status': {'allocatable': {%s}, 'capacity': {%s}}}", gpus,
				gpus));
}

static void a_node_has_what_its_slices_have_once_all_are_there(void **state)
{
	struct bench *d = *state;

	serve(d);
	put_node(d, "'cpu': '8'");
	add_pod(d, "train", BY_TEMPLATE("one"), NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(node(d), "0 by nothing ");
	put_slice(d, "s-1", "'generation': 1, 'resourceSliceCount': 2", GPU("gpu-0") "," PART);
	bench_run(d, SOON_MS);
	assert_string_equal(node(d), "0 by nothing ");
	put_slice(d, "s-2", "'generation': 1, 'resourceSliceCount': 2",
		  GPU("gpu-1") "," GPU("gpu-2"));
	bench_run(d, SOON_MS);
	assert_string_equal(node(d), "3 by ResourceClaim NVIDIA-B200");
	/* A slice of a newer generation replaces the older ones. */
	put_slice(d, "s-3", "'generation': 2, 'resourceSliceCount': 1", GPU("gpu-0"));
	bench_run(d, SOON_MS);
	assert_string_equal(node(d), "1 by ResourceClaim NVIDIA-B200");
	bench_must(d, &d->team, "DELETE", SLICES "/s-3", NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(node(d), "3 by ResourceClaim NVIDIA-B200");
	/* A claim for a part (MIG) of a GPU counts as the whole GPU gpu-0. A part of gpu-7, which
	 * no slice offers as a whole, counts as nothing. */
	put_claim(d, "ours",
		  ALLOCATED(RESULT("gpu-0-mig-1g.23gb-0") "," RESULT("gpu-7-mig-1g.23gb-0"), ""));
	add_pod(d, "parts", BY_CLAIM("ours"), "n-1");
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "parts"), "nvidia.com/gpu*1 ");
}

/* Pods that request GPUs as an extended resource must not run on Nodes whose GPUs are claimed. Pods
 * with a ResourceClaim must not run on Nodes with a device plugin. Neither applies if a DeviceClass
 * maps the extended resource. */
static void claims_and_plugins_keep_apart(void **state)
{
	struct bench *d = *state;
	const char *plain = "'priority': 1, 'resources': {'requests': {'nvidia.com/gpu': '1'}}";

	serve(d);
	put_classes(d);
	put_node(d, "'nvidia.com/gpu': '8'");
	add_pod(d, "plain", plain, NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "plain"), "nvidia.com/gpu*1 ");
	assert_string_equal(node(d), "8 by nothing ");
	put_template(d, "one", ASKS("1"));
	add_pod(d, "train", BY_TEMPLATE("one"), NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(node(d), "8 by DevicePlugin ");
	assert_string_equal(seen(d, "plain"),
			    "nvidia.com/gpu*1 drover.dev/gpus-by NotIn ResourceClaim ");
	put(d, CLASSES,
	    "{'metadata': {'name': 'mapped'}, 'spec': {'extendedResourceName': 'nvidia.com/gpu'}}");
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "plain"), "nvidia.com/gpu*1 ");
}

#define CHANNEL                                                                                    \
	"'devices': {'requests': [{'name': 'c', 'exactly': {'deviceClassName': 'channel'}}],"      \
	" 'config': [{'requests': ['c'], 'opaque': {'driver': 'compute-domain.nvidia.com',"        \
	" 'parameters': {'kind': 'ComputeDomainChannelConfig', 'domainID': 'd-1'}}}]}"

static void a_compute_domain_is_one_nvlink_domain(void **state)
{
	struct bench *d = *state;
	const struct world_pod *p;

	serve(d);
	put_classes(d);
	put_template(d, "channel", CHANNEL);
	add_pod(d, "train", BY_TEMPLATE("channel"), NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"), DEVICES_CHANNEL "*1 ");
	p = tenant_world_pod(team(d), "default", "train", d->a);
	assert_int_equal(p->topology.n, 1);
	assert_int_equal(p->topology.v[0].kind, WORLD_TOGETHER);
	assert_string_equal(p->topology.v[0].key, DEVICES_CLIQUE);
	assert_true(selector_matches(&p->topology.v[0].pods, &p->labels));
	add_pod(d, "runs", BY_TEMPLATE("channel"), "n-1");
	bench_run(d, SOON_MS);
	p = tenant_world_pod(team(d), "default", "runs", d->a);
	assert_string_equal(labels_get(&p->labels, DEVICES_DOMAIN), "d-1");
	assert_int_equal(p->topology.n, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup_fleet, bench_teardown)
	const struct CMUnitTest tests[] = {
		T(a_pod_whose_claims_are_for_gpus_is_counted_when_it_ends),
		T(nobody_asks_for_devices_where_no_pod_has_a_claim),
		T(what_is_not_served_is_told),
		T(the_version_of_the_cluster_says_in_which_they_are_read),
		T(of_a_tenant_that_shares_nodes_claims_are_not_judged),
		T(a_pod_follows_its_template_and_its_class),
		T(a_claim_of_several_pods_counts_once),
		T(a_pod_that_runs_counts_what_was_allocated),
		T(a_node_has_what_its_slices_have_once_all_are_there),
		T(claims_and_plugins_keep_apart),
		T(a_compute_domain_is_one_nvlink_domain),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
