#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/budget.h"

static int setup(void **state)
{
	bench_setup(state);
	bench_tenants(*state);
	bench_fleet(*state);
	return 0;
}

static struct tenant *team(struct bench *d)
{
	return tenant_get(d->tenants, "team-a");
}

static const char *condition(struct bench *d)
{
	return bench_condition(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "WithinBudget");
}

static const char *message(struct bench *d)
{
	OWN_JSON o = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "WithinBudget"))
			return arena_strdup(d->a, json_str_at(c, "message"));
	return "";
}

/* Returns a JSON object of n labels, {"k000-xx...": "vv...", ...}. Each label counts as about 150
 * bytes in scan_weight(). */
static const char *labels(struct bench *d, unsigned n)
{
	struct buf b;
	char *text;
	const char *out;

	buf_init(&b, (size_t)1 << 20);
	for (unsigned i = 0; i < n; i++)
		buf_printf(&b, "%s'k%03u-%050d': 'v%050d'", i ? "," : "", i, 0, 0);
	text = buf_steal(&b);
	out = arena_printf(d->a, "{%s}", text);
	free(text);
	return out;
}

static void a_pod_that_is_too_large_is_told_and_gets_nothing(void **state)
{
	struct bench *d = *state;
	const struct kube_entry *en;

	bench_run(d, 5000);
	assert_string_equal(condition(d), "");
	bench_pod(d, "small", 8);
	bench_pod(d, "big", 8);
	bench_must(d, &d->team, "PATCH", "/api/v1/namespaces/default/pods/big",
		   arena_printf(d->a, "{'metadata': {'labels': %s}}", labels(d, 200)));
	bench_run(d, 5000);
	en = kube_cache_get(team(d)->pods, "default", "big");
	assert_int_equal(((struct world_pod *)en->object)->labels.n, 0);
	assert_string_equal(condition(d), "False PodTooLarge");
	assert_non_null(strstr(message(d), "default/big"));
	assert_true(bench_events(&d->team, "ConstraintNotSupported") >= 1);
	assert_true(bench_events(&d->team, "Nominated") >= 1);
	bench_must(d, &d->team, "PATCH", "/api/v1/namespaces/default/pods/big",
		   "{'metadata': {'labels': null}}");
	bench_run(d, 5000);
	assert_string_equal(condition(d), "True Ok");
}

static void many_pods(struct bench *d, unsigned n, const char *method)
{
	const char *of = labels(d, 110);

	for (unsigned i = 0; i < n; i++) {
		OWN(arena) a = arena_new();
		bool make = str_eq(method, "POST");

		bench_must(d, &d->team, method,
			   make ? "/api/v1/namespaces/default/pods"
				: arena_printf(a, "/api/v1/namespaces/default/pods/p%u", i),
			   make ? arena_printf(a,
					       "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': "
					       "{'name': 'p%u', 'labels': %s}, 'spec': "
					       "{'containers': [{'name': 'c'}]}}",
					       i, of)
				: NULL);
	}
}

/* Number of pods, each of about 16 KiB, that exceeds the budget */
#define TOO_MANY 1800

static void pods_beyond_the_budget_are_not_read_and_may_be_anywhere(void **state)
{
	struct bench *d = *state;
	int64_t since;

	bench_run(d, 5000);
	assert_int_equal(tenant_pods_on(team(d), "node-1", &since), 0);
	many_pods(d, TOO_MANY, "POST");
	bench_run(d, 5000);
	assert_true(kube_cache_over(team(d)->pods));
	assert_true(kube_cache_size(team(d)->pods) < TOO_MANY);
	assert_string_equal(condition(d), "False PodsOverBudget");
	assert_non_null(strstr(message(d), "default/p"));
	assert_true(bench_events(&d->team, "OverBudget") >= 1);
	assert_int_equal(tenant_pods_on(team(d), "node-1", &since), 1);
	assert_true(tenant_usable(team(d)));

	many_pods(d, TOO_MANY * 2 / 3, "DELETE");
	bench_run(d, 310000);
	assert_false(kube_cache_over(team(d)->pods));
	assert_int_equal(kube_cache_size(team(d)->pods), TOO_MANY / 3);
	assert_string_equal(condition(d), "True Ok");
	assert_int_equal(tenant_pods_on(team(d), "node-1", &since), 0);
}

