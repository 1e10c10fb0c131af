#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/core/claim_index.h"

static const char *found[8];
static unsigned nfound;

static bool note(const struct node_claim *n, void *arg)
{
	(void)arg;
	found[nfound++] = n->meta.name;
	return nfound < 8;
}

static unsigned ask(const struct bench *d, enum claim_key key, const char *value)
{
	nfound = 0;
	claim_index_each(&d->c, key, value, note, NULL);
	assert_int_equal(claim_index_count(&d->c, key, value), nfound);
	return nfound;
}

static void put(struct bench *d, const char *name, const char *tenant, const char *machine)
{
	bench_put(d, arena_printf(
			     d->a,
			     "{'kind': 'NodeClaim', 'metadata': {'name': '%s'}, "
			     "'spec': {'virtualClusterRef': {'name': '%s'},"
			     " 'nodePoolRef': {'name': 'h100'}, 'machineRef': {'name': '%s'}, "
			     "'image': {'kubernetesVersion': '1.36',"
			     " 'url': 'https://img.example/n', 'format': 'raw', 'digest': 'sha256:"
			     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}",
			     name, tenant, machine));
}

static void claims_are_found_by_tenant_and_by_machine(void **state)
{
	struct bench *d = *state;

	put(d, "one", "team-a", "m-1");
	put(d, "two", "team-a", "m-2");
	put(d, "three", "team-b", "m-3");
	assert_int_equal(ask(d, CLAIM_BY_TENANT, "team-a"), 2);
	assert_int_equal(ask(d, CLAIM_BY_TENANT, "team-b"), 1);
	assert_string_equal(found[0], "three");
	assert_int_equal(ask(d, CLAIM_BY_TENANT, "team-c"), 0);
	assert_int_equal(ask(d, CLAIM_BY_TENANT, NULL), 0);
	assert_int_equal(ask(d, CLAIM_BY_MACHINE, "m-2"), 1);
	assert_string_equal(found[0], "two");
	/* status names another machine than spec: the claim is found under both. */
	bench_status(d, OBJECT_NODE_CLAIM, "two", "{'machineRef': {'name': 'm-9', 'uid': 'u'}}");
	assert_int_equal(ask(d, CLAIM_BY_MACHINE, "m-9"), 1);
	assert_int_equal(ask(d, CLAIM_BY_MACHINE, "m-2"), 1);
}

static void a_claim_that_has_gone_is_not_found(void **state)
{
	struct bench *d = *state;

	put(d, "one", "team-a", "m-1");
	assert_int_equal(ask(d, CLAIM_BY_TENANT, "team-a"), 1);
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/nodeclaims/one", NULL);
	bench_run(d, 1000);
	assert_int_equal(ask(d, CLAIM_BY_TENANT, "team-a"), 0);
	assert_int_equal(ask(d, CLAIM_BY_MACHINE, "m-1"), 0);
}

static bool is_starting(const struct bench *d, const char *name)
{
	nfound = 0;
	claim_index_starting(&d->c, note, NULL);
	return nfound && str_eq(found[0], name);
}

static void a_claim_for_pods_starts_until_it_serves(void **state)
{
	struct bench *d = *state;

	put(d, "by-hand", "team-a", "m-1");
	put(d, "for-pods", "team-a", "m-2");
	assert_false(is_starting(d, "by-hand"));
	bench_patch(d, OBJECT_NODE_CLAIM, "for-pods",
		    "{'metadata': {'annotations': {'drover.dev/for-pods': '2'}}}");
	assert_true(is_starting(d, "for-pods"));
	bench_status(
		d, OBJECT_NODE_CLAIM, "for-pods",
		"{'conditions': [{'type': 'Initialized', 'status': 'False', 'reason': 'Wait'}]}");
	assert_true(is_starting(d, "for-pods"));
	bench_status(d, OBJECT_NODE_CLAIM, "for-pods",
		     "{'conditions': [{'type': 'Initialized', 'status': 'True', 'reason': 'Ok'}]}");
	assert_false(is_starting(d, "for-pods"));
	bench_status(d, OBJECT_NODE_CLAIM, "for-pods", "{'conditions': null}");
	assert_true(is_starting(d, "for-pods"));
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/nodeclaims/for-pods", NULL);
	bench_run(d, 1000);
	assert_false(is_starting(d, "for-pods"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		T(claims_are_found_by_tenant_and_by_machine),
		T(a_claim_that_has_gone_is_not_found),
		T(a_claim_for_pods_starts_until_it_serves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
