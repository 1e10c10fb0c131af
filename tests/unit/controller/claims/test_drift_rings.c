/* Tests how many drifted Nodes may be replaced at once (a ring). tests/world/test_drift.c tests
 * that they leave. */
#include "tests/unit/controller/bench.h"

#include <string.h>

#include "base/str.h"
#include "controller/claims/drift_rings.h"

static struct drift_rings *rings;

/* Judges by name: old-N has drifted, new-N matches the template. */
static struct drift_ring_claim judge(const struct node_claim *n, void *arg)
{
	(void)arg;
	return (struct drift_ring_claim){str_starts(n->meta.name, "old"), "t"};
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	rings = drift_rings_new(&d->c, judge, NULL);
	return 0;
}

static int teardown(void **state)
{
	drift_rings_free(rings);
	return bench_teardown(state);
}

static const char *at(struct bench *d, int64_t ms)
{
	char t[STR_TIME_SIZE];

	return arena_strdup(d->a, str_time(t, loop_wall(d->l) + ms));
}

/* Adds a claim and its machine in that state. more: further members of the machine's status. */
static void put(struct bench *d, const char *name, const char *state, const char *more)
{
	bench_put(d, arena_printf(d->a,
				  "{'kind': 'Machine', 'metadata': {'name': 'm-%s'}, 'spec': "
				  "{'providerRef': {'name': 'hall-a'}, 'instanceType': 'hgx'}}",
				  name));
	bench_put(d, arena_printf(
			     d->a,
			     "{'kind': 'NodeClaim', 'metadata': {'name': '%s'}, "
			     "'spec': {'virtualClusterRef': "
			     "{'name': 'team-a'}, 'nodePoolRef': {'name': 'h100'}, "
			     "'machineRef': {'name': 'm-%s'}, "
			     "'image': {'kubernetesVersion': '1.36', "
			     "'url': 'https://img.example/n', 'format': 'raw', "
			     "'digest': 'sha256:"
			     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}",
			     name, name));
	bench_status(
		d, OBJECT_MACHINE, arena_printf(d->a, "m-%s", name),
		arena_printf(d->a, "{'state': '%s', 'claimRef': {'name': '%s', 'uid': '%s'}%s}",
			     state, name,
			     CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, name)->meta.uid, more));
	if (str_eq(state, "serving"))
		bench_status(d, OBJECT_NODE_CLAIM, name,
			     arena_printf(d->a,
					  "{'conditions': [{'type': 'Initialized', "
					  "'status': 'True', 'reason': 'x', 'message': '', "
					  "'lastTransitionTime': '%s', 'observedGeneration': 1}, "
					  "{'type': 'Ready', 'status': 'True', "
					  "'reason': 'Ready', 'message': '', "
					  "'lastTransitionTime': '%s', 'observedGeneration': 1}]}",
					  at(d, 0), at(d, 0)));
}

static void set(struct bench *d, const char *name, const char *status)
{
	bench_status(d, OBJECT_MACHINE, arena_printf(d->a, "m-%s", name), status);
}

/* Runs for DRIFT_CLOSED_MS, then returns why old-1 may not be replaced yet; "open" if it may. old-1
 * has no replacement yet. */
static const char *closed(struct bench *d)
{
	static const struct node_claim asks = {.meta = {.name = "old-1"},
					       .spec.virtual_cluster_ref.name = "team-a"};

	bench_run(d, DRIFT_CLOSED_MS + 1000);
	return str_or(drift_rings_closed(rings, &asks,
					 CTX_GET(&d->c, OBJECT_NODE_POOL, node_pool, "h100"), "t"),
		      "open");
}

static void expect(struct bench *d, const char *text)
{
	const char *is = closed(d);

	if (!strstr(is, text))
		fail_msg("%s, not %s", is, text);
}

