/* Tests which deadline applies to a machine that must leave, and how a deleted claim affects a
 * Drain. tests/world/test_drain.c and test_hold.c test the rest. */
#include "api/annotations.h"
#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/steps/leave_reason.h"

#define CLAIMS "/apis/" OBJECT_API_VERSION "/nodeclaims"
#define HOUR (INT64_C(3600) * 1000)

/* Creates a claim that the machine serves, and whose drain may take an hour. */
static void put_claim(struct bench *d, const char *name, const char *machine, const char *spec)
{
	bench_put(d,
		  arena_printf(d->a,
			       "{'kind': 'NodeClaim', 'metadata': {'name': '%s', "
			       "'finalizers': ['drover.dev/termination']}, "
			       "'spec': {'virtualClusterRef': {'name': 'team-a'}, "
			       "'nodePoolRef': {'name': 'h100'}, 'machineRef': {'name': '%s'}, "
			       "'terminationGracePeriod': '1h'%s, 'image': "
			       "{'kubernetesVersion': '1.36', 'url': 'https://img.example/n', "
			       "'format': 'raw', 'digest': 'sha256:0123456789abcdef0123456789abcdef"
			       "0123456789abcdef0123456789abcdef'}}}",
			       name, machine, spec));
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, name);
	bench_status(d, OBJECT_MACHINE, machine,
		     arena_printf(d->a,
				  "{'state': 'serving', 'claimRef': {'name': '%s', 'uid': '%s'}}",
				  name, json_str_at(o, "metadata", "uid")));
}

/* Sets up the bench's fleet, in which m-1 serves claim c-1. */
static int setup(void **state)
{
	bench_setup(state);
	bench_fleet(*state);
	put_claim(*state, "c-1", "m-1", "");
	return 0;
}

/* Sets up m-1 and m-2, which serve claims c-1 and c-2 of one pool. The pool's budget allows one
 * machine to leave at a time. c-1 has expired. */
static int setup_expired(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_tenants(d);
	bench_fleet(d);
	bench_patch(d, OBJECT_NODE_POOL, "h100",
		    "{'spec': {'disruption': {'budgets': [{'nodes': '1'}]}}}");
	bench_put(d, "{'kind': 'Machine', 'metadata': {'name': 'm-2'}, 'spec': {'providerRef': "
		     "{'name': 'hall-a'},"
		     " 'instanceType': 'hgx', 'managementPolicy': 'Manage'}}");
	put_claim(d, "c-1", "m-1", ", 'expireAfter': '1h'");
	put_claim(d, "c-2", "m-2", "");
	bench_run(d, 2 * HOUR);
	bench_must(d, &d->team, "POST", "/api/v1/nodes",
		   "{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'c-1'}}");
	bench_run(d, 1000);
	return 0;
}

static const char *in(struct bench *d, int64_t ms)
{
	char when[STR_TIME_SIZE];

	return arena_strdup(d->a, str_time(when, loop_wall(d->l) + ms));
}

/* Creates a Drain that targets m-1 and may start at once. */
static void drain(struct bench *d, const char *name, const char *spec)
{
	bench_put(
		d,
		arena_printf(
			d->a,
			"{'kind': 'Drain', 'metadata': {'name': '%s'}, 'spec': {'reason': 'fans', "
			"'machineNames': ['m-1']%s}, 'status': {'phase': 'Draining', 'targets': "
			"[{'machine': 'm-1', 'claim': 'c-1', 'phase': 'Evicting'}]}}",
			name, spec));
}

static void draining_since(struct bench *d, int64_t ms, const char *leave)
{
	bench_status(d, OBJECT_MACHINE, "m-1",
		     arena_printf(d->a, "{'state': 'draining', 'stateSince': '%s', 'leave': %s}",
				  in(d, -ms), leave));
}

static void delete_named(struct bench *d, const char *claim)
{
	bench_must(d, &d->host, "DELETE", arena_printf(d->a, CLAIMS "/%s", claim), NULL);
	bench_run(d, 2000);
}

static void delete_claim(struct bench *d)
{
	delete_named(d, "c-1");
}

static struct leave wanted(struct bench *d)
{
	struct life *l = bench_life(d, "m-1");
	struct leave lv = leave_reason(l);

	bench_life_done(l);
	return lv;
}

static void near(struct bench *d, int64_t deadline, int64_t in_ms)
{
	int64_t off = deadline - loop_wall(d->l) - in_ms;

	if (off > 5000 || off < -5000)
		fail_msg("the deadline is %lld ms off", (long long)off);
}

