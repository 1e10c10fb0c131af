/* Tests claims whose tenant or pool was deleted, with the module owners alone.
 * tests/world/test_leave.c tests how whole machines leave. */
#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/claims/owners.h"

#define API "/apis/" OBJECT_API_VERSION
/* Long enough to read the owner and its CustomResourceDefinition, and to delete the claim. */
#define SOON_MS 5000

static struct owners *owners;

/* Notifies owners of a changed object, as the controller does. */
static void on_change(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	const struct node_claim *n = object;

	(void)d;
	if (kind == OBJECT_VIRTUAL_CLUSTER)
		owners_kick(owners, name);
	else if (kind == OBJECT_NODE_CLAIM)
		owners_kick(owners, n ? n->spec.virtual_cluster_ref.name : NULL);
	else if (kind == OBJECT_NODE_POOL)
		owners_kick(owners, NULL);
}

static void on_started(int64_t transitions, void *arg)
{
	(void)transitions;
	(void)arg;
}

static void on_stopped(void *arg)
{
	(void)arg;
}

/* Adds a claim of team-a and of the pool, and its machine in that state. */
static void put_claim(struct bench *d, const char *name, const char *machine, const char *state)
{
	bench_put(d, arena_printf(
			     d->a,
			     "{'kind': 'NodeClaim', 'metadata': {'name': '%s', "
			     "'finalizers': ['drover.dev/termination']}, "
			     "'spec': {'virtualClusterRef': {'name': 'team-a'}, "
			     "'nodePoolRef': {'name': 'h100'}, "
			     "'machineRef': {'name': '%s'}, 'image': "
			     "{'kubernetesVersion': '1.36', 'url': 'https://img.example/n', "
			     "'format': 'raw', 'digest': 'sha256:"
			     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}",
			     name, machine));
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, name);
	if (!CTX_GET(&d->c, OBJECT_MACHINE, machine, machine))
		bench_put(d, arena_printf(d->a,
					  "{'kind': 'Machine', 'metadata': {'name': '%s'}, "
					  "'spec': {'providerRef': {'name': 'hall-a'}, "
					  "'instanceType': 'hgx', 'managementPolicy': 'Manage'}}",
					  machine));
	bench_status(d, OBJECT_MACHINE, machine,
		     arena_printf(d->a, "{'state': '%s', 'claimRef': {'name': '%s', 'uid': '%s'}}",
				  state, name, json_str_at(o, "metadata", "uid")));
}

/* Sets up claims c-1 and c-2 of the pool, which serve. */
static int setup(void **state)
{
	struct kube_lease_spec s = {.ns = BENCH_NS,
				    .name = "lead",
				    .identity = "bench",
				    .on_started = on_started,
				    .on_stopped = on_stopped};
	struct bench *d;

	bench_setup(state);
	d = *state;
	owners = owners_new(&d->c);
	d->on_change = on_change;
	s.client = d->c.host;
	d->c.lease = kube_lease_new(d->g, &s);
	bench_fleet(d);
	put_claim(d, "c-1", "m-1", "serving");
	put_claim(d, "c-2", "m-2", "serving");
	return 0;
}

static int teardown(void **state)
{
	struct bench *d = *state;

	kube_lease_free(d->c.lease);
	owners_free(owners);
	d->c.lease = NULL;
	owners = NULL;
	return bench_teardown(state);
}

static bool goes(struct bench *d, const char *claim)
{
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, claim);

	return json_at(o, "metadata", "deletionTimestamp");
}

static void remove_it(struct bench *d, const char *path)
{
	bench_must(d, &d->host, "DELETE", path, NULL);
	bench_run(d, SOON_MS);
}

/* Deletes the pool while another writer's finalizer keeps the object, so that the pool's budgets
 * still count. */
static void delete_kept_pool(struct bench *d, const char *budgets)
{
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    arena_printf(d->a,
				 "{'metadata': {'finalizers': ['example.com/held']}, 'spec': "
				 "{'disruption': {'budgets': %s}}}",
				 budgets));
	remove_it(d, API "/nodepools/h100");
}

static void claims_stay_while_their_owners_do(void **state)
{
	struct bench *d = *state;

	owners_kick(owners, NULL);
	bench_run(d, 60000);
	assert_false(goes(d, "c-1") || goes(d, "c-2"));
}

static void all_claims_of_a_tenant_that_is_deleted_go(void **state)
{
	struct bench *d = *state;

	remove_it(d, API "/virtualclusters/team-a");
	assert_true(goes(d, "c-1") && goes(d, "c-2"));
	assert_int_equal(bench_events(&d->host, "OwnerDeleted"), 2);
}

