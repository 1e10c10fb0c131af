#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/pod_ends.h"

#define PODS "/api/v1/namespaces/default/pods"
#define NODES "/api/v1/nodes"
#define IMAGE                                                                                      \
	"{'kubernetesVersion': '1.36', 'url': 'http://images/a', 'format': 'raw', 'digest': "      \
	"'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}"

static struct tenant *team(struct bench *d)
{
	return tenant_get(d->tenants, "team-a");
}

static void put_node(struct bench *d)
{
	bench_must(d, &d->team, "POST", NODES,
		   "{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'c-1'}}");
	bench_must(d, &d->team, "PATCH", NODES "/c-1/status",
		   "{'status': {'conditions': [{'type': 'Ready', 'status': 'True'}]}}");
}

/* The machine m-1 serves team-a by claim and Node c-1. */
static int setup(void **state)
{
	struct bench *d;

	bench_setup_fleet(state);
	d = *state;
	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, 'spec': "
		     "{'virtualClusterRef': {'name': 'team-a', 'uid': 'u'}, "
		     "'nodePoolRef': {'name': 'h100', 'uid': 'u'}, "
		     "'machineRef': {'name': 'm-1', 'uid': 'u'}, "
		     "'expireAfter': '10m', 'image': " IMAGE "}}");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'serving', 'claimRef': {'name': 'c-1', 'uid': 'u'}}");
	put_node(d);
	bench_run(d, 20000);
	return 0;
}

/* Creates a running pod. The finalizer keeps it after its deletion until remove_pod(), as a kubelet
 * does. */
static void put_pod_of(struct bench *d, const char *name, const char *node, const char *limits)
{
	bench_must(d, &d->team, "POST", PODS,
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s', "
				"'finalizers': ['example.com/kubelet']}, 'spec': {"
				"'nodeName': '%s', 'containers': [{'name': 'c', "
				"'resources': {'limits': {%s}}}]}}",
				name, node, limits));
	bench_must(d, &d->team, "PATCH", arena_printf(d->a, PODS "/%s/status", name),
		   "{'status': {'phase': 'Running'}}");
	bench_run(d, 1000);
}

static void put_pod(struct bench *d, const char *name)
{
	put_pod_of(d, name, "c-1", "'nvidia.com/gpu': '8'");
}

static void patch_pod(struct bench *d, const char *name, const char *sub, const char *patch)
{
	bench_must(d, &d->team, "PATCH", arena_printf(d->a, PODS "/%s%s", name, sub), patch);
	bench_run(d, 1000);
}

static void set_phase(struct bench *d, const char *name, const char *phase)
{
	patch_pod(d, name, "/status", arena_printf(d->a, "{'status': {'phase': '%s'}}", phase));
}

static void disrupt(struct bench *d, const char *name, const char *reason)
{
	patch_pod(d, name, "/status",
		  arena_printf(d->a,
			       "{'status': {'conditions': [{'type': 'DisruptionTarget', "
			       "'status': 'True', 'reason': '%s'}]}}",
			       reason));
}

/* Begins the deletion of the pod. */
static void delete_pod(struct bench *d, const char *name)
{
	bench_must(d, &d->team, "DELETE", arena_printf(d->a, PODS "/%s", name), NULL);
	bench_run(d, 1000);
}

/* Ends the deletion of the pod. */
static void remove_pod(struct bench *d, const char *name)
{
	patch_pod(d, name, "", "{'metadata': {'finalizers': null}}");
}

static const char *uid_of(struct bench *d, const char *name)
{
	OWN_JSON o = bench_stored(&d->team, arena_printf(d->a, "pods/default/%s", name));

	return arena_strdup(d->a, json_str_at(o, "metadata", "uid"));
}

static struct metric *ended(struct bench *d)
{
	return metrics_find(d->c.metrics, "drover_gpu_pods_ended_total");
}

/* Returns the number of pods of this result; fails if other pods were counted. */
static int only(struct bench *d, enum pod_end result)
{
	double n = 0, all = 0;

	for (int i = 0; i < POD_ENDS; i++) {
		double x = metric_get(ended(d),
				      (const char *const[]){"team-a", pod_end_names[i], NULL});

		all += x;
		n += (enum pod_end)i == result ? x : 0;
	}
	assert_true(all == n);
	return (int)n;
}

