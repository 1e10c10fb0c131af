/* Tests the pending cleanups (debts) in one tenant's cluster. tests/world/test_leave_tenant.c tests
 * whole machines that leave. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/claim_build.h"
#include "controller/rules/kept_bills.h"
#include "controller/tenant/pending_cleanup.h"
#include "planner/plan.h"

#define WHEN "2025-11-24T15:59:00Z" /* A minute before the simulated clock starts. */

static void (*to_tenants)(struct bench *d, enum object_kind_id kind, const char *name,
			  void *object);

/* Notifies tenants and d->debts of a changed object, as the controller does. */
static void on_change(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	const struct node_claim *n = object;

	to_tenants(d, kind, name, object);
	if (kind == OBJECT_VIRTUAL_CLUSTER)
		pending_cleanup_kick(d->pending_cleanup, name);
	else if (kind == OBJECT_NODE_CLAIM)
		pending_cleanup_kick(d->pending_cleanup,
				     n ? n->spec.virtual_cluster_ref.name : NULL);
	else if (kind == OBJECT_NODE_POOL)
		pending_cleanup_kick(d->pending_cleanup, NULL);
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
	d->pending_cleanup = pending_cleanup_new(&d->c, d->tenants, NULL, NULL);
	bench_tenants(d);
	to_tenants = d->on_change;
	d->on_change = on_change;
	s.client = d->c.host;
	d->c.lease = kube_lease_new(d->g, &s);
	bench_fleet(d);
	bench_run(d, 5000);
	assert_true(tenant_usable(tenant_get(d->tenants, "team-a")));
	return 0;
}

static int teardown(void **state)
{
	struct bench *d = *state;

	kube_lease_free(d->c.lease);
	pending_cleanup_free(d->pending_cleanup);
	d->c.lease = NULL;
	d->pending_cleanup = NULL;
	return bench_teardown(state);
}

/* Creates a Node; returns its UID in the bench's arena. */
static const char *put_node(struct bench *d, const char *name, const char *provider_id)
{
	bench_must(d, &d->team, "POST", "/api/v1/nodes",
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': '%s'},"
				" 'spec': {'providerID': '%s'}}",
				name, provider_id));
	OWN_JSON o = bench_stored(&d->team, arena_printf(d->a, "nodes/%s", name));
	bench_run(d, 1000);
	return arena_strdup(d->a, json_str_at(o, "metadata", "uid"));
}

static void put_token(struct bench *d, const char *id)
{
	bench_must(d, &d->team, "POST", "/api/v1/namespaces/kube-system/secrets",
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Secret', 'metadata':"
				" {'name': 'bootstrap-token-%s'}}",
				id));
}

static bool is_there(struct bench *d, const char *key)
{
	OWN_JSON o = bench_stored(&d->team, key);

	return o;
}

static size_t debts(struct bench *d)
{
	OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");

	return json_array_size(json_at(vc, "status", "debts"));
}

static bool finalized(struct bench *d)
{
	OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	json_t *f;
	size_t i;

	json_array_foreach (json_at(vc, "metadata", "finalizers"), i, f)
		if (str_eq(json_string_value(f), FINALIZER_VIRTUAL_CLUSTER))
			return true;
	return false;
}

static void a_debt_is_paid_by_uid_and_struck_off(void **state)
{
	struct bench *d = *state;
	const char *uid = put_node(d, "n-1", "drover://hall-a/m-1");

	put_node(d, "n-2", "drover://hall-a/m-2");
	put_token(d, "aaaaaa");
	put_token(d, "bbbbbb");
	bench_status(
		d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		arena_printf(d->a,
			     "{'debts': [{'nodeName': 'n-1', 'nodeUID': '%s', 'tokenID': 'aaaaaa',"
			     " 'since': '" WHEN "'}]}",
			     uid));
	bench_run(d, 15000);
	assert_int_equal(debts(d), 0);
	assert_false(is_there(d, "nodes/n-1"));
	assert_true(is_there(d, "nodes/n-2"));
	assert_false(is_there(d, "secrets/kube-system/bootstrap-token-aaaaaa"));
	assert_true(is_there(d, "secrets/kube-system/bootstrap-token-bbbbbb"));
}

static void a_node_that_is_somebody_elses_by_now_stays(void **state)
{
	struct bench *d = *state;

	put_node(d, "n-1", "somebodys://n-1"); /* The Node has a UID other than the recorded one. */
	/* No UID is recorded, and the providerID is not drover's. */
	put_node(d, "n-2", "somebodys://n-2");
	/* No UID is recorded, but the providerID is drover's: this Node is deleted. */
	put_node(d, "n-3", "drover://hall-a/m-1");
	bench_status(
		d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		"{'debts': [{'nodeName': 'n-1', 'nodeUID': 'of-the-one-before', 'since': '" WHEN
		"'}, {'nodeName': 'n-2', 'since': '" WHEN "'}, {'nodeName': 'n-3', 'since': '" WHEN
		"'}]}");
	bench_run(d, 30000);
	assert_int_equal(debts(d), 0);
	assert_true(is_there(d, "nodes/n-1"));
	assert_true(is_there(d, "nodes/n-2"));
	assert_false(is_there(d, "nodes/n-3"));
}

