/* Tests which machines should be warm (powered on, with the agent running), and for which pool.
 * tests/world/test_warm.c tests how they are started. */
#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/claims/supply_status.h"
#include "controller/claims/warm_pool.h"

#define MACHINES 6

static void on_any(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	bench_to_provisioner(d, kind, name, object);
	warm_pool_kick(d->warm_pool);
}

/* Sets up m-1 to m-6; the last two in rack r2, the others in r1. */
static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	d->warm_pool = warm_pool_new(&d->c, d->sync);
	d->supply_status = supply_status_new(&d->c, d->drivers, d->warm_pool, d->eta, NULL, NULL);
	d->c.ready = true;
	d->on_change = on_any;
	bench_fleet(d);
	bench_patch(d, OBJECT_PROVIDER, "hall-a",
		    "{'spec': {'limits': {'perDomain': {"
		    "'key': 'example.com/rack', 'concurrent': 9}}}}");
	for (int i = 2; i <= MACHINES; i++)
		bench_put(d, arena_printf(
				     d->a,
				     "{'kind': 'Machine', 'metadata': {'name': 'm-%d'}, "
				     "'spec': {'providerRef': {'name': 'hall-a'},"
				     " 'instanceType': 'hgx', 'managementPolicy': 'Manage', "
				     "'bmc': {'address': 'https://10.0.8.%d/redfish/v1/Systems/1',"
				     "  'tls': {'trustOnFirstUse': true}}}, "
				     "'status': {'state': 'free', 'clean': true}}",
				     i, i));
	for (int i = 1; i <= MACHINES; i++)
		bench_patch(d, OBJECT_MACHINE, arena_printf(d->a, "m-%d", i),
			    arena_printf(d->a,
					 "{'metadata': {'labels': {'example.com/rack': '%s'}}}",
					 i < 5 ? "r1" : "r2"));
	return 0;
}

static int teardown(void **state)
{
	struct bench *d = *state;

	supply_status_free(d->supply_status);
	warm_pool_free(d->warm_pool);
	d->warm_pool = NULL;
	d->supply_status = NULL;
	return bench_teardown(state);
}

static void pool_wants(struct bench *d, const char *pool, int nodes)
{
	bench_patch(d, OBJECT_NODE_POOL, pool,
		    arena_printf(d->a, "{'spec': {'warm': {'nodes': %d}}}", nodes));
}

/* Returns the machines that should be warm and their pools, such as "m-1=h100 m-2=other". */
static const char *wishes(struct bench *d)
{
	const char *text = "";
	struct object_ref pool;

	bench_run(d, 3000);
	for (int i = 1; i <= MACHINES; i++) {
		const char *name = arena_printf(d->a, "m-%d", i);

		if (warm_pool_desired(d->warm_pool, name, &pool) == WARM_POOL_ON)
			text = arena_printf(d->a, "%s%s%s=%s", text, *text ? " " : "", name,
					    pool.name);
	}
	return text;
}

static void is_warm_for(struct bench *d, const char *machine, const char *pool, bool there)
{
	const struct node_pool *p = CTX_GET(&d->c, OBJECT_NODE_POOL, node_pool, pool);

	bench_status(
		d, OBJECT_MACHINE, machine,
		arena_printf(d->a,
			     "{'power': {'state': 'On'}, 'warmFor': {'name': '%s', 'uid': '%s'},"
			     " 'agent': %s}",
			     pool, p->meta.uid,
			     there ? "{'bootID': 'b', 'publicKey': 'ed25519:k'}" : "null"));
}

static void other_pool(struct bench *d, int weight, int nodes)
{
	bench_put(d,
		  arena_printf(
			  d->a,
			  "{'kind': 'NodePool', 'metadata': {'name': 'other'}, "
			  "'spec': {'virtualClusterSelector': {}, 'weight': %d,"
			  " 'warm': {'nodes': %d}, "
			  "'template': {'spec': {'providerRefs': [{'name': 'hall-a'}],"
			  "  'images': [{'kubernetesVersion': '1.36', "
			  "'url': 'https://img.example/n136.raw', 'format': 'raw',"
			  "   'digest': 'sha256:"
			  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}]}}}}",
			  weight, nodes));
}

static const char *said(struct bench *d, const char *pool)
{
	struct warm_pool_tally t;

	bench_run(d, 3000);
	if (!warm_pool_tally(d->warm_pool, CTX_GET(&d->c, OBJECT_NODE_POOL, node_pool, pool), d->a,
			     &t))
		return "";
	return arena_printf(d->a, "%s: %s", t.reason, t.message);
}

