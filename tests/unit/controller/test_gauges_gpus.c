/* Tests that each GPU of the fleet has one state, whatever its machine and Node do. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "api/machine_states.h"
#include "base/str.h"
#include "controller/gauges.h"

#define NODES "/api/v1/nodes"
#define IMAGE                                                                                      \
	"{'kubernetesVersion': '1.36', 'url': 'http://images/a', 'format': 'raw', 'digest': "      \
	"'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}"

static struct gauges *gauges;

static int setup(void **state)
{
	struct bench *d;

	bench_setup_fleet(state);
	d = *state;
	bench_run(d, 20000);
	gauges = gauges_new(&d->c, d->tenants);
	return 0;
}

static int teardown(void **state)
{
	gauges_free(gauges);
	return bench_teardown(state);
}

static double sum(struct bench *d, const char *series)
{
	double all = 0;
	struct buf b;

	gauges_read(gauges);
	buf_init(&b, 16u << 20);
	metrics_write(d->c.metrics, &b);
	for (const char *p = b.data; (p = strstr(p, series)); p++)
		all += strtod(strstr(p, "} ") + 2, NULL);
	buf_done(&b);
	return all;
}

static double fleet(struct bench *d)
{
	return sum(d, "\ndrover_gpus{");
}

#define OF(pool, tenant, state)                                                                    \
	"\ndrover_gpus{pool=\"" pool "\",tenant=\"" tenant "\",state=\"" state "\"}"

static void put_machine(struct bench *d, const char *name, const char *status)
{
	bench_put(d, arena_printf(d->a,
				  "{'kind': 'Machine', 'metadata': {'name': '%s'}, 'spec': "
				  "{'providerRef': {'name': 'hall-a'}, 'instanceType': 'hgx', "
				  "'managementPolicy': 'Manage'}, 'status': %s}",
				  name, status));
}

/* Creates a claim of team-a and pool h100. */
static void put_claim(struct bench *d, const char *name)
{
	bench_put(d, arena_printf(d->a,
				  "{'kind': 'NodeClaim', 'metadata': {'name': '%s'}, 'spec': "
				  "{'virtualClusterRef': {'name': 'team-a', 'uid': 'u'}, "
				  "'nodePoolRef': {'name': 'h100', 'uid': 'u'}, "
				  "'expireAfter': '10m', 'image': " IMAGE "}}",
				  name));
}

/* Creates a machine that serves team-a by the claim and Node `name`. */
static void put_serving(struct bench *d, const char *name, const char *capacity,
			const char *allocatable)
{
	put_claim(d, name);
	put_machine(d, arena_printf(d->a, "m-%s", name),
		    arena_printf(d->a,
				 "{'state': 'serving', 'claimRef': {'name': '%s', 'uid': 'u'}, "
				 "'tenant': {'name': 'team-a', 'uid': 'u'}, 'pool': 'h100'}",
				 name));
	bench_must(d, &d->team, "POST", NODES,
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': '%s'}}",
				name));
	bench_must(d, &d->team, "PATCH", arena_printf(d->a, NODES "/%s/status", name),
		   arena_printf(d->a,
				"{'status': {'capacity': {%s}, 'allocatable': {%s}, 'conditions': "
				"[{'type': 'Ready', 'status': 'True'}]}}",
				capacity, allocatable));
	bench_run(d, 2000);
}

static void put_pod(struct bench *d, const char *name, const char *node, const char *limits)
{
	bench_must(d, &d->team, "POST", "/api/v1/namespaces/default/pods",
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s'}, "
				"'spec': {'nodeName': '%s', 'containers': [{'name': 'c', "
				"'resources': {'limits': {%s}}}]}}",
				name, node, limits));
	bench_run(d, 2000);
}