/* Fills what pods of 16 KiB leave of the budget with smaller and smaller ones. */
static void fill(struct bench *d)
{
	for (unsigned n = 64; n; n /= 2)
		for (unsigned i = 0; i < 2; i++)
			bench_must(d, &d->team, "POST", "/api/v1/namespaces/default/pods",
				   arena_printf(d->a,
						"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': "
						"{'name': 'fill-%u-%u', 'labels': %s}, 'spec': "
						"{'containers': [{'name': 'c'}]}}",
						n, i, labels(d, n)));
}

/* The pod still runs: it has only grown beyond the budget. */
static void a_pod_that_is_not_read_any_more_has_not_ended(void **state)
{
	static const char *const results[] = {"unknown", "deleted", "node_lost", NULL};
	struct bench *d = *state;

	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, 'spec': "
		     "{'virtualClusterRef': {'name': 'team-a', 'uid': 'u'}, "
		     "'nodePoolRef': {'name': 'h100', 'uid': 'u'}, "
		     "'machineRef': {'name': 'm-1', 'uid': 'u'}, 'expireAfter': '10m', 'image': "
		     "{'kubernetesVersion': '1.36', 'url': 'http://images/a', 'format': 'raw', "
		     "'digest': 'sha256:"
		     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}");
	bench_must(d, &d->team, "POST", "/api/v1/namespaces/default/pods",
		   "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'train'}, 'spec': "
		   "{'nodeName': 'c-1', 'containers': [{'name': 'c', "
		   "'resources': {'limits': {'nvidia.com/gpu': '8'}}}]}}");
	bench_run(d, 5000);
	many_pods(d, TOO_MANY, "POST");
	fill(d);
	bench_run(d, 5000);
	assert_non_null(kube_cache_get(team(d)->pods, "default", "train"));
	bench_must(d, &d->team, "PATCH", "/api/v1/namespaces/default/pods/train",
		   arena_printf(d->a, "{'metadata': {'labels': %s}}", labels(d, 110)));
	bench_run(d, 5000);
	assert_null(kube_cache_get(team(d)->pods, "default", "train"));
	for (size_t i = 0; results[i]; i++)
		assert_true(metric_get(metrics_find(d->c.metrics, "drover_gpu_pods_ended_total"),
				       (const char *const[]){"team-a", results[i], NULL}) == 0);
}

static void a_tenant_whose_nodes_are_not_all_read_is_not_usable(void **state)
{
	struct bench *d = *state;

	bench_run(d, 5000);
	bench_must(d, &d->team, "POST", "/api/v1/nodes",
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n',"
				" 'labels': %s}}",
				labels(d, 600)));
	bench_run(d, 5000);
	assert_false(tenant_usable(team(d)));
	assert_string_equal(condition(d), "False NodesOverBudget");
	assert_string_equal(bench_condition(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "Ready"),
			    "False NodesOverBudget");
	bench_must(d, &d->team, "PATCH", "/api/v1/nodes/n", "{'metadata': {'labels': null}}");
	bench_run(d, 310000);
	assert_true(tenant_usable(team(d)));
	assert_string_equal(condition(d), "True Ok");
}

/* Returns 32 anti-affinity terms, as JSON, that no other pod has. */
static const char *anti_affinity(struct bench *d, unsigned pod)
{
	const char *text = "";

	for (unsigned k = 0; k < 32; k++)
		text = arena_printf(d->a,
				    "%s%s{'topologyKey': 'kubernetes.io/hostname', 'labelSelector':"
				    " {'matchLabels': {'x': 'v%u-%u'}}}",
				    text, k ? "," : "", pod, k);
	return text;
}

static void pods_that_take_too_much_to_place_are_told(void **state)
{
	struct bench *d = *state;

	bench_run(d, 5000);
	for (unsigned i = 0; i < 500; i++) {
		OWN(arena) a = arena_new();

		bench_must(
			d, &d->team, "POST", "/api/v1/namespaces/default/pods",
			arena_printf(
				a,
				"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p%u'},"
				" 'spec': {'containers': [{'name': 'c'}], "
				"'affinity': {'podAntiAffinity':"
				" {'requiredDuringSchedulingIgnoredDuringExecution': [%s]}}}}",
				i, anti_affinity(d, i)));
		bench_must(d, &d->team, "PATCH",
			   arena_printf(a, "/api/v1/namespaces/default/pods/p%u/status", i),
			   "{'status': {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled',"
			   " 'status': 'False', 'reason': 'Unschedulable',"
			   " 'lastTransitionTime': '2026-12-01T10:00:00Z'}]}}");
	}
	bench_run(d, 5000);
	assert_string_equal(condition(d), "False PlanOverBudget");
	/* A tenant gets ten events a second, and the first pods of the queue have other reasons. */
	bench_run(d, 60000);
	assert_true(bench_events(&d->team, "OverBudget") >= 1);
	for (unsigned i = 0; i < 300; i++)
		bench_must(d, &d->team, "DELETE",
			   arena_printf(d->a, "/api/v1/namespaces/default/pods/p%u", i), NULL);
	bench_run(d, 5000);
	assert_string_equal(condition(d), "True Ok");
}