static void nobody_is_asked_for_before_this_process_has_looked_as_the_leader(void **state)
{
	struct bench *d = *state;
	struct object_ref pool;

	d->c.leading = false;
	pool_wants(d, "h100", 2);
	assert_string_equal(wishes(d), "");
	assert_int_equal(warm_pool_desired(d->warm_pool, "m-1", &pool), WARM_POOL_UNKNOWN);
	d->c.leading = true;
	warm_pool_kick(d->warm_pool);
	assert_string_equal(wishes(d), "m-1=h100 m-5=h100");
	d->c.leading = false;
	assert_int_equal(warm_pool_desired(d->warm_pool, "m-1", &pool), WARM_POOL_UNKNOWN);
	warm_pool_kick(d->warm_pool);
	d->c.leading = true;
	assert_int_equal(warm_pool_desired(d->warm_pool, "m-1", &pool), WARM_POOL_UNKNOWN);
	d->c.leading = true;
}

static void machines_are_taken_by_rack_failures_and_name(void **state)
{
	struct bench *d = *state;

	pool_wants(d, "h100", 1);
	assert_string_equal(wishes(d), "m-1=h100");
	pool_wants(d, "h100", 3);
	assert_string_equal(wishes(d), "m-1=h100 m-2=h100 m-5=h100");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'failures': [{'time': '2020-01-01T00:00:00Z', 'step': 'joining', "
		     "'reason': 'JoinTimeout'}]}");
	assert_string_equal(wishes(d), "m-2=h100 m-3=h100 m-5=h100");
}

static void what_is_warm_stays_and_what_is_not_up_goes_first(void **state)
{
	struct bench *d = *state;

	is_warm_for(d, "m-3", "h100", false);
	is_warm_for(d, "m-4", "h100", true);
	pool_wants(d, "h100", 2);
	/* The machines that are warm already are preferred, although both are in one rack. */
	assert_string_equal(wishes(d), "m-3=h100 m-4=h100");
	pool_wants(d, "h100", 1);
	assert_string_equal(wishes(d), "m-4=h100");
	pool_wants(d, "h100", 0);
	assert_string_equal(wishes(d), "");
}

static void a_machine_that_may_not_be_claimed_is_not_warmed(void **state)
{
	static const char *const changes[] = {
		"{'spec': {'managementPolicy': 'Observe'}}",
		"{'metadata': {'annotations': {'drover.dev/quarantine': 'a noise'}}}",
		"{'spec': {'instanceType': 'another'}}",
		"{'spec': {'providerRef': {'name': 'another'}}}",
	};
	static const char *const news[] = {
		"{'clean': false}",
		"{'state': 'dirty'}",
		"{'power': {'state': 'On'}}",
		"{'operation': {'nextAttempt': '2100-01-01T00:00:00Z'}}",
	};
	struct bench *d = *state;

	pool_wants(d, "h100", 1);
	for (size_t i = 0; i < 4; i++) {
		bench_patch(d, OBJECT_MACHINE, arena_printf(d->a, "m-%zu", i + 1), changes[i]);
		assert_string_equal(wishes(d), arena_printf(d->a, "m-%zu=h100", i + 2));
	}
	for (size_t i = 0; i < 4; i++) {
		bench_status(d, OBJECT_MACHINE, "m-5", news[i]);
		assert_string_equal(wishes(d), "m-6=h100");
		bench_status(d, OBJECT_MACHINE, "m-5",
			     "{'clean': true, 'state': 'free', 'power': {'state': 'Off'},"
			     " 'operation': {'nextAttempt': null}}");
		assert_string_equal(wishes(d), "m-5=h100");
	}
}

static void a_machine_that_failed_lately_is_left_alone_for_a_while(void **state)
{
	struct bench *d = *state;
	char now[STR_TIME_SIZE];

	bench_status(d, OBJECT_MACHINE, "m-1",
		     arena_printf(d->a,
				  "{'failures': [{'time': '%s', 'step': 'joining', "
				  "'reason': 'JoinTimeout'}]}",
				  str_time(now, loop_wall(d->l))));
	pool_wants(d, "h100", 6);
	assert_string_equal(wishes(d), "m-2=h100 m-3=h100 m-4=h100 m-5=h100 m-6=h100");
	assert_string_equal(said(d, "h100"),
			    "NoCapacity: 0 of 6 machines are warm: "
			    "no other free machine of a suitable type can be started now");
	bench_run(d, 32 * 60000);
	assert_string_equal(wishes(d), "m-1=h100 m-2=h100 m-3=h100 m-4=h100 m-5=h100 m-6=h100");
}

static void a_claim_takes_one_and_another_comes_in_its_place(void **state)
{
	struct bench *d = *state;

	is_warm_for(d, "m-1", "h100", true);
	pool_wants(d, "h100", 1);
	assert_string_equal(wishes(d), "m-1=h100");
	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, "
		     "'spec': {'virtualClusterRef': {'name': 'team-a', 'uid': 'u'},"
		     " 'nodePoolRef': {'name': 'other', 'uid': 'u'}, "
		     "'machineRef': {'name': 'm-1', 'uid': 'u'},"
		     " 'image': {'kubernetesVersion': '1.36', "
		     "'url': 'https://img.example/n136.raw', 'format': 'raw',"
		     "  'digest': 'sha256:"
		     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}");
	assert_string_equal(wishes(d), "m-2=h100");
}