static void nothing_wants_it_to_leave(void **state)
{
	assert_null(wanted(*state).reason);
}

static void a_deleted_claim_has_its_grace_period(void **state)
{
	struct bench *d = *state;
	struct leave lv;

	delete_claim(d);
	lv = wanted(d);
	assert_string_equal(lv.reason, LEAVE_CLAIM_DELETED);
	assert_int_equal(lv.then, DRAIN_RELEASE);
	assert_false(lv.stop || lv.now || lv.quietly);
	near(d, lv.deadline, HOUR);
	/* While the machine still serves (for example because it is paused), the grace period does
	 * not begin. */
	bench_run(d, HOUR / 2);
	near(d, wanted(d).deadline, HOUR);
	draining_since(d, HOUR / 4, "null");
	near(d, wanted(d).deadline, HOUR * 3 / 4);
}

static void a_clock_that_is_ahead_does_not_put_the_deadline_off(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = NULL;
	char when[STR_TIME_SIZE];

	delete_claim(d);
	o = bench_get(d, OBJECT_NODE_CLAIM, "c-1");
	json_object_set_new(json_at(o, "metadata"), "deletionTimestamp",
			    json_string(str_time(when, loop_wall(d->l) + 5 * HOUR)));
	json_object_set_new(json_at(o, "metadata"), "resourceVersion", json_string("999999"));
	kube_cache_learn(d->c.cache[OBJECT_NODE_CLAIM], o);
	draining_since(d, 0, "null");
	near(d, wanted(d).deadline, HOUR);
	draining_since(d, HOUR / 2,
		       arena_printf(d->a, "{'reason': 'ClaimDeleted', 'deadline': '%s'}",
				    in(d, HOUR / 2)));
	near(d, wanted(d).deadline, HOUR / 2);
}

static void a_drain_says_when_and_what_then(void **state)
{
	struct bench *d = *state;
	struct leave lv;

	drain(d, "fans",
	      arena_printf(d->a,
			   ", 'deadline': '%s', 'onDeadline': 'Escalate', 'then': 'Quarantine'",
			   in(d, 2 * HOUR)));
	lv = wanted(d);
	assert_string_equal(lv.reason, LEAVE_DRAIN);
	assert_string_equal(lv.drain, "fans");
	assert_int_equal(lv.then, DRAIN_QUARANTINE);
	assert_false(lv.stop || lv.now);
	near(d, lv.deadline, 2 * HOUR);
	bench_run(d, 2 * HOUR + 1000);
	assert_true(wanted(d).now);
}

static void of_two_drains_the_earlier_deadline_counts_when_it_escalates(void **state)
{
	struct bench *d = *state;
	struct leave lv;

	drain(d, "a", arena_printf(d->a, ", 'deadline': '%s'", in(d, HOUR)));
	bench_run(d, 2000);
	drain(d, "b",
	      arena_printf(d->a, ", 'deadline': '%s', 'onDeadline': 'Escalate'", in(d, HOUR / 2)));
	draining_since(d, 1000, "{'reason': 'Drain', 'drain': 'a'}");
	lv = wanted(d);
	assert_string_equal(lv.drain, "a");
	assert_false(lv.stop || lv.now);
	near(d, lv.deadline, HOUR / 2);
	bench_run(d, HOUR / 2 + 1000);
	lv = wanted(d);
	assert_string_equal(lv.drain, "b");
	assert_true(lv.now && !lv.stop);
}

static void a_claim_deleted_while_it_drains_takes_the_earlier_deadline(void **state)
{
	struct bench *d = *state;
	struct leave lv;

	drain(d, "fans",
	      arena_printf(d->a, ", 'deadline': '%s', 'onDeadline': 'Escalate', 'then': 'Retire'",
			   in(d, 3 * HOUR)));
	draining_since(d, 2 * HOUR, "{'reason': 'Drain', 'drain': 'fans', 'then': 'Retire'}");
	delete_claim(d);
	lv = wanted(d);
	assert_string_equal(lv.reason, LEAVE_CLAIM_DELETED);
	assert_int_equal(lv.then, DRAIN_RETIRE);
	/* The grace period is counted from the deletion of the claim, not from the start of the
	 * drain. */
	near(d, lv.deadline, HOUR);
	bench_patch(d, OBJECT_DRAIN, "fans",
		    arena_printf(d->a, "{'spec': {'deadline': '%s'}}", in(d, HOUR / 2)));
	near(d, wanted(d).deadline, HOUR / 2);
	bench_patch(d, OBJECT_DRAIN, "fans", "{'spec': {'cancelled': true}}");
	lv = wanted(d);
	assert_string_equal(lv.reason, LEAVE_CLAIM_DELETED);
	near(d, lv.deadline, HOUR);
	assert_int_equal(lv.then, DRAIN_RETIRE);
}