static void a_pod_that_ends_by_itself_is_counted_once(void **state)
{
	struct bench *d = *state;

	put_pod(d, "train");
	assert_int_equal(only(d, POD_END_SUCCEEDED), 0);
	set_phase(d, "train", "Succeeded");
	assert_int_equal(only(d, POD_END_SUCCEEDED), 1);
	patch_pod(d, "train", "", "{'metadata': {'labels': {'a': 'b'}}}");
	delete_pod(d, "train");
	remove_pod(d, "train");
	assert_int_equal(only(d, POD_END_SUCCEEDED), 1);
	/* A pod of the same name is a different pod. */
	put_pod(d, "train");
	set_phase(d, "train", "Succeeded");
	assert_int_equal(only(d, POD_END_SUCCEEDED), 2);
}

static void a_pod_of_a_gang_is_counted_once_although_it_stays(void **state)
{
	struct bench *d = *state;

	put_pod(d, "train");
	patch_pod(d, "train", "",
		  "{'metadata': {'annotations': {'drover.dev/gang-size': '2', "
		  "'drover.dev/gang-name': 'g'}}}");
	set_phase(d, "train", "Succeeded");
	assert_non_null(kube_cache_get(team(d)->pods, "default", "train"));
	assert_int_equal(only(d, POD_END_SUCCEEDED), 1);
	patch_pod(d, "train", "", "{'metadata': {'labels': {'a': 'b'}}}");
	delete_pod(d, "train");
	remove_pod(d, "train");
	assert_int_equal(only(d, POD_END_SUCCEEDED), 1);
}

static void a_failed_pod_is_counted_as_such(void **state)
{
	struct bench *d = *state;

	put_pod(d, "train");
	set_phase(d, "train", "Failed");
	assert_int_equal(only(d, POD_END_FAILED), 1);
}

static void pods_without_gpus_or_beside_drovers_nodes_are_not_counted(void **state)
{
	struct bench *d = *state;

	put_pod_of(d, "web", "c-1", "'cpu': '1'");
	put_pod_of(d, "none", "c-1", "'nvidia.com/gpu': '0'");
	put_pod_of(d, "elsewhere", "n-1", "'nvidia.com/gpu': '8'");
	put_pod_of(d, "part", "c-1", "'nvidia.com/mig-1g.10gb': '1'");
	set_phase(d, "web", "Failed");
	set_phase(d, "none", "Failed");
	set_phase(d, "elsewhere", "Failed");
	assert_int_equal(only(d, POD_END_SUCCEEDED), 0);
	set_phase(d, "part", "Succeeded");
	assert_int_equal(only(d, POD_END_SUCCEEDED), 1);
}

static void a_follower_counts_no_pod_and_a_leader_none_that_had_ended(void **state)
{
	struct bench *d = *state;

	put_pod(d, "before");
	put_pod(d, "after");
	d->c.leading = false;
	set_phase(d, "before", "Succeeded");
	d->c.leading = true;
	assert_int_equal(only(d, POD_END_SUCCEEDED), 0);
	patch_pod(d, "before", "", "{'metadata': {'labels': {'a': 'b'}}}");
	delete_pod(d, "before");
	remove_pod(d, "before");
	set_phase(d, "after", "Succeeded");
	assert_int_equal(only(d, POD_END_SUCCEEDED), 1);
}

static void pods_are_forgotten_when_they_are_read_again(void **state)
{
	struct bench *d = *state;

	put_pod(d, "train");
	pod_ends_forget(team(d)->ends);
	set_phase(d, "train", "Succeeded");
	assert_int_equal(only(d, POD_END_SUCCEEDED), 0);
	put_pod(d, "lost");
	pod_ends_lose(team(d)->ends, uid_of(d, "lost"));
	set_phase(d, "lost", "Failed");
	assert_int_equal(only(d, POD_END_SUCCEEDED), 0);
}

/* The kubelet ends the containers, then the object is removed. */
static void a_pod_that_its_owner_deletes_has_not_succeeded(void **state)
{
	struct bench *d = *state;

	put_pod(d, "train");
	delete_pod(d, "train");
	assert_int_equal(only(d, POD_END_DELETED), 0);
	set_phase(d, "train", "Succeeded");
	assert_int_equal(only(d, POD_END_DELETED), 1);
	remove_pod(d, "train");
	assert_int_equal(only(d, POD_END_DELETED), 1);
}