static void each_state_of_a_machine_is_one_of_its_gpus(void **state)
{
	struct bench *d = *state;
	static const struct {
		const char *state, *series;
	} cases[] = {
		{"known", OF("", "", "unknown")},
		{"free", OF("", "", "free")},
		{"claimed", OF("h100", "team-b", "starting")},
		{"imaging", OF("h100", "team-b", "starting")},
		{"attaching", OF("h100", "team-b", "starting")},
		{"booting", OF("h100", "team-b", "starting")},
		{"joining", OF("h100", "team-b", "starting")},
		{"gating", OF("h100", "team-b", "starting")},
		/* The claim is not read, so neither is the Node. */
		{"serving", OF("h100", "team-b", "unknown")},
		{"draining", OF("h100", "team-b", "unknown")},
		{"stopping", OF("h100", "team-b", "leaving")},
		{"isolating", OF("h100", "team-b", "leaving")},
		{"leaving", OF("h100", "team-b", "leaving")},
		{"dirty", OF("h100", "", "wiping")},
		{"inspecting", OF("h100", "", "wiping")},
		{"wiping", OF("h100", "", "wiping")},
		{"verifying", OF("h100", "", "wiping")},
		{"quarantined", OF("h100", "", "out_of_order")},
		{"retired", NULL},
		{"gone", NULL},
	};

	put_machine(d, "m-2", "{'tenant': {'name': 'team-b', 'uid': 'u'}, 'pool': 'h100'}");
	assert_int_equal(sizeof(cases) / sizeof(cases[0]), MACHINE_STATES);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const double others = str_eq(cases[i].state, "free") ? 8 : 0;

		bench_status(d, OBJECT_MACHINE, "m-2",
			     arena_printf(d->a, "{'state': '%s'}", cases[i].state));
		if (fleet(d) != (cases[i].series ? 16 : 8) ||
		    (cases[i].series && sum(d, cases[i].series) != 8 + others))
			fail_msg("%s: %g GPUs in all", cases[i].state, fleet(d));
	}
}

/* As the steps write status: a claimed machine has only claimRef, a cloud instance has no pool. */
static void pool_and_tenant_are_those_of_the_claim(void **state)
{
	struct bench *d = *state;
	static const struct {
		const char *status, *series;
	} cases[] = {
		{"{'state': 'claimed', 'claimRef': {'name': 'c-1', 'uid': 'u'}}",
		 OF("h100", "team-a", "starting")},
		{"{'state': 'booting', 'claimRef': {'name': 'c-1', 'uid': 'u'}, "
		 "'tenant': {'name': 'team-a', 'uid': 'u'}}",
		 OF("h100", "team-a", "starting")},
		{"{'state': 'serving', 'claimRef': {'name': 'c-1', 'uid': 'u'}, "
		 "'tenant': {'name': 'team-a', 'uid': 'u'}}",
		 OF("h100", "team-a", "out_of_order")},
		{"{'state': 'stopping', 'claimRef': {'name': 'c-1', 'uid': 'u'}, "
		 "'tenant': {'name': 'team-a', 'uid': 'u'}}",
		 OF("h100", "team-a", "leaving")},
		{"{'state': 'quarantined', 'claimRef': {'name': 'c-1', 'uid': 'u'}}",
		 OF("h100", "", "out_of_order")},
		/* The NodeClaim was deleted by force. */
		{"{'state': 'leaving', 'claimRef': {'name': 'c-9', 'uid': 'u'}, "
		 "'tenant': {'name': 'team-a', 'uid': 'u'}, 'pool': 'h100'}",
		 OF("h100", "team-a", "leaving")},
	};

	put_claim(d, "c-1");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[32];

		str_format(name, sizeof(name), "m-%zu", i + 2);
		put_machine(d, name, cases[i].status);
		if (sum(d, cases[i].series) != 8 || fleet(d) != 16)
			fail_msg("%s: %g GPUs", cases[i].status, sum(d, cases[i].series));
		bench_status(d, OBJECT_MACHINE, name, "{'state': 'gone'}");
	}
}