static void claims_of_a_pool_that_is_gone_go_one_after_the_other(void **state)
{
	struct bench *d = *state;

	remove_it(d, API "/nodepools/h100");
	bench_run(d, 60000);
	assert_true(goes(d, "c-1") && !goes(d, "c-2"));
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'draining'}");
	bench_run(d, 60000);
	assert_false(goes(d, "c-2"));
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'dirty', 'claimRef': null}");
	bench_run(d, 60000);
	assert_true(goes(d, "c-2"));
}

static void budgets_of_a_pool_that_stays_count_and_none_for_less_than_one(void **state)
{
	struct bench *d = *state;

	put_claim(d, "c-3", "m-3", "serving");
	delete_kept_pool(d, "[{'nodes': '2'}]");
	bench_run(d, 60000);
	assert_true(goes(d, "c-1") && goes(d, "c-2") && !goes(d, "c-3"));
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'disruption': {'budgets': [{'nodes': '0'}]}}}");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'dirty', 'claimRef': null}");
	bench_run(d, 60000);
	assert_false(goes(d, "c-3"));
	bench_status(d, OBJECT_MACHINE, "m-2", "{'state': 'dirty', 'claimRef': null}");
	bench_run(d, 60000);
	assert_true(goes(d, "c-3"));
}

/* A budget protects pods. No pod runs on a machine that does not serve. */
static void a_claim_that_does_not_serve_waits_for_no_budget(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_MACHINE, "m-2", "{'state': 'booting'}");
	remove_it(d, API "/nodepools/h100");
	bench_run(d, 60000);
	assert_true(goes(d, "c-1") && goes(d, "c-2"));
}

static bool m_1_is_decided(const struct machine *m, const struct node_claim *n, void *arg)
{
	(void)n;
	(void)arg;
	return str_eq(m->meta.name, "m-1");
}

static void what_leaves_otherwise_takes_from_the_same_budget(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'draining', 'leave': {'reason': 'Empty'}}");
	bench_status(d, OBJECT_MACHINE, "m-2", "{'state': 'serving'}");
	put_claim(d, "c-3", "m-3", "serving");
	delete_kept_pool(d, "[{'nodes': '1'}]");
	bench_run(d, 60000);
	/* c-1 no longer serves, so it does not count against the budget. */
	assert_true(goes(d, "c-1"));
	assert_false(goes(d, "c-2") || goes(d, "c-3"));
}

static void what_is_decided_and_not_yet_written_takes_from_it_too(void **state)
{
	struct bench *d = *state;

	d->c.decided = m_1_is_decided;
	delete_kept_pool(d, "[{'nodes': '1'}]");
	bench_run(d, 60000);
	assert_false(goes(d, "c-1") || goes(d, "c-2"));
	/* The decision was not carried out, so it no longer counts against the budget. */
	d->c.decided = NULL;
	bench_run(d, 60000);
	assert_int_equal(goes(d, "c-1") + goes(d, "c-2"), 1);
}

/* owners reports each deletion of a claim of the pool as in progress until the API server has
 * answered. */
static void a_deletion_is_known_while_it_is_on_its_way(void **state)
{
	struct bench *d = *state;
	const struct node_claim *n = CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, "c-1");
	int64_t end = loop_now(d->l) + 60000;
	bool seen = false;

	assert_false(owners_deletes(owners, n));
	bench_must(d, &d->host, "DELETE", API "/nodepools/h100", NULL);
	while (!goes(d, "c-1") && loop_now(d->l) < end) {
		n = CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, "c-1");
		seen |= owners_deletes(owners, n);
		bench_run(d, 1);
	}
	bench_run(d, SOON_MS);
	assert_true(seen && goes(d, "c-1"));
	assert_false(owners_deletes(owners, CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, "c-1")));
}

static void nothing_goes_while_the_tenant_is_paused_or_by_who_does_not_lead(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'paused': true}}");
	remove_it(d, API "/nodepools/h100");
	bench_run(d, 60000);
	assert_false(goes(d, "c-1") || goes(d, "c-2"));
	d->c.leading = false;
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'paused': false}}");
	bench_run(d, 60000);
	assert_false(goes(d, "c-1") || goes(d, "c-2"));
	d->c.leading = true;
	owners_kick(owners, NULL);
	bench_run(d, SOON_MS);
	assert_true(goes(d, "c-1"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(claims_stay_while_their_owners_do),
		T(all_claims_of_a_tenant_that_is_deleted_go),
		T(claims_of_a_pool_that_is_gone_go_one_after_the_other),
		T(budgets_of_a_pool_that_stays_count_and_none_for_less_than_one),
		T(a_claim_that_does_not_serve_waits_for_no_budget),
		T(what_leaves_otherwise_takes_from_the_same_budget),
		T(what_is_decided_and_not_yet_written_takes_from_it_too),
		T(a_deletion_is_known_while_it_is_on_its_way),
		T(nothing_goes_while_the_tenant_is_paused_or_by_who_does_not_lead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