static void pools_come_by_weight_and_a_machine_is_kept_for_one(void **state)
{
	struct bench *d = *state;

	pool_wants(d, "h100", 2);
	other_pool(d, 50, 2);
	assert_string_equal(wishes(d), "m-1=other m-2=h100 m-5=other m-6=h100");
	is_warm_for(d, "m-1", "h100", true);
	is_warm_for(d, "m-2", "other", true);
	assert_string_equal(wishes(d), "m-1=h100 m-2=other m-5=other m-6=h100");
	/* Pool h100 gives up its machines. The other pool takes over m-1, which is powered on, but
	 * does not prefer m-2, which is off. */
	pool_wants(d, "h100", 0);
	bench_status(d, OBJECT_MACHINE, "m-2",
		     "{'warmFor': null, 'agent': null, 'power': {'state': 'Off'}}");
	assert_string_equal(wishes(d), "m-1=other m-5=other");
}

static void a_pool_of_the_same_name_is_another_one(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_MACHINE, "m-6",
		     "{'power': {'state': 'On'}, 'warmFor': {'name': 'h100', 'uid': 'of before'}}");
	assert_string_equal(wishes(d), "");
	pool_wants(d, "h100", 1);
	/* The new pool takes over m-6, because that machine is powered on. */
	assert_string_equal(wishes(d), "m-6=h100");
	assert_string_equal(said(d, "h100"),
			    "Warming: 0 of 1 machines are warm: the others are being started");
}

static void a_pool_says_how_many_it_has_and_why_not_more(void **state)
{
	struct bench *d = *state;

	assert_string_equal(said(d, "h100"), "");
	pool_wants(d, "h100", 2);
	is_warm_for(d, "m-1", "h100", true);
	is_warm_for(d, "m-2", "h100", false);
	assert_string_equal(said(d, "h100"),
			    "Warming: 1 of 2 machines are warm: the others are being started");
	is_warm_for(d, "m-2", "h100", true);
	assert_string_equal(said(d, "h100"), "Warm: 2 of 2 machines are warm");
	pool_wants(d, "h100", 5);
	bench_patch(d, OBJECT_NODE_POOL, "h100", "{'spec': {'limits': {'nodes': '3'}}}");
	assert_string_equal(wishes(d), "m-1=h100 m-2=h100 m-5=h100");
	assert_string_equal(said(d, "h100"), "LimitExceeded: 2 of 5 machines are warm: "
					     "the limits of the pool leave no room for more");
	bench_patch(d, OBJECT_NODE_POOL, "h100", "{'spec': {'paused': true}}");
	assert_string_equal(wishes(d), "m-1=h100 m-2=h100");
	assert_string_equal(said(d, "h100"),
			    "PoolPaused: 2 of 5 machines are warm: the pool is paused");
}

/* Machines are not switched on in advance for a claim that may never get its approval. */
static void a_claim_that_waits_for_an_approval_is_no_node_of_the_pool(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_NODE_POOL, "h100", "{'spec': {'warm': {'percent': 100}}}");
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'spec': {'approval': {'claims': 'Manual'}}}");
	bench_put(d, "{'kind': 'NodeClaim', 'metadata': {'name': 'c-1'}, "
		     "'spec': {'virtualClusterRef': {'name': 'team-a'},"
		     " 'nodePoolRef': {'name': 'h100'}, 'machineRef': {'name': 'm-1'},"
		     " 'image': {'kubernetesVersion': '1.36', "
		     "'url': 'https://img.example/n136.raw', 'format': 'raw',"
		     "  'digest': 'sha256:"
		     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}");
	assert_string_equal(wishes(d), "");
	bench_status(d, OBJECT_NODE_CLAIM, "c-1",
		     "{'approval': {'decision': 'Approved', 'by': 'alice', "
		     "'at': '2026-01-01T00:00:00Z'}}");
	assert_string_equal(wishes(d), "m-2=h100");
	bench_status(d, OBJECT_NODE_CLAIM, "c-1",
		     "{'phase': 'Denied', 'approval': {'decision': 'Denied', 'by': 'alice', "
		     "'at': '2026-01-01T00:00:00Z'}}");
	assert_string_equal(wishes(d), "");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nobody_is_asked_for_before_this_process_has_looked_as_the_leader),
		T(a_claim_that_waits_for_an_approval_is_no_node_of_the_pool),
		T(machines_are_taken_by_rack_failures_and_name),
		T(what_is_warm_stays_and_what_is_not_up_goes_first),
		T(a_machine_that_may_not_be_claimed_is_not_warmed),
		T(a_machine_that_failed_lately_is_left_alone_for_a_while),
		T(a_claim_takes_one_and_another_comes_in_its_place),
		T(pools_come_by_weight_and_a_machine_is_kept_for_one),
		T(a_pool_of_the_same_name_is_another_one),
		T(a_pool_says_how_many_it_has_and_why_not_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
