/* Tests when a claim has drifted from its pool, and what its condition reports.
 * tests/world/test_drift.c tests that the machine of a drifted claim leaves. */
#include "tests/unit/controller/bench.h"

#include <string.h>

#include "base/str.h"
#include "controller/claims/drift.h"

#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "sha256:1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct drift *drift;

/* Sets up machine m-1 and its claim c-1, which serves and matches pool h100. */
static int setup(void **state)
{
	struct bench *d;

	bench_setup_fleet(state);
	d = *state;
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'disruption': {'drift': 'WithinBudgets'}}}");
	bench_put(
		d,
		"{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, 'spec': {'virtualClusterRef': "
		"{'name': 'team-a'}, 'nodePoolRef': {'name': 'h100'}, "
		"'machineRef': {'name': 'm-1'}, "
		"'requirements': [{'key': 'node.kubernetes.io/instance-type', "
		"'operator': 'In', 'values': ['hgx']}],"
		"'labels': {'example.com/pool': 'h100'}, "
		"'taints': [{'key': 'nvidia.com/gpu', 'effect': 'NoSchedule'}],"
		"'network': {'isolation': 'NotRequired'}, 'image': {'kubernetesVersion': '1.36', "
		"'url': 'https://img.example/n136.raw', 'format': 'raw', 'digest': '" DIGEST
		"'}}}");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     arena_printf(d->a,
				  "{'state': 'serving', 'claimRef': {'name': 'c-1', 'uid': '%s'}}",
				  CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, "c-1")->meta.uid));
	drift = drift_new(&d->c, d->tenants, NULL);
	return 0;
}

static int teardown(void **state)
{
	drift_free(drift);
	return bench_teardown(state);
}

static const struct node_claim *claim(struct bench *d)
{
	return CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, "c-1");
}

/* Returns reason and text of the drift as "REASON: TEXT"; "": not evaluated. */
static const char *said(struct bench *d)
{
	struct drift_words w;

	return drift_condition(drift, claim(d), d->a, &w)
		       ? arena_printf(d->a, "%s: %s", w.reason, w.text)
		       : "";
}

static void expect(struct bench *d, const char *reason, const char *text)
{
	const char *is = said(d);

	if (!str_starts(is, reason) || !strstr(is, text))
		fail_msg("%s, not %s ... %s", is, reason, text);
}

static void a_claim_drifts_when_its_template_says_something_else(void **state)
{
	static const struct {
		const char *patch, *reason, *text;
	} cases[] = {
		{"{'template': {'metadata': {'labels': {'example.com/pool': 'new'}}}}",
		 "NodePoolDrifted", ": labels"},
		{"{'template': {'metadata': {'labels': {'example.com/pool': 'h100'}}}}",
		 "NotDrifted", ""},
		{"{'template': {'spec': {'requirements': [{"
		 "'key': 'node.kubernetes.io/instance-type', "
		 "'operator': 'In', 'values': ['old']}]}}}",
		 "RequirementsDrifted", "instance-type In (old)"},
		/* Requirements are compared with the labels that the instance type gives to its
		 * Nodes. */
		{"{'template': {'spec': {'requirements': [{'key': 'nvidia.com/gpu.product', "
		 "'operator': 'In', 'values': ['H100']}]}}}",
		 "NotDrifted", ""},
		{"{'template': {'spec': {'providerRefs': [{'name': 'hall-b'}]}}}",
		 "ProviderDrifted", "provider hall-a"},
		{"{'template': {'spec': {'providerRefs': [{'name': 'hall-b'}, "
		 "{'name': 'hall-a'}]}}}",
		 "NotDrifted", ""},
		{"{'deadlines': {'imaging': '1h'}}", "NotDrifted", ""},
	};
	struct bench *d = *state;

	expect(d, "NotDrifted", "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bench_patch(d, OBJECT_NODE_POOL, "h100",
			    arena_printf(d->a, "{'spec': %s}", cases[i].patch));
		expect(d, cases[i].reason, cases[i].text);
	}
}

/* The tenant's API server runs Kubernetes 1.36: only the image for 1.36 counts. */
static void the_image_is_the_one_of_its_tenants_kubernetes(void **state)
{
	static const char *const image =
		"{'spec': {'template': {'spec': {'images': [{'kubernetesVersion': '1.36', 'url': "
		"'https://img.example/n136.raw', 'format': 'raw', 'digest': '%s'}, "
		"{'kubernetesVersion': "
		"'1.35', 'url': 'https://img.example/n135.raw', "
		"'format': 'raw', 'digest': '%s'}]}}}}";
	struct bench *d = *state;
	char text[700];

	str_format(text, sizeof(text), image, DIGEST, OTHER);
	bench_patch(d, OBJECT_NODE_POOL, "h100", text);
	expect(d, "NotDrifted", "");
	str_format(text, sizeof(text), image, OTHER, DIGEST);
	bench_patch(d, OBJECT_NODE_POOL, "h100", text);
	expect(d, "NodePoolDrifted", ": image");
}