static void before_one_is_proved_one_is_on_its_way(void **state)
{
	struct bench *d = *state;

	put(d, "old-1", "serving", "");
	put(d, "old-2", "serving", "");
	expect(d, "since the template or the leading replica changed");
	bench_run(d, DRIFT_SETTLE_MS);
	expect(d, "open");
	set(d, "old-1", "{'state': 'draining', 'leave': {'reason': 'Drifted', 'then': 'Release'}}");
	expect(d, "waits for other replacements");
	/* A Node that an operator drains is not counted as a replacement in progress. */
	set(d, "old-1", "{'leave': {'reason': 'Drain', 'then': 'Release'}}");
	(void)closed(d);
	bench_run(d, DRIFT_SETTLE_MS);
	expect(d, "open");
}

static void what_is_through_counts_until_its_claim_may_be_there(void **state)
{
	struct bench *d = *state;

	put(d, "old-1", "leaving", ", 'leave': {'reason': 'Drifted', 'then': 'Release'}");
	put(d, "old-2", "serving", "");
	(void)closed(d);
	bench_run(d, DRIFT_SETTLE_MS);
	expect(d, "waits for other replacements");
	set(d, "old-1", "{'state': 'wiping', 'claimRef': null}");
	bench_run(d, 2 * DRIFT_SETTLE_MS);
	expect(d, "waits for other replacements");
	set(d, "old-1", "{'state': 'free', 'leave': null}");
	expect(d, "waits for other replacements");
	bench_run(d, DRIFT_SETTLE_MS);
	expect(d, "open");
	put(d, "new-1", "imaging", "");
	expect(d, "waits for other replacements");
}

static void a_ring_is_as_large_as_what_is_proved(void **state)
{
	struct bench *d = *state;

	(void)closed(d);
	bench_run(d, DRIFT_SETTLE_MS);
	put(d, "new-1", "serving", "");
	put(d, "new-2", "serving", "");
	put(d, "old-1", "draining", ", 'leave': {'reason': 'Drifted', 'then': 'Release'}");
	expect(d, "open");
	put(d, "new-3", "booting", "");
	expect(d, "waits for other replacements");
	/* A replacement whose Node is not Ready does not count as proved. */
	put(d, "new-4", "serving", "");
	expect(d, "open");
	bench_status(d, OBJECT_NODE_CLAIM, "new-4",
		     "{'conditions': [{'type': 'Initialized', 'status': 'True', "
		     "'reason': 'x', 'message': '', "
		     "'lastTransitionTime': '2026-01-01T00:00:00Z', 'observedGeneration': 1}]}");
	expect(d, "waits for other replacements");
}

/* A Node's own replacement does not block the Node. The replacement of another Node blocks the Node
 * until the other Node drains, or until a time limit. */
static void what_stands_in_for_another_that_serves_is_on_its_way(void **state)
{
	struct bench *d = *state;

	(void)closed(d);
	bench_run(d, DRIFT_SETTLE_MS);
	put(d, "old-1", "serving", "");
	put(d, "old-2", "serving", "");
	put(d, "new-1", "imaging", "");
	expect(d, "waits for other replacements");
	bench_patch(d, OBJECT_NODE_CLAIM, "new-1",
		    "{'metadata': {'annotations': {'drover.dev/replaces': 'old-1'}}}");
	expect(d, "open");
	put(d, "new-2", "serving", "");
	expect(d, "open");
	bench_patch(d, OBJECT_NODE_CLAIM, "new-2",
		    "{'metadata': {'annotations': {'drover.dev/replaces': 'old-2'}}}");
	expect(d, "waits for other replacements");
	set(d, "old-2", "{'state': 'draining', 'leave': {'reason': 'Drain', 'then': 'Release'}}");
	expect(d, "open");
	set(d, "old-2", "{'state': 'serving', 'leave': null}");
	expect(d, "waits for other replacements");
	bench_run(d, 3600 * 1000);
	expect(d, "open");
}

/* Adds a claim of the tenant that waits for an approval. replaces: name of the claim whose Node it
 * replaces; "": none. */
static void waits(struct bench *d, const char *name, const char *tenant, const char *replaces)
{
	bench_put(d,
		  arena_printf(
			  d->a,
			  "{'kind': 'NodeClaim', 'metadata': {'name': '%s', 'annotations': %s}, "
			  "'spec': {'virtualClusterRef': {'name': '%s'}, "
			  "'nodePoolRef': {'name': 'h100'}, 'image': {'kubernetesVersion': "
			  "'1.36', 'url': 'https://img.example/n', 'format': 'raw', 'digest': "
			  "'sha256:"
			  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}",
			  name,
			  *replaces ? arena_printf(d->a, "{'drover.dev/replaces': '%s'}", replaces)
				    : "{}",
			  tenant));
}