/* Creates a claim of team-a; returns the claim's name in the bench's arena. */
static const char *put_claim(struct bench *d)
{
	static const struct plan_claim planned = {.tenant = "team-a",
						  .pool = "h100",
						  .provider = "hall-a",
						  .machine = "m-1",
						  .instance_type = "hgx",
						  .version = "1.36"};
	OWN_JSON o = claims_build(&d->c, &planned, NULL, &d->e);
	char *text = json_text(o);

	bench_put(d, text);
	free(text);
	return arena_strdup(d->a, json_str_at(o, "metadata", "name"));
}

/* The machine's kubelet was still running when the Node was deleted, and registered the Node
 * again. */
static void a_node_that_its_kubelet_registered_again_goes_too(void **state)
{
	struct bench *d = *state;
	const char *serving = put_claim(d);

	put_node(d, "n-1", "drover://hall-a/m-1");
	put_node(d, serving,
		 /* A claim has the name of this Node, so the Node must stay. */
		 "drover://hall-a/m-1");
	bench_status(
		d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		arena_printf(d->a,
			     "{'debts': [{'nodeName': 'n-1', 'nodeUID': 'before', 'since': '" WHEN
			     "'}, {'nodeName': '%s', 'nodeUID': 'before', 'since': '" WHEN "'}]}",
			     serving));
	bench_run(d, 60000);
	assert_int_equal(debts(d), 0);
	assert_false(is_there(d, "nodes/n-1"));
	assert_true(is_there(d, arena_printf(d->a, "nodes/%s", serving)));
}

static void nothing_is_deleted_for_a_paused_tenant_or_by_who_does_not_lead(void **state)
{
	struct bench *d = *state;
	const char *uid = put_node(d, "n-1", "drover://hall-a/m-1");

	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'paused': true}}");
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     arena_printf(d->a,
				  "{'debts': [{'nodeName': 'n-1', 'nodeUID': '%s', 'since': '" WHEN
				  "'}]}",
				  uid));
	bench_run(d, 60000);
	assert_true(is_there(d, "nodes/n-1"));
	d->c.leading = false;
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'paused': false}}");
	bench_run(d, 60000);
	assert_true(is_there(d, "nodes/n-1"));
	assert_int_equal(debts(d), 1);
	d->c.leading = true;
	pending_cleanup_kick(d->pending_cleanup, NULL);
	bench_run(d, 15000);
	assert_false(is_there(d, "nodes/n-1"));
	assert_int_equal(debts(d), 0);
}

static void a_tenant_is_finalized_while_it_has_claims_or_debts(void **state)
{
	struct bench *d = *state;
	const char *name;

	bench_run(d, 15000);
	assert_false(finalized(d));
	name = put_claim(d);
	bench_run(d, 2000);
	assert_true(finalized(d));
	bench_away(d, &d->team, true);
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'debts': [{'nodeName': 'n-9', 'nodeUID': 'u', 'since': '" WHEN "'}]}");
	bench_must(d, &d->host, "PATCH",
		   arena_printf(d->a, "/apis/" OBJECT_API_VERSION "/nodeclaims/%s", name),
		   "{'metadata': {'finalizers': null}}");
	bench_must(d, &d->host, "DELETE",
		   arena_printf(d->a, "/apis/" OBJECT_API_VERSION "/nodeclaims/%s", name), NULL);
	bench_run(d, 15000);
	assert_true(finalized(d));
	bench_away(d, &d->team, false);
	bench_run(d, 120000);
	assert_int_equal(debts(d), 0);
	assert_false(finalized(d));
}

#define CONFIG_MAPS "/api/v1/namespaces/" BENCH_NS "/configmaps"

/* Returns the saved bill of the tenant with this UID; the caller owns it. NULL: none. */
static json_t *kept_bill(struct bench *d, const char *uid)
{
	char name[KEPT_BILLS_NAME];

	kept_bills_name(kept_bills_of(uid), name);
	OWN_JSON o = bench_stored(&d->host, arena_printf(d->a, "configmaps/" BENCH_NS "/%s", name));
	return json_loads(str_or(json_str_at(o, "data", uid), ""), 0, NULL);
}

/* Deletes team-a and checks the saved bill. written_before: a former leader failed between saving
 * the bill and removing the finalizer; this leader writes the same entry again. */
