/* Tests daemon_sets: which DaemonSets the planner gets, and what happens if they cannot be read. */
#include "tests/unit/controller/bench.h"

#include "api/annotations.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/daemon_sets.h"
#include "planner/world_impl.h"

#define SETS "/apis/apps/v1/namespaces/default/daemonsets"
#define SOON_MS 3000
#define AGAIN_MS 40000

static struct tenant *team(struct bench *d)
{
	return tenant_get(d->tenants, "team-a");
}

/* Adds a DaemonSet with this spec of its pods. */
static void add(struct bench *d, const char *name, const char *spec)
{
	bench_must(d, &d->team, "POST", SETS,
		   arena_printf(d->a,
				"{'metadata': {'name': '%s', 'finalizers': ['x.test/keep']},"
				" 'spec': {'selector': {'matchLabels': {'app': 'a'}}, 'template':"
				" {'metadata': {'labels': {'app': 'a'}}, 'spec': {%s}}}}",
				name, spec));
	bench_run(d, SOON_MS);
}

#define ONE(cpu) "'containers': [{'name': 'c', 'resources': {'requests': {'cpu': '" cpu "'}}}]"

/* Returns the DaemonSet as the planner has it; NULL: it does not have it. */
static const struct world_one *planned(struct bench *d, const char *name)
{
	return map_get(world_sync_world(d->sync)->pods,
		       arena_printf(d->a, "team-a/default/%s:daemonset", name));
}

static int64_t milli(struct bench *d, const char *name)
{
	const struct world_one *one = planned(d, name);
	const struct quantity *q = one ? resources_get(&one->shape->pod.requests, "cpu") : NULL;

	return q ? quantity_milli_ceil(*q) : -1;
}

static void a_daemonset_comes_changes_and_goes(void **state)
{
	struct bench *d = *state;
	const struct world_one *one;
	const struct world_pod *p;

	add(d, "cni",
	    "'nodeSelector': {'kubernetes.io/os': 'linux'},"
	    " 'tolerations': [{'operator': 'Exists'}], 'affinity': {'nodeAffinity': {"
	    "'requiredDuringSchedulingIgnoredDuringExecution': {'nodeSelectorTerms': ["
	    "{'matchExpressions': [{'key': 'gpu', 'operator': 'Exists'}]}]}}},"
	    " 'containers': [{'name': 'a', 'resources': {'requests': {'cpu': '100m'}}},"
	    " {'name': 'b', 'resources': {'limits': {'cpu': '150m'}},"
	    " 'ports': [{'hostPort': 9100, 'containerPort': 9100}]}]");
	one = planned(d, "cni");
	assert_non_null(one);
	assert_true(one->daemon_set && one->daemon && !one->unschedulable && !one->node);
	assert_int_equal(milli(d, "cni"), 250);
	p = &one->shape->pod;
	assert_non_null(resources_get(&p->requests, ":TCP/9100"));
	assert_string_equal(labels_get(&p->node_selector, "kubernetes.io/os"), "linux");
	assert_int_equal(p->tolerations.n, 1);
	assert_int_equal(p->affinity.n, 1);
	assert_int_equal(one->profile->pod.labels.n, 0);
	assert_null(daemon_sets_get(team(d)->daemon_sets, "default", "cni"));
	assert_null(tenant_world_pod(team(d), "default", "other:daemonset", d->a));
	bench_must(d, &d->team, "PATCH", SETS "/cni",
		   "{'spec': {'template': {'spec': {" ONE("1") "}}}}");
	bench_run(d, SOON_MS);
	assert_int_equal(milli(d, "cni"), 1000);
	/* While its finalizer keeps it, its pods are being deleted. */
	bench_must(d, &d->team, "DELETE", SETS "/cni", NULL);
	bench_run(d, SOON_MS);
	assert_null(planned(d, "cni"));
}

static void a_plan_in_progress_delays_it(void **state)
{
	struct bench *d = *state;

	add(d, "old", ONE("1"));
	world_sync_pause(d->sync);
	add(d, "cni", ONE("2"));
	bench_must(d, &d->team, "DELETE", SETS "/old", NULL);
	bench_run(d, SOON_MS);
	assert_null(planned(d, "cni"));
	assert_non_null(planned(d, "old"));
	world_sync_resume(d->sync);
	assert_int_equal(milli(d, "cni"), 2000);
	assert_null(planned(d, "old"));
}

