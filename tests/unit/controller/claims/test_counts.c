/* A claim counts the same for quota, limit, status and bill, however the claim was created. */
#include "tests/unit/controller/bench.h"

#include <string.h>
#include "api/annotations.h"
#include "base/str.h"
#include "controller/billing/bill.h"
#include "controller/claims/supply_status.h"
#include "controller/claims/warm_pool.h"
#include "planner/plan.h"

#define CLAIM(name, spec, status)                                                                  \
	"{'kind': 'NodeClaim', 'metadata': {'name': '" name "'}, 'spec': {"                        \
	"'virtualClusterRef': {'name': 'team-a'}, 'nodePoolRef': {'name': 'h100'}, " spec          \
	"'image': {'kubernetesVersion': '1.36', 'url': 'https://img.example/n136.raw',"            \
	" 'format': 'raw', 'digest': "                                                             \
	"'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}},"             \
	" 'status': {" status "}}"
#define HGX                                                                                        \
	"'requirements': [{'key': 'node.kubernetes.io/instance-type', 'operator': 'In',"           \
	" 'values': ['hgx']}], "
#define ON(machine) "'machineRef': {'name': '" machine "'}, "

/* Type hgx has 8 GPUs, type mini has 2. */
static const struct {
	const char *about, *claim, *machine, *type;
	int64_t gpus;
} api_paths[] = {
	{"planned", CLAIM("planned", ON("w-1") HGX, "'phase': 'claimed'"), "w-1", "hgx", 8},
	{"made by hand", CLAIM("by-hand", ON("w-2"), "'phase': 'claimed'"), "w-2", "mini", 2},
	{"of another type than it says", CLAIM("wrong", ON("w-3") HGX, "'phase': 'serving'"), "w-3",
	 "mini", 2},
	{"adopted",
	 CLAIM("adopted", "", "'phase': 'serving', 'machineRef': {'name': 'w-4', 'uid': 'u'}"),
	 "w-4", "hgx", 8},
	{"to be launched", CLAIM("bought", "'providerRef': {'name': 'hall-a'}, " HGX, ""), NULL,
	 NULL, 8},
	{"failed, with its machine", CLAIM("failed", ON("w-5"), "'phase': 'Failed'"), "w-5", "mini",
	 2},
	{"failed, without one", CLAIM("lost", HGX, "'phase': 'Failed'"), NULL, NULL, 0},
	{"ended", CLAIM("ended", HGX, "'phase': 'Ended'"), NULL, NULL, 0},
};
#define WAYS (sizeof(api_paths) / sizeof(*api_paths))
#define GPUS "30"
#define NODES 6

static void put_machine(struct bench *d, size_t i)
{
	OWN_JSON claim = bench_json(api_paths[i].claim);
	const char *name = json_str_at(claim, "metadata", "name");
	OWN_JSON there = bench_get(d, OBJECT_NODE_CLAIM, name);

	bench_put(d, arena_printf(d->a,
				  "{'kind': 'Machine', 'metadata': {'name': '%s'}, 'spec': {"
				  "'providerRef': {'name': 'hall-a'}, 'instanceType': '%s',"
				  " 'managementPolicy': 'Manage'}, 'status': {'state': 'serving',"
				  " 'claimRef': {'name': '%s', 'uid': '%s'}}}",
				  api_paths[i].machine, api_paths[i].type, name,
				  json_str_at(there, "metadata", "uid")));
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_tenants(d);
	d->warm_pool = warm_pool_new(&d->c, d->sync);
	d->supply_status = supply_status_new(&d->c, d->drivers, d->warm_pool, d->eta, NULL, NULL);
	d->c.ready = true;
	bench_fleet(d);
	bench_patch(
		d, OBJECT_PROVIDER, "hall-a",
		"{'spec': {'instanceTypes': [{'name': 'hgx', 'capacity': {'nvidia.com/gpu': '8',"
		" 'pods': '110'}, 'match': {'pci': [{'id': '10de:2330', 'count': 8}]}},"
		" {'name': 'mini', 'capacity': {'nvidia.com/gpu': '2', 'pods': '110'},"
		" 'match': {'pci': [{'id': '10de:2331', 'count': 2}]}}]}}");
	for (size_t i = 0; i < WAYS; i++) {
		bench_put(d, api_paths[i].claim);
		if (api_paths[i].machine)
			put_machine(d, i);
	}
	bench_run(d, 5000);
	return 0;
}

static int teardown(void **state)
{
	struct bench *d = *state;

	supply_status_free(d->supply_status);
	warm_pool_free(d->warm_pool);
	d->supply_status = NULL;
	d->warm_pool = NULL;
	return bench_teardown(state);
}

static void says(struct bench *d, const char *want)
{
	OWN(arena) a = arena_new();
	const struct plan *p = plan_make(world_sync_world(d->sync), 0, a);

	/* Three of the claims each have room for one pod of 8 GPUs; quota or limit forbid a claim
	 * for the fourth pod. */
	assert_int_equal(p->npods, 4);
	assert_true(p->pods[3].nreasons > 0);
	if (!strstr(p->pods[3].reasons[0].text, want))
		fail_msg("want \"%s\" in \"%s\"", want, p->pods[3].reasons[0].text);
}

static void the_quota_and_the_limit_count_all_of_them(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'spec': {'quota': {'nvidia.com/gpu': '" GPUS "'}}}");
	for (int i = 0; i < 4; i++)
		bench_pod(d, arena_printf(d->a, "train-%d", i), 8);
	bench_run(d, 5000);
	says(d, GPUS " of " GPUS " used");
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'spec': {'quota': {'nvidia.com/gpu': '64'}}}");
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'limits': {'nvidia.com/gpu': '" GPUS "'}}}");
	bench_run(d, 5000);
	says(d, GPUS " of " GPUS " used");
}

static void both_statuses_say_the_same(void **state)
{
	struct bench *d = *state;
	OWN_JSON pool = NULL;
	OWN_JSON tenant = NULL;

	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'metadata': {'finalizers': ['" FINALIZER_VIRTUAL_CLUSTER "']}}");
	supply_status_kick(d->supply_status);
	bench_run(d, 10000);
	pool = bench_get(d, OBJECT_NODE_POOL, "h100");
	tenant = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	assert_int_equal(json_int_at(pool, "status", "nodes"), NODES);
	assert_string_equal(json_str_at(pool, "status", "resources", "nvidia.com/gpu"), GPUS);
	assert_string_equal(json_str_at(tenant, "status", "allocated", "nvidia.com/gpu"), GPUS);
}

/* The bill of each machine has the number of GPUs that its claim counts. */
static void the_bill_agrees_machine_by_machine(void **state)
{
	struct bench *d = *state;

	for (size_t i = 0; i < WAYS; i++) {
		OWN(arena) a = arena_new();
		struct virtual_cluster_charge like;
		const char *tenant;

		if (!api_paths[i].machine)
			continue;
		assert_true(bill_of_machine(
			&d->c, CTX_GET(&d->c, OBJECT_MACHINE, machine, api_paths[i].machine),
			MACHINE_SERVING, a, &tenant, &like));
		if (like.gpus != api_paths[i].gpus)
			fail_msg("a claim %s: %lld GPUs", api_paths[i].about, (long long)like.gpus);
		assert_string_equal(tenant, "team-a");
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_quota_and_the_limit_count_all_of_them),
		T(both_statuses_say_the_same),
		T(the_bill_agrees_machine_by_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
