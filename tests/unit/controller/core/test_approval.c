/* Tests whether a NodeClaim may get a machine. */
#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/core/approval.h"

static void ask(struct bench *d, const char *approval)
{
	bench_put(d, arena_printf(d->a,
				  "{'kind': 'VirtualCluster', 'metadata': {'name': 'team-m'}, "
				  "'spec': {'kubeconfigSecretRef': {'name': 'k'}, 'quota': {}, "
				  "'approval': %s}}",
				  approval));
}

static void put(struct bench *d, const char *name, const char *tenant, const char *more)
{
	bench_put(d,
		  arena_printf(
			  d->a,
			  "{'kind': 'NodeClaim', 'metadata': {'name': '%s'}, "
			  "'spec': {'virtualClusterRef': {'name': '%s'},"
			  " 'nodePoolRef': {'name': 'h100'}, 'machineRef': {'name': 'm-1'}, "
			  "'image': {'kubernetesVersion': '1.36',"
			  " 'url': 'https://img.example/n', 'format': 'raw', 'digest': 'sha256:"
			  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}%s}}",
			  name, tenant, more));
}

/* Returns ", 'approval': ..." for a decision that was made now. */
static const char *decided(struct bench *d, const char *decision)
{
	char at[STR_TIME_SIZE];

	return arena_printf(d->a, ", 'approval': {'decision': '%s', 'by': 'alice', 'at': '%s'}",
			    decision, str_time(at, loop_wall(d->l)));
}

static const char *gang(struct bench *d, const char *more)
{
	return arena_printf(d->a, ", 'gang': {'uid': 'g', 'size': 2}%s", more);
}

static struct approval of(struct bench *d, const char *name)
{
	return approval_of(&d->c, CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, name));
}

static bool admits(struct bench *d, const char *name)
{
	return approval_admits(&d->c, CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, name));
}

static void a_claim_waits_only_if_its_tenant_asks_for_it(void **state)
{
	struct bench *d = *state;

	ask(d, "{'claims': 'Manual'}");
	put(d, "free", "team-a", "");
	put(d, "waits", "team-m", "");
	put(d, "yes", "team-m", decided(d, "Approved"));
	put(d, "no", "team-m", decided(d, "Denied"));
	put(d, "stray", "no-such-tenant", "");
	assert_int_equal(of(d, "free").state, APPROVAL_NOT_NEEDED);
	assert_int_equal(of(d, "waits").state, APPROVAL_WAITING);
	assert_int_equal(of(d, "yes").state, APPROVAL_GIVEN);
	assert_string_equal(of(d, "yes").decision->by, "alice");
	assert_int_equal(of(d, "no").state, APPROVAL_REFUSED);
	assert_int_equal(of(d, "stray").state, APPROVAL_WAITING);
	assert_true(admits(d, "free") && admits(d, "yes"));
	assert_false(admits(d, "waits") || admits(d, "no") || admits(d, "stray"));
}

static void a_claim_with_a_machine_needs_no_approval(void **state)
{
	struct bench *d = *state;

	ask(d, "{'claims': 'Manual'}");
	put(d, "bound", "team-m", "");
	bench_status(d, OBJECT_NODE_CLAIM, "bound", "{'machineRef': {'name': 'm-1', 'uid': 'u'}}");
	assert_int_equal(of(d, "bound").state, APPROVAL_NOT_NEEDED);
}

/* The recorded decision counts, whoever decided, and whatever is in spec. */
static void a_recorded_decision_counts(void **state)
{
	struct bench *d = *state;

	ask(d, "{'claims': 'Manual'}");
	put(d, "c", "team-m", decided(d, "Denied"));
	assert_false(of(d, "c").recorded);
	bench_status(d, OBJECT_NODE_CLAIM, "c",
		     "{'approval': {'decision': 'Approved', 'by': 'w.example', "
		     "'at': '2026-12-01T10:00:00Z', 'claim': 'b'}}");
	assert_int_equal(of(d, "c").state, APPROVAL_GIVEN);
	assert_true(of(d, "c").recorded);
	assert_string_equal(of(d, "c").on, "b");
}