/* Nobody may ever decide on a claim, so a claim that waits must not hold up other tenants. A
 * tenant's own replacements that wait do, because each reserves a machine. */
static void claims_that_wait_for_an_approval_hold_up_their_own_tenant_alone(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'spec': {'approval': {'claims': 'Manual'}}}");
	put(d, "old-1", "serving", "");
	put(d, "old-2", "serving", "");
	(void)closed(d);
	bench_run(d, DRIFT_SETTLE_MS);
	waits(d, "new-1", "team-a", "");
	expect(d, "open");
	waits(d, "new-2", "team-b", "other-1");
	expect(d, "open");
	waits(d, "new-3", "team-a", "old-1");
	expect(d, "open");
	waits(d, "new-4", "team-a", "old-2");
	expect(d, "waits until the replacements of the tenant's other Nodes are approved");
	/* The answer is not reused for another tenant. */
	assert_null(
		drift_rings_closed(rings,
				   &(struct node_claim){.meta = {.name = "other-1"},
							.spec.virtual_cluster_ref.name = "team-b"},
				   CTX_GET(&d->c, OBJECT_NODE_POOL, node_pool, "h100"), "t"));
	bench_status(d, OBJECT_NODE_CLAIM, "new-4",
		     arena_printf(d->a,
				  "{'approval': {'decision': 'Denied', 'by': 'alice', 'at': '%s'}}",
				  at(d, 0)));
	expect(d, "are approved");
	bench_status(d, OBJECT_NODE_CLAIM, "new-4",
		     arena_printf(d->a,
				  "{'approval': {'decision': 'Approved', 'by': 'alice', 'at': "
				  "'%s'}}",
				  at(d, 0)));
	expect(d, "waits for other replacements");
}

static void fails(struct bench *d, const char *name, const char *reason, const char *template_)
{
	set(d, name,
	    arena_printf(d->a,
			 "{'failures': [{'time': '%s', 'step': 'booting', "
			 "'reason': '%s', 'message': 'x', "
			 "'claim': 'new-9', 'pool': 'h100', 'template': '%s'}]}",
			 at(d, 0), reason, template_));
}

static void a_failure_by_the_template_stops_them_until_one_serves(void **state)
{
	struct bench *d = *state;

	put(d, "old-1", "serving", "");
	put(d, "new-1", "serving", "");
	(void)closed(d);
	bench_run(d, DRIFT_SETTLE_MS);
	fails(d, "old-1", "JoinTimeout", "another");
	expect(d, "open");
	fails(d, "old-1", "TenantUnreachable", "t");
	expect(d, "open");
	fails(d, "old-1", "JoinTimeout", "t");
	expect(d, "stopped: a claim of the same template failed on m-old-1 (JoinTimeout)");
	put(d, "new-2", "serving", "");
	expect(d, "open");
	fails(d, "old-1", "JoinTimeout", "t");
	expect(d, "stopped");
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    arena_printf(d->a, "{'metadata': {'annotations': {'drover.dev/resume': '%s'}}}",
				 at(d, 1000)));
	expect(d, "open");
}

static void another_template_begins_with_a_pause(void **state)
{
	struct bench *d = *state;

	(void)closed(d);
	bench_run(d, DRIFT_SETTLE_MS);
	expect(d, "open");
	drift_rings_forget(rings, "h200");
	expect(d, "open");
	drift_rings_forget(rings, "h100");
	expect(d, "since the template or the leading replica changed");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(before_one_is_proved_one_is_on_its_way),
		T(what_is_through_counts_until_its_claim_may_be_there),
		T(a_ring_is_as_large_as_what_is_proved),
		T(what_stands_in_for_another_that_serves_is_on_its_way),
		T(claims_that_wait_for_an_approval_hold_up_their_own_tenant_alone),
		T(a_failure_by_the_template_stops_them_until_one_serves),
		T(another_template_begins_with_a_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