static void count_line(const char *line, size_t len, void *arg)
{
	char *last = arg;

	snprintf(last, 512, "%.*s", (int)len, line);
}

static void lines_beyond_the_budget_are_counted(void **state)
{
	struct bench *d = *state;
	char last[512] = "";
	unsigned n = 0;

	bench_run(d, 600000); /* Long enough to refill the tenant's budget of log lines. */
	log_redirect(count_line, last);
	for (unsigned i = 0; i < 1000; i++)
		n += tenant_may_log(team(d));
	assert_int_equal(n, 60);
	assert_string_equal(last, "");
	bench_run(d, 10000);
	last[0] = '\0';
	assert_true(tenant_may_log(team(d)));
	log_redirect(NULL, NULL);
	assert_non_null(strstr(last, "log messages about a tenant were suppressed"));
	assert_non_null(strstr(last, "lines=940"));
	assert_non_null(strstr(last, "tenant=team-a"));
}

static unsigned events(struct bench *d)
{
	unsigned n = 0;

	while (tenant_may_event(team(d)))
		n++;
	return n;
}

static void events_beyond_the_budget_are_not_sent(void **state)
{
	struct bench *d = *state;

	bench_run(d, 60000); /* Long enough to refill the tenant's budget of events. */
	assert_int_equal(events(d), 200);
	bench_run(d, 1000);
	assert_int_equal(events(d), 10);
}

/* Limits apply to the terms of a single volume and to the total size of all volumes. */
static void volumes_beyond_the_budget_are_not_read_and_their_pods_are_told(void **state)
{
	struct bench *d = *state;
	struct buf b;

	bench_run(d, 5000);
	buf_init(&b, (size_t)1 << 20);
	for (unsigned i = 0; i < 45; i++)
		buf_printf(&b, "%s'v%0200d'", i ? "," : "", i);
	for (unsigned i = 0; i < 1000; i++)
		bench_must(d, &d->team, "POST", "/api/v1/persistentvolumes",
			   arena_printf(d->a,
					"{'metadata': {'name': 'pv-%u'}, 'spec': {'nodeAffinity': {"
					"'required': {'nodeSelectorTerms':"
					" [{'matchExpressions': [{'key': 'zone', 'operator': 'In', "
					"'values': [%s]}]}]}}}}",
					i, b.data));
	buf_done(&b);
	bench_must(d, &d->team, "POST", "/api/v1/namespaces/default/persistentvolumeclaims",
		   "{'metadata': {'name': 'data'}, 'spec': {'volumeName': 'pv-999'}, "
		   "'status': {'phase': 'Bound'}}");
	bench_must(d, &d->team, "POST", "/api/v1/namespaces/default/pods",
		   "{'metadata': {'name': 'train'}, "
		   "'spec': {'volumes': [{'name': 'v', 'persistentVolumeClaim':"
		   " {'claimName': 'data'}}]}}");
	bench_must(d, &d->team, "PATCH", "/api/v1/namespaces/default/pods/train/status",
		   "{'status': {'conditions': [{'type': 'PodScheduled', 'status': 'False',"
		   " 'reason': 'Unschedulable'}]}}");
	bench_run(d, 10000);
	assert_string_equal(condition(d), "False VolumesOverBudget");
	assert_non_null(strstr(message(d), "20000 PersistentVolumes"));
	assert_non_null(strstr(tenant_world_pod(team(d), "default", "train", d->a)->volume_wait,
			       "its volume pv-999 does not exist; or it is not among the "
			       "PersistentVolumes that drover reads"));
	assert_true(tenant_usable(team(d)));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		T(a_pod_that_is_too_large_is_told_and_gets_nothing),
		T(pods_beyond_the_budget_are_not_read_and_may_be_anywhere),
		T(a_pod_that_is_not_read_any_more_has_not_ended),
		T(a_tenant_whose_nodes_are_not_all_read_is_not_usable),
		T(pods_that_take_too_much_to_place_are_told),
		T(lines_beyond_the_budget_are_counted),
		T(events_beyond_the_budget_are_not_sent),
		T(volumes_beyond_the_budget_are_not_read_and_their_pods_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