/* Records the decision of the claim now, as claims/claim_status.c does. */
static void record(struct bench *d, const char *name, const char *decision)
{
	char at[STR_TIME_SIZE];

	bench_status(d, OBJECT_NODE_CLAIM, name,
		     arena_printf(d->a,
				  "{'approval': {'decision': '%s', 'by': 'alice', 'at': '%s', "
				  "'claim': '%s'}}",
				  decision, str_time(at, loop_wall(d->l)), name));
}

static void a_decision_counts_for_the_gang_as_it_is_then(void **state)
{
	struct bench *d = *state;

	ask(d, "{'claims': 'Manual'}");
	put(d, "one", "team-m", gang(d, ""));
	bench_run(d, 5000);
	put(d, "two", "team-m", gang(d, decided(d, "Approved")));
	assert_int_equal(of(d, "one").state, APPROVAL_GIVEN);
	assert_string_equal(of(d, "one").on, "two");
	record(d, "two", "Approved");
	assert_int_equal(of(d, "one").state, APPROVAL_GIVEN);
	bench_run(d, 60000);
	put(d, "later", "team-m", gang(d, ""));
	put(d, "other", "team-b", gang(d, ""));
	assert_int_equal(of(d, "later").state, APPROVAL_WAITING);
	/* The first decision on a gang counts. */
	put(d, "against", "team-m", gang(d, decided(d, "Denied")));
	assert_int_equal(of(d, "one").state, APPROVAL_GIVEN);
	assert_int_equal(of(d, "later").state, APPROVAL_REFUSED);
}

/* The time that a client wrote does not matter: here it is long before the gang's claims. */
static void a_decision_counts_from_when_it_is_seen(void **state)
{
	struct bench *d = *state;
	static const char old[] = ", 'approval': {'decision': 'Denied', 'by': 'alice', "
				  "'at': '2020-01-01T00:00:00Z'}";
	struct approval a;

	ask(d, "{'claims': 'Manual'}");
	put(d, "one", "team-m", gang(d, ""));
	put(d, "two", "team-m", gang(d, old));
	a = of(d, "one");
	assert_int_equal(a.state, APPROVAL_REFUSED);
	assert_int_equal(approval_denied_until(&a), loop_wall(d->l) + 3600 * 1000);
	/* Two that are seen at once: both claims get the same decision. */
	put(d, "aaa", "team-m", gang(d, decided(d, "Approved")));
	assert_int_equal(of(d, "aaa").state, APPROVAL_REFUSED);
	assert_int_equal(of(d, "two").state, APPROVAL_REFUSED);
}

static void a_denial_is_kept_for_an_hour_or_as_long_as_it_says(void **state)
{
	const int64_t week = INT64_C(7) * 24 * 3600 * 1000;
	struct node_claim_approval d = {.decision = CLAIM_DENIED};
	struct approval a = {.decision = &d, .time = 1000};

	(void)state;
	assert_int_equal(approval_denied_until(&a), 1000 + 3600 * 1000);
	d.hold_until = 5000;
	assert_int_equal(approval_denied_until(&a), 5000);
	d.hold_until = 2 * week;
	assert_int_equal(approval_denied_until(&a), 1000 + week);
}

/* A claim is not subject to approvals if its machine serves the claim of its name. */
static void a_machine_that_serves_the_name_needs_no_approval(void **state)
{
	struct bench *d = *state;

	ask(d, "{'claims': 'Manual'}");
	put(d, "again", "team-m", decided(d, "Denied"));
	assert_int_equal(of(d, "again").state, APPROVAL_REFUSED);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'claimRef': {'name': 'again', 'uid': 'old'}}");
	assert_int_equal(of(d, "again").state, APPROVAL_NOT_NEEDED);
	bench_status(d, OBJECT_MACHINE, "m-1", "{'claimRef': {'name': 'other', 'uid': 'old'}}");
	assert_int_equal(of(d, "again").state, APPROVAL_REFUSED);
}

static int setup(void **state)
{
	bench_setup(state);
	bench_fleet(*state);
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_claim_waits_only_if_its_tenant_asks_for_it),
		T(a_claim_with_a_machine_needs_no_approval),
		T(a_recorded_decision_counts),
		T(a_decision_counts_for_the_gang_as_it_is_then),
		T(a_decision_counts_from_when_it_is_seen),
		T(a_machine_that_serves_the_name_needs_no_approval),
		T(a_denial_is_kept_for_an_hour_or_as_long_as_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
