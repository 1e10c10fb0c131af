/* Tests volumes: how claims affect pods as the claims are added, changed and removed. */
#include "tests/unit/controller/bench.h"

#include "base/buf.h"
#include "base/str.h"
#include "controller/tenant/projection.h"
#include "controller/tenant/volumes.h"
#include "planner/world_impl.h"

#define PODS "/api/v1/namespaces/default/pods"
#define CLAIMS "/api/v1/namespaces/default/persistentvolumeclaims"
#define VOLUMES "/api/v1/persistentvolumes"
#define CLASSES "/apis/storage.k8s.io/v1/storageclasses"
#define LIMITS "/apis/storage.k8s.io/v1/csinodes"
#define SOON_MS 3000

static struct tenant *team(struct bench *d)
{
	return tenant_get(d->tenants, "team-a");
}

/* Adds a pod with these volumes; node NULL: the pod is unschedulable. */
static void add_pod(struct bench *d, const char *name, const char *volumes, const char *node)
{
	bench_must(d, &d->team, "POST", PODS,
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s'},"
				" 'spec': {%s%s%s 'volumes': [%s], 'containers': [{'name': 'c'}]}}",
				name, node ? "'nodeName': '" : "", str_or(node, ""),
				node ? "'," : "", volumes));
	if (!node)
		bench_must(d, &d->team, "PATCH", arena_printf(d->a, PODS "/%s/status", name),
			   "{'status': {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled',"
			   " 'status': 'False', 'reason': 'Unschedulable'}]}}");
}

#define DATA "{'name': 'v', 'persistentVolumeClaim': {'claimName': 'data'}}"

static void put(struct bench *d, const char *path, const char *text)
{
	bench_must(d, &d->team, "POST", path, text);
}

static void put_bound(struct bench *d, const char *more)
{
	put(d, CLAIMS,
	    arena_printf(d->a,
			 "{'metadata': {'name': 'data'}, 'spec': {'volumeName': 'pv-1'%s},"
			 " 'status': {'phase': 'Bound'}}",
			 more));
}

static void put_volume(struct bench *d)
{
	put(d, VOLUMES,
	    "{'metadata': {'name': 'pv-1'}, "
	    "'spec': {'claimRef': {'namespace': 'default', 'name': 'data'},"
	    " 'csi': {'driver': 'ebs.csi.aws.com'}, "
	    "'nodeAffinity': {'required': {'nodeSelectorTerms': ["
	    "{'matchExpressions': [{'key': 'zone', 'operator': 'In', 'values': ['a']}]}]}}}}");
}

/* Returns the pod of the planner's world as text: "waits: TEXT", or its zone and attachments, such
 * as "zone=a @ebs.csi.aws.com". */
static const char *seen(struct bench *d, const char *pod)
{
	const struct world_pod *p = tenant_world_pod(team(d), "default", pod, d->a);
	const char *text;

	if (!p)
		return "none";
	if (p->unsupported)
		return p->unsupported;
	if (p->volume_wait)
		return arena_printf(d->a, "waits: %s", p->volume_wait);
	text = p->unschedulable || p->node ? "" : "not known yet";
	for (size_t i = 0; i < p->volumes.n; i++)
		text = arena_printf(d->a, "%s%s=%s ", text, p->volumes.v[i].v[0].v[0].key,
				    p->volumes.v[i].v[0].v[0].values[0]);
	for (size_t i = 0; i < p->requests.n; i++)
		text = arena_printf(d->a, "%s%s*%d ", text, p->requests.v[i].name,
				    (int)quantity_floor(p->requests.v[i].q));
	return text;
}

static void nobody_asks_for_volumes_where_no_pod_has_any(void **state)
{
	struct bench *d = *state;

	d->team.denied_at = "persistentvolume";
	add_pod(d, "plain", "{'name': 'v', 'emptyDir': {}}", NULL);
	add_pod(d, "runs", DATA, "n-1");
	bench_run(d, 60000);
	assert_int_equal(d->team.denials, 0);
	add_pod(d, "train", DATA, NULL);
	bench_run(d, SOON_MS);
	assert_true(d->team.denials > 0);
}

static void a_pod_follows_its_claim_and_its_volume(void **state)
{
	struct bench *d = *state;

	add_pod(d, "train", DATA, NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"), "waits: persistentVolumeClaim data does not exist");
	put_bound(d, "");
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"),
			    "waits: persistentVolumeClaim data: its volume pv-1 does not exist");
	assert_true(bench_events(&d->team, "VolumeNotReady") >= 2);
	put_volume(d);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"), "zone=a @ebs.csi.aws.com*1 ");
	assert_true(bench_events(&d->team, "RequirementsNotMet") >= 1);
	bench_must(d, &d->team, "DELETE", VOLUMES "/pv-1", NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"),
			    "waits: persistentVolumeClaim data: its volume pv-1 does not exist");
}