static void a_deleted_tenants_bill_is_kept_once(struct bench *d, bool written_before)
{
	OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	const char *uid = arena_strdup(d->a, json_str_at(vc, "metadata", "uid"));
	char name[KEPT_BILLS_NAME];

	kept_bills_name(kept_bills_of(uid), name);
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'cost': {'time': '" WHEN
		     "', 'charges': [{'month': '2025-11', 'pool': 'gpus',"
		     " 'phase': 'Ready', 'pricePerHour': '6.50', 'currency': 'EUR', 'gpus': 8,"
		     " 'seconds': 1000}]}}");
	bench_run(d, 15000);
	/* Without the finalizer, the tenant could be deleted before its bill is saved. */
	assert_true(finalized(d));
	if (written_before)
		bench_must(
			d, &d->host, "POST", CONFIG_MAPS,
			arena_printf(d->a,
				     "{'metadata': {'name': '%s'}, 'data': {'%s': '{}', 'other': "
				     "'{\\\"status\\\":{\\\"cost\\\":{\\\"time\\\":\\\"" WHEN
				     "\\\"}}}'}}",
				     name, uid));
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a",
		   NULL);
	bench_run(d, 15000);
	OWN_JSON gone = bench_stored(&d->host, "virtualclusters.drover.dev/team-a");
	OWN_JSON bill = kept_bill(d, uid);
	const json_t *charges = json_at(bill, "status", "cost", "charges");

	assert_null(gone);
	assert_string_equal(json_str_at(bill, "metadata", "name"), "team-a");
	assert_int_equal(json_array_size(charges), 1);
	assert_int_equal(json_int_at(json_array_get(charges, 0), "seconds"), 1000);
	OWN_JSON map =
		bench_stored(&d->host, arena_printf(d->a, "configmaps/" BENCH_NS "/%s", name));
	assert_int_equal(json_object_size(json_at(map, "data")), written_before ? 2 : 1);
}

static void the_bill_of_a_deleted_tenant_is_kept(void **state)
{
	a_deleted_tenants_bill_is_kept_once(*state, false);
}

static void a_bill_that_a_dead_leader_kept_is_written_over(void **state)
{
	a_deleted_tenants_bill_is_kept_once(*state, true);
}

/* Until the bill is saved, an event on the VirtualCluster shows why it is not deleted. */
static void a_bill_that_cannot_be_saved_is_reported(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'cost': {'time': '" WHEN
		     "', 'charges': [{'month': '2025-11', 'pool': 'gpus', 'phase': 'Ready', "
		     "'gpus': 8, 'seconds': 1000}]}}");
	bench_run(d, 15000);
	d->host.denied_at = "/configmaps";
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a",
		   NULL);
	bench_run(d, 15000);
	assert_true(finalized(d));
	assert_true(bench_events(&d->host, "BillNotSaved") >= 1);
	d->host.denied_at = NULL;
	bench_run(d, 300000);
	OWN_JSON gone = bench_stored(&d->host, "virtualclusters.drover.dev/team-a");
	assert_null(gone);
}

static void a_list_without_one_keeps_the_others_as_they_are(void **state)
{
	struct bench *d = *state;

	bench_away(d, &d->team, true);
	d->c.leading = false;
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     "{'debts': [{'nodeName': 'n-1', 'nodeUID': 'u-1', 'tokenID': 'aaaaaa', "
		     "'since': '" WHEN "'}, {'nodeName': 'n-2', 'since': '" WHEN "'}]}");
	bench_run(d, 15000);
	assert_false(finalized(d)); /* This replica does not lead, so it adds no finalizer. */
	OWN_JSON both = pending_cleanup_without(
		CTX_GET(&d->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, "team-a"), "n-9");
	OWN_JSON one = pending_cleanup_without(
		CTX_GET(&d->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, "team-a"), "n-1");
	OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	assert_true(json_equal(both, json_at(vc, "status", "debts")));
	assert_int_equal(json_array_size(one), 1);
	assert_string_equal(json_str_at(json_array_get(one, 0), "nodeName"), "n-2");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_debt_is_paid_by_uid_and_struck_off),
		T(a_node_that_is_somebody_elses_by_now_stays),
		T(a_node_that_its_kubelet_registered_again_goes_too),
		T(nothing_is_deleted_for_a_paused_tenant_or_by_who_does_not_lead),
		T(a_tenant_is_finalized_while_it_has_claims_or_debts),
		T(the_bill_of_a_deleted_tenant_is_kept),
		T(a_bill_that_a_dead_leader_kept_is_written_over),
		T(a_bill_that_cannot_be_saved_is_reported),
		T(a_list_without_one_keeps_the_others_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