static void a_drain_that_stops_does_not_stop_a_deleted_claim(void **state)
{
	struct bench *d = *state;
	struct leave lv;

	drain(d, "fans",
	      arena_printf(d->a, ", 'deadline': '%s', 'onDeadline': 'Stop', 'then': 'Hold'",
			   in(d, HOUR / 2)));
	assert_true(wanted(d).stop);
	delete_claim(d);
	lv = wanted(d);
	assert_false(lv.stop);
	assert_int_equal(lv.then, DRAIN_RELEASE);
	near(d, lv.deadline, HOUR);
}

static void a_hold_that_was_let_go_of_is_not_drained_again(void **state)
{
	struct bench *d = *state;

	drain(d, "fans", ", 'then': 'Hold'");
	assert_string_equal(wanted(d).reason, LEAVE_DRAIN);
	bench_status(d, OBJECT_DRAIN, "fans",
		     "{'targets': [{'machine': 'm-1', 'claim': 'c-1', 'phase': 'Done'}]}");
	assert_null(wanted(d).reason);
}

static void what_drover_began_itself_goes_on_until_its_deadline(void **state)
{
	struct bench *d = *state;
	struct leave lv;

	draining_since(d, 0,
		       arena_printf(d->a, "{'reason': 'Expired', 'deadline': '%s'}", in(d, HOUR)));
	lv = wanted(d);
	assert_string_equal(lv.reason, LEAVE_EXPIRED);
	near(d, lv.deadline, HOUR);
	draining_since(d, 0, "{'reason': 'Empty', 'deadline': null}");
	lv = wanted(d);
	assert_string_equal(lv.reason, LEAVE_EMPTY);
	assert_true(lv.quietly && !lv.deadline);
	draining_since(d, 0, "{'reason': 'Drain', 'drain': 'gone'}");
	assert_null(wanted(d).reason);
}

static void is_expired(struct bench *d, bool yes)
{
	struct leave lv = wanted(d);

	if (yes)
		assert_string_equal(lv.reason, LEAVE_EXPIRED);
	else
		assert_null(lv.reason);
}

static void whatever_leaves_takes_from_the_budget(void **state)
{
	struct bench *d = *state;

	is_expired(d, true);
	delete_named(d, "c-2"); /* A user deletes c-2, or drover does because of its pool. */
	is_expired(d, false);
	bench_status(d, OBJECT_MACHINE, "m-2",
		     "{'state': 'draining', 'leave': {'reason': 'ClaimDeleted'}}");
	is_expired(d, false);
	bench_status(d, OBJECT_MACHINE, "m-2", "{'state': 'leaving'}");
	is_expired(d, false);
	bench_status(d, OBJECT_MACHINE, "m-2", "{'state': 'dirty', 'claimRef': null}");
	is_expired(d, true);
}

static bool c_2_is_decided(const struct machine *m, const struct node_claim *n, void *arg)
{
	(void)m;
	(void)arg;
	return str_eq(n->meta.name, "c-2");
}

static void what_is_decided_elsewhere_takes_from_the_budget(void **state)
{
	struct bench *d = *state;

	d->c.decided = c_2_is_decided;
	is_expired(d, false);
	d->c.decided = NULL;
	is_expired(d, true);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
#define T_EXPIRED(name) cmocka_unit_test_setup_teardown(name, setup_expired, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nothing_wants_it_to_leave),
		T(a_deleted_claim_has_its_grace_period),
		T(a_clock_that_is_ahead_does_not_put_the_deadline_off),
		T(a_drain_says_when_and_what_then),
		T(of_two_drains_the_earlier_deadline_counts_when_it_escalates),
		T(a_claim_deleted_while_it_drains_takes_the_earlier_deadline),
		T(a_drain_that_stops_does_not_stop_a_deleted_claim),
		T(a_hold_that_was_let_go_of_is_not_drained_again),
		T(what_drover_began_itself_goes_on_until_its_deadline),
		T_EXPIRED(whatever_leaves_takes_from_the_budget),
		T_EXPIRED(what_is_decided_elsewhere_takes_from_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