static void a_class_that_comes_is_seen_by_who_waits_for_it(void **state)
{
	struct bench *d = *state;

	put(d, CLAIMS, "{'metadata': {'name': 'data'}, 'spec': {'storageClassName': 'fast'}}");
	add_pod(d, "train", DATA ", {'name': 'w', 'ephemeral': {'volumeClaimTemplate': {}}}", NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"),
			    "waits: persistentVolumeClaim data: StorageClass fast does not exist");
	put(d, CLASSES,
	    "{'metadata': {'name': 'fast'}, 'provisioner': 'ebs.csi.aws.com', 'volumeBindingMode':"
	    " 'WaitForFirstConsumer', 'allowedTopologies': [{'matchLabelExpressions': [{"
	    "'key': 'zone', 'values': ['b']}]}]}");
	bench_run(d, SOON_MS);
	assert_string_equal(
		seen(d, "train"),
		"waits: persistentVolumeClaim train-w of ephemeral volume w is not created yet");
	put(d, CLAIMS,
	    arena_printf(d->a,
			 "{'metadata': {'name': 'train-w', "
			 "'ownerReferences': [{'apiVersion': 'v1', 'kind': 'Pod',"
			 " 'name': 'train', 'uid': '%s', 'controller': true}]}, "
			 "'spec': {'storageClassName': 'fast'}}",
			 tenant_world_pod(team(d), "default", "train", d->a)->uid));
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"), "zone=b zone=b @ebs.csi.aws.com*2 ");
}

static void a_claim_of_one_pod_is_in_use_until_that_one_has_gone(void **state)
{
	struct bench *d = *state;

	put_bound(d, ", 'accessModes': ['ReadWriteOncePod']");
	put_volume(d);
	add_pod(d, "runs", DATA, "n-1");
	add_pod(d, "train", DATA, NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(
		seen(d, "train"),
		"waits: persistentVolumeClaim data is ReadWriteOncePod, and pod runs uses it");
	assert_string_equal(seen(d, "runs"), "@ebs.csi.aws.com*1 ");
	bench_must(d, &d->team, "DELETE", PODS "/runs?gracePeriodSeconds=0", NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"), "zone=a @ebs.csi.aws.com*1 ");
	assert_true(bench_events(&d->team, "RequirementsNotMet") >=
		    1); /* The event reports that no machine is in zone a. */
}

/* Returns the pod's shared volume, as the planner's world has it. */
static const char *shared(struct bench *d, const char *pod)
{
	const struct world_one *one = map_get(world_sync_world(d->sync)->pods,
					      arena_printf(d->a, "team-a/default/%s", pod));
	const struct world_pod *p = one ? &one->shape->pod : NULL;

	return p && p->shared.n
		       ? arena_printf(d->a, "%s %s", p->shared.v[0].driver, p->shared.v[0].volume)
		       : "";
}

/* Only a claim with several users makes its pods differ from others, so that pods with a claim of
 * their own stay alike. */
static void a_claim_is_shared_while_several_pods_use_it(void **state)
{
	struct bench *d = *state;

	put_bound(d, "");
	put_volume(d);
	add_pod(d, "one", DATA, NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "one"), "zone=a @ebs.csi.aws.com*1 ");
	assert_string_equal(shared(d, "one"), "");
	add_pod(d, "two", DATA, "n-1");
	bench_run(d, SOON_MS);
	assert_string_equal(shared(d, "one"), "@ebs.csi.aws.com default/data");
	assert_string_equal(shared(d, "two"), "@ebs.csi.aws.com default/data");
	bench_must(d, &d->team, "PATCH", PODS "/two/status", "{'status': {'phase': 'Succeeded'}}");
	bench_run(d, SOON_MS);
	assert_string_equal(shared(d, "one"), "");
}

static void a_right_that_is_missing_is_named(void **state)
{
	static const struct {
		const char *path, *says;
	} rights[] = {
		{"/persistentvolumeclaims", "persistentvolumeclaims"},
		{"/persistentvolumes", "persistentvolumes"},
		{"/storageclasses", "storageclasses.storage.k8s.io"},
		{"/csinodes", "csinodes.storage.k8s.io"},
	};
	struct bench *d;

	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		bench_teardown(state);
		bench_setup_fleet(state);
		d = *state;
		d->team.denied_at = rights[i].path;
		add_pod(d, "train", DATA, NULL);
		bench_run(d, SOON_MS);
		assert_string_equal(
			seen(d, "train"),
			arena_printf(d->a,
				     "waits: drover may not get, list and watch %s in this cluster",
				     rights[i].says));
		assert_true(bench_events(&d->team, "VolumeNotReady") >= 1);
		assert_true(tenant_usable(team(d)));
		d->team.denied_at = NULL;
		bench_run(d, 120000);
		assert_string_equal(seen(d, "train"),
				    "waits: persistentVolumeClaim data does not exist");
	}
}

static void the_limits_of_a_node_are_its_csinodes(void **state)
{
	struct bench *d = *state;
	const struct tenant_node *n;
	const struct quantity *q;
	struct world_node w;

	bench_must(d, &d->team, "POST", "/api/v1/nodes",
		   "{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n-1'}}");
	put(d, LIMITS,
	    "{'metadata': {'name': 'n-1'}, 'spec': {'drivers': [{'name': 'ebs.csi.aws.com', "
	    "'nodeID': 'x', 'allocatable': {'count': 25}}]}}");
	add_pod(d, "train", DATA, NULL);
	bench_run(d, SOON_MS);
	n = tenant_node_get(team(d), "n-1");
	assert_non_null(n);
	w = tenant_world_node(team(d), n, d->a);
	q = resources_get(&w.allocatable, "@ebs.csi.aws.com");
	assert_non_null(q);
	assert_int_equal(quantity_floor(*q), 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup_fleet, bench_teardown)
		T(nobody_asks_for_volumes_where_no_pod_has_any),
		T(a_pod_follows_its_claim_and_its_volume),
		T(a_class_that_comes_is_seen_by_who_waits_for_it),
		T(a_claim_of_one_pod_is_in_use_until_that_one_has_gone),
		T(a_claim_is_shared_while_several_pods_use_it),
		T(a_right_that_is_missing_is_named),
		T(the_limits_of_a_node_are_its_csinodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