static void a_pod_that_vanishes_without_a_phase_is_unknown(void **state)
{
	struct bench *d = *state;

	put_pod(d, "train");
	remove_pod(d, "train");
	delete_pod(d, "train");
	assert_int_equal(only(d, POD_END_UNKNOWN), 1);
}

static void others_evict_too(void **state)
{
	struct bench *d = *state;

	put_pod(d, "train");
	disrupt(d, "train", "EvictionByEvictionAPI");
	delete_pod(d, "train");
	set_phase(d, "train", "Failed");
	assert_int_equal(only(d, POD_END_EVICTED), 1);
}

/* A leader that did not send the eviction sees that the machine drains. */
static void an_eviction_of_a_draining_machine_is_drovers(void **state)
{
	struct bench *d = *state;

	put_pod(d, "train");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'draining', 'leave': {'reason': 'Drain'}}");
	disrupt(d, "train", "EvictionByEvictionAPI");
	delete_pod(d, "train");
	/* The drain may be cancelled before the pod has ended. */
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'serving', 'leave': null}");
	set_phase(d, "train", "Failed");
	assert_int_equal(only(d, POD_END_BY_DROVER), 1);
}

static void an_eviction_that_was_refused_is_none(void **state)
{
	struct bench *d = *state;
	const char *uid;

	put_pod(d, "train");
	uid = uid_of(d, "train");
	pod_ends_asked(team(d)->ends, uid, POD_ASK_SENT);
	pod_ends_asked(team(d)->ends, uid, POD_ASK_REFUSED);
	delete_pod(d, "train");
	set_phase(d, "train", "Failed");
	assert_int_equal(only(d, POD_END_DELETED), 1);
}

static void one_accepted_request_of_drover_is_enough(void **state)
{
	struct bench *d = *state;
	const char *uid;

	put_pod(d, "train");
	uid = uid_of(d, "train");
	pod_ends_asked(team(d)->ends, uid, POD_ASK_ACCEPTED);
	pod_ends_asked(team(d)->ends, uid, POD_ASK_REFUSED);
	delete_pod(d, "train");
	set_phase(d, "train", "Failed");
	assert_int_equal(only(d, POD_END_BY_DROVER), 1);
}

static void a_node_that_vanishes_takes_its_pods_with_it(void **state)
{
	struct bench *d = *state;

	put_pod(d, "train");
	bench_must(d, &d->team, "DELETE", NODES "/c-1", NULL);
	bench_run(d, 1000);
	disrupt(d, "train", "DeletionByPodGC");
	set_phase(d, "train", "Failed");
	assert_int_equal(only(d, POD_END_NODE_LOST), 1);
}

/* The pods are removed after drover has deleted the Node of a machine that it stopped, when the
 * machine may be free again and its claim gone. */
static void a_node_that_drover_deletes_is_not_lost(void **state)
{
	struct bench *d = *state;

	put_pod(d, "train");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'leaving', 'leave': {'reason': 'Drain'}}");
	bench_must(d, &d->team, "DELETE", NODES "/c-1", NULL);
	bench_run(d, 1000);
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'free', 'leave': null, 'claimRef': null}");
	bench_must(d, &d->host, "DELETE", "/apis/drover.dev/v1alpha1/nodeclaims/c-1", NULL);
	bench_run(d, 1000);
	disrupt(d, "train", "DeletionByPodGC");
	set_phase(d, "train", "Failed");
	assert_int_equal(only(d, POD_END_BY_DROVER), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_pod_that_ends_by_itself_is_counted_once),
		T(a_pod_of_a_gang_is_counted_once_although_it_stays),
		T(a_failed_pod_is_counted_as_such),
		T(pods_without_gpus_or_beside_drovers_nodes_are_not_counted),
		T(a_follower_counts_no_pod_and_a_leader_none_that_had_ended),
		T(pods_are_forgotten_when_they_are_read_again),
		T(a_pod_that_its_owner_deletes_has_not_succeeded),
		T(a_pod_that_vanishes_without_a_phase_is_unknown),
		T(others_evict_too),
		T(an_eviction_of_a_draining_machine_is_drovers),
		T(an_eviction_that_was_refused_is_none),
		T(one_accepted_request_of_drover_is_enough),
		T(a_node_that_vanishes_takes_its_pods_with_it),
		T(a_node_that_drover_deletes_is_not_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