static void a_free_machine_that_nobody_can_use_is_out_of_order(void **state)
{
	struct bench *d = *state;

	assert_true(sum(d, OF("", "", "free")) == 8);
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'conditions': [{'type': 'Reachable', 'status': 'False', 'reason': "
		     "'BmcUnreachable', 'lastTransitionTime': '2026-12-01T10:00:00Z'}]}");
	assert_true(sum(d, OF("", "", "out_of_order")) == 8 && fleet(d) == 8);
}

static void gpus_of_nodes_are_divided_by_requests(void **state)
{
	struct bench *d = *state;
	const char *whole = "'nvidia.com/gpu': '8'", *mig = "'nvidia.com/mig-1g.10gb': '56'";

	put_serving(d, "c-1", whole, whole);
	assert_true(sum(d, OF("h100", "team-a", "allocated")) == 0);
	assert_true(sum(d, OF("h100", "team-a", "idle")) == 8);
	put_pod(d, "three", "c-1", "'nvidia.com/gpu': '3'");
	put_pod(d, "elsewhere", "theirs", "'nvidia.com/gpu': '3'");
	assert_true(sum(d, OF("h100", "team-a", "allocated")) == 3);
	assert_true(sum(d, OF("h100", "team-a", "idle")) == 5);
	/* MIG, and resource claims whose driver has not published anything yet */
	put_serving(d, "c-2", mig, mig);
	put_pod(d, "seven", "c-2", "'nvidia.com/mig-1g.10gb': '7'");
	put_serving(d, "c-3", "'cpu': '8'", "'cpu': '8'");
	assert_true(sum(d, OF("h100", "team-a", "allocated")) == 4);
	assert_true(sum(d, OF("h100", "team-a", "idle")) == 5 + 7 + 8);
	assert_true(sum(d, OF("h100", "team-a", "out_of_order")) == 0);
	/* A Node with two unhealthy GPUs, and one that is not Ready. */
	put_serving(d, "c-4", whole, "'nvidia.com/gpu': '6'");
	put_serving(d, "c-5", whole, whole);
	bench_must(d, &d->team, "PATCH", NODES "/c-5/status",
		   "{'status': {'conditions': [{'type': 'Ready', 'status': 'Unknown'}]}}");
	bench_run(d, 2000);
	assert_true(sum(d, OF("h100", "team-a", "out_of_order")) == 2 + 8);
	assert_true(fleet(d) == 6 * 8);
	/* A draining Node takes no pods: what its pods do not request is leaving. */
	bench_status(d, OBJECT_MACHINE, "m-c-1", "{'state': 'draining'}");
	assert_true(sum(d, OF("h100", "team-a", "leaving")) == 5);
	assert_true(sum(d, OF("h100", "team-a", "allocated")) == 4);
	assert_true(fleet(d) == 6 * 8);
}

/* GPUs of Nodes that are not read yet are neither idle nor out of order. */
static void a_node_that_was_not_read_is_unknown(void **state)
{
	struct bench *d = *state;
	const char *whole = "'nvidia.com/gpu': '8'";

	put_serving(d, "c-1", whole, whole);
	tenant_get(d->tenants, "team-a")->reachable = false; /* read earlier: stays as it was */
	assert_true(sum(d, OF("h100", "team-a", "idle")) == 8);
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a",
		   NULL);
	bench_run(d, 5000);
	assert_null(tenant_get(d->tenants, "team-a"));
	assert_true(sum(d, OF("h100", "team-a", "unknown")) == 8);
	assert_true(fleet(d) == 16);
}

/* A second tenant whose API server has a Node and pods of the same names. */
static void pods_count_on_nodes_of_their_tenant_alone(void **state)
{
	struct bench *d = *state;
	const char *whole = "'nvidia.com/gpu': '8'";

	bench_put(d,
		  "{'kind': 'VirtualCluster', 'metadata': {'name': 'team-b'}, 'spec': {"
		  " 'kubeconfigSecretRef': {'name': 'team-a'}, 'joinEndpoint': '10.20.0.10:6443',"
		  " 'quota': {'nvidia.com/gpu': '64'},"
		  " 'network': {'segment': 'team-b', 'addressing': 'DHCP'}}}");
	put_serving(d, "c-1", whole, whole);
	put_pod(d, "three", "c-1", "'nvidia.com/gpu': '3'");
	bench_run(d, 20000);
	assert_non_null(tenant_node_get(tenant_get(d->tenants, "team-b"), "c-1"));
	assert_true(sum(d, OF("h100", "team-a", "allocated")) == 3);
	assert_true(sum(d, OF("h100", "team-a", "idle")) == 5);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_state_of_a_machine_is_one_of_its_gpus),
		T(pool_and_tenant_are_those_of_the_claim),
		T(a_free_machine_that_nobody_can_use_is_out_of_order),
		T(gpus_of_nodes_are_divided_by_requests),
		T(pods_count_on_nodes_of_their_tenant_alone),
		T(a_node_that_was_not_read_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