static void what_brings_no_pod_to_a_new_node_is_left_out(void **state)
{
	struct bench *d = *state;
	char *long_ = mem_printf("%020000d", 7);

	add(d, "named", "'nodeName': 'n-1', " ONE("1"));
	assert_null(planned(d, "named"));
	add(d, "large", arena_printf(d->a, "'nodeSelector': {'a': '%s'}, " ONE("1"), "x"));
	assert_non_null(planned(d, "large"));
	bench_must(d, &d->team, "PATCH", SETS "/large",
		   arena_printf(d->a,
				"{'spec': {'template': {'spec': {'tolerations': [{'key': 'a%s',"
				" 'operator': 'Exists'}]}}}}",
				long_));
	bench_run(d, SOON_MS);
	assert_null(planned(d, "large"));
	free(long_);
	/* Claims of a DaemonSet are not examined. */
	add(d, "with-claims",
	    "'volumes': [{'name': 'v', 'persistentVolumeClaim': {'claimName': 'x'}}],"
	    " 'resourceClaims': [{'name': 'g', 'resourceClaimName': 'y'}], " ONE("1"));
	assert_int_equal(milli(d, "with-claims"), 1000);
	assert_null(planned(d, "with-claims")->shape->pod.unsupported);
}

/* Makes drover connect to the tenant again. */
static void connect_again(struct bench *d)
{
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'server': '" BENCH_TEAM "'}}");
	bench_run(d, 5000);
}

static const char *condition(struct bench *d)
{
	return bench_condition(d, OBJECT_VIRTUAL_CLUSTER, "team-a", TENANT_DAEMON_SETS_CONDITION);
}

static void a_missing_right_is_said_and_hinders_nothing(void **state)
{
	struct bench *d = *state;

	add(d, "cni", ONE("1"));
	assert_string_equal(condition(d), "");
	d->team.denied_at = "/daemonsets";
	connect_again(d);
	assert_true(tenant_usable(team(d)));
	assert_null(planned(d, "cni"));
	assert_string_equal(condition(d), "False NotPermitted");
	d->team.denied_at = NULL;
	bench_run(d, AGAIN_MS);
	assert_int_equal(milli(d, "cni"), 1000);
	assert_string_equal(condition(d), "True Ok");
	/* What was read stays when the right is taken away. */
	d->team.denied_at = "/daemonsets";
	bench_run(d, 600000);
	assert_string_equal(condition(d), "False NotPermitted");
	assert_int_equal(milli(d, "cni"), 1000);
	assert_true(tenant_usable(team(d)));
	d->team.denied_at = NULL;
	bench_run(d, AGAIN_MS);
	assert_string_equal(condition(d), "True Ok");
}

static void a_tenant_is_usable_once_its_daemonsets_are_known(void **state)
{
	struct bench *d = *state;

	assert_true(daemon_sets_known(team(d)->daemon_sets));
	daemon_sets_forget(team(d)->daemon_sets);
	assert_false(daemon_sets_known(team(d)->daemon_sets));
	bench_run(d, 61000); /* The tenant is judged at the next probe. */
	assert_string_equal(team(d)->reason, "Syncing");
	daemon_sets_start(team(d)->daemon_sets);
	bench_run(d, SOON_MS);
	assert_true(tenant_usable(team(d)));
}

static void too_many_are_said(void **state)
{
	struct bench *d = *state;

	for (int i = 0; i <= DAEMON_SETS; i++)
		bench_must(d, &d->team, "POST", SETS,
			   arena_printf(d->a,
					"{'metadata': {'name': 'set-%d'}, 'spec': {'selector':"
					" {'matchLabels': {'app': 'a'}}, 'template': {'metadata':"
					" {'labels': {'app': 'a'}}, 'spec': {" ONE("1") "}}}}",
					i));
	bench_run(d, SOON_MS);
	assert_string_equal(condition(d), "False OverBudget");
	bench_must(d, &d->team, "DELETE", SETS "/set-0", NULL);
	bench_run(d, 600000);
	assert_string_equal(condition(d), "True Ok");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup_fleet, bench_teardown)
		T(a_daemonset_comes_changes_and_goes),
		T(a_plan_in_progress_delays_it),
		T(what_brings_no_pod_to_a_new_node_is_left_out),
		T(a_missing_right_is_said_and_hinders_nothing),
		T(a_tenant_is_usable_once_its_daemonsets_are_known),
		T(too_many_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