static void where_nobody_asks_or_another_decides_nothing_is_judged(void **state)
{
	struct bench *d = *state;
	int64_t again;

	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'disruption': {'drift': 'Never'}, "
		    "'template': {'metadata': {'labels': {'x': "
		    "'y'}}}}}");
	assert_string_equal(said(d), "");
	assert_int_equal(drift_begins(drift, claim(d), 0, &again), DRIFT_STAYS);
	assert_int_equal(again, 0);
	/* A Node that already drains because of drift returns to service. */
	assert_int_equal(drift_goes_on(drift, claim(d)), DRIFT_STAYS);
}

static void put_pod(struct bench *d, const char *name, const char *more)
{
	bench_must(d, &d->team, "POST", "/api/v1/namespaces/default/pods",
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s'%s}, "
				"'spec': {'nodeName': 'c-1', 'containers': [{'name': 'c'}]}}",
				name, more));
	bench_run(d, 1000);
}

#define BY_SET                                                                                     \
	", 'ownerReferences': [{'apiVersion': 'apps/v1', 'kind': 'ReplicaSet', 'name': 'web', "    \
	"'uid': 'web-1', 'controller': true}]"

static void drop_pod(struct bench *d, const char *name)
{
	bench_must(
		d, &d->team, "DELETE",
		arena_printf(d->a, "/api/v1/namespaces/default/pods/%s?gracePeriodSeconds=0", name),
		NULL);
	bench_run(d, 1000);
}

static void ask(struct bench *d, int way, const char *text)
{
	int64_t again;

	bench_run(d, DRIFT_AGAIN_MS + 1000);
	assert_int_equal(drift_begins(drift, claim(d), 0, &again), way);
	expect(d, "NodePoolDrifted", text);
	assert_true(way != DRIFT_STAYS || again > 0);
}

static void what_may_not_be_moved_keeps_it(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'template': {'metadata': {'labels': {'x': 'y'}}}}}");
	drift_pool(drift, "h100");
	ask(d, DRIFT_STAYS, "waits until one minute has passed since the template");
	bench_run(d, 60000);
	put_pod(d, "web", BY_SET);
	ask(d, DRIFT_EVICTS, "labels");
	put_pod(d, "alone", "");
	ask(d, DRIFT_STAYS, "pod default/alone stays: it has no controller");
	assert_int_equal(drift_goes_on(drift, claim(d)), DRIFT_STAYS);
	drop_pod(d, "alone");
	assert_int_equal(drift_goes_on(drift, claim(d)), DRIFT_EVICTS);
	put_pod(d, "kept", BY_SET ", 'annotations': {'karpenter.sh/do-not-disrupt': 'true'}");
	ask(d, DRIFT_STAYS, "pod default/kept stays: an annotation");
	drop_pod(d, "kept");
	put_pod(d, "gang",
		BY_SET ", 'annotations': {'drover.dev/gang': 'g', 'drover.dev/gang-size': '2'}");
	ask(d, DRIFT_STAYS, "pod default/gang stays: it belongs to a gang");
	drop_pod(d, "gang");
	ask(d, DRIFT_EVICTS, "labels");
	/* The eviction was tried and withdrawn, because some pods did not leave. */
	drift_withdrawn(drift, claim(d));
	ask(d, DRIFT_STAYS, "drover tries again later");
	bench_run(d, DRIFT_BARRED_MS);
	ask(d, DRIFT_EVICTS, "labels");
}

static void of_a_tenant_that_does_not_answer_nothing_goes(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'template': {'metadata': {'labels': {'x': 'y'}}}}}");
	bench_away(d, &d->team, true);
	bench_run(d, 120000);
	ask(d, DRIFT_STAYS, "the tenant's API server does not answer");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_claim_drifts_when_its_template_says_something_else),
		T(the_image_is_the_one_of_its_tenants_kubernetes),
		T(where_nobody_asks_or_another_decides_nothing_is_judged),
		T(what_may_not_be_moved_keeps_it),
		T(of_a_tenant_that_does_not_answer_nothing_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
