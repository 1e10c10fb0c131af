#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/drain/drains.h"
#include "controller/rules/claim.h"
#include "controller/steps/requests.h"

#define DRAINS "/apis/" OBJECT_API_VERSION "/drains"
#define HOUR (3600 * 1000)

/* Notifies d->drains of a changed object, as the controller does. */
static void on_change(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	(void)object;
	if (kind == OBJECT_DRAIN)
		drains_kick(d->drains, name);
	else if (kind == OBJECT_MACHINE)
		drains_machine(d->drains, name);
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	d->on_change = on_change;
	return 0;
}

/* Sets machine m-n serving claim c-n. gang: UID of the claim's gang, or "". */
static void serving(struct bench *d, int n, const char *gang)
{
	const char *uid;
	json_t *o;

	if (n != 1)
		bench_put(d,
			  arena_printf(d->a,
				       "{'kind': 'Machine', 'metadata': {'name': 'm-%d', 'labels': "
				       "{'rack': 'r%d'}}, 'spec': {'providerRef': {'name': "
				       "'hall-a'}, 'instanceType': 'hgx', 'managementPolicy': "
				       "'Manage'}, 'status': {'state': 'free'}}",
				       n, n % 2));
	bench_put(
		d,
		arena_printf(
			d->a,
			"{'kind': 'NodeClaim', 'metadata': {'name': 'c-%d'}, 'spec': {"
			"'virtualClusterRef': {'name': 'team-a'}, 'nodePoolRef': {'name': 'h100'}, "
			"'machineRef': {'name': 'm-%d'}, "
			"'image': {'kubernetesVersion': '1.36', 'url': "
			"'https://img.example/n', 'format': 'raw', 'digest': 'sha256:"
			"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}%s}}",
			n, n, gang[0] ? arena_printf(d->a, ", 'gang': {'uid': '%s'}", gang) : ""));
	o = bench_get(d, OBJECT_NODE_CLAIM, arena_printf(d->a, "c-%d", n));
	uid = arena_strdup(d->a, json_str_at(o, "metadata", "uid"));
	json_decref(o);
	bench_status(d, OBJECT_MACHINE, arena_printf(d->a, "m-%d", n),
		     arena_printf(d->a,
				  "{'state': 'serving', 'claimRef': {'name': 'c-%d', 'uid': '%s'}}",
				  n, uid));
}

static void is(struct bench *d, int n, const char *status)
{
	bench_status(d, OBJECT_MACHINE, arena_printf(d->a, "m-%d", n), status);
	bench_run(d, 2000);
}

/* Puts m-N, which has left its tenant, into this state. */
static void left(struct bench *d, int n, const char *state)
{
	is(d, n, arena_printf(d->a, "{'state': '%s', 'claimRef': null}", state));
}

static void drain(struct bench *d, const char *name, const char *spec)
{
	bench_put(d,
		  arena_printf(d->a,
			       "{'kind': 'Drain', 'metadata': {'name': '%s'}, 'spec': {'reason': "
			       "'PSU', %s}}",
			       name, spec));
	bench_run(d, 3000);
}

static const char *soon(struct bench *d, int64_t ms)
{
	char t[STR_TIME_SIZE];

	return arena_strdup(d->a, str_time(t, loop_wall(d->l) + ms));
}

/* Returns the phases of the Drain's targets, in order, such as "Evicting Pending ". */
static const char *phases(struct bench *d, const char *name)
{
	OWN_JSON o = bench_get(d, OBJECT_DRAIN, name);
	const char *all = "";
	json_t *t;
	size_t i;

	json_array_foreach (json_at(o, "status", "targets"), i, t)
		all = arena_printf(d->a, "%s%s ", all, json_str_at(t, "phase"));
	return all;
}

static const char *of_drain(struct bench *d, const char *name, const char *field)
{
	OWN_JSON o = bench_get(d, OBJECT_DRAIN, name);

	return arena_strdup(d->a, str_or(json_str_at(o, "status", field), ""));
}

static const char *target(struct bench *d, const char *name, size_t n, const char *field)
{
	OWN_JSON o = bench_get(d, OBJECT_DRAIN, name);
	const json_t *t = json_array_get(json_at(o, "status", "targets"), n);

	return arena_strdup(d->a, str_or(json_str_at(t, field), ""));
}

static const char *wanting(struct bench *d, const char *machine)
{
	bool escalate;
	const struct drain *w = drains_wants(&d->c, machine, &escalate);

	return w ? arena_printf(d->a, "%s%s", w->meta.name, escalate ? "!" : "") : "";
}

static void a_machine_is_followed_from_its_turn_to_its_end(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	drain(d, "psu", "'machineNames': ['m-1']");
	assert_string_equal(phases(d, "psu"), "Evicting ");
	assert_string_equal(of_drain(d, "psu", "phase"), "Draining");
	assert_string_equal(target(d, "psu", 0, "claim"), "c-1");
	assert_string_equal(wanting(d, "m-1"), "psu");
	is(d, 1,
	   "{'state': 'draining', 'leave': {'reason': 'Drain', 'drain': 'psu', 'then': 'Release', "
	   "'podsLeft': 3, 'blockedBy': 'pdb team-x/web'}}");
	assert_string_equal(phases(d, "psu"), "Evicting ");
	assert_string_equal(target(d, "psu", 0, "blockedBy"), "pdb team-x/web");
	is(d, 1, "{'state': 'stopping', 'leave': {'podsLeft': 0, 'blockedBy': null}}");
	assert_string_equal(phases(d, "psu"), "Leaving ");
	assert_string_equal(target(d, "psu", 0, "blockedBy"), "");
	assert_string_equal(wanting(d, "m-1"), "");
	left(d, 1, "wiping");
	assert_string_equal(phases(d, "psu"), "Wiping ");
	assert_string_equal(of_drain(d, "psu", "completionTime"), "");
	is(d, 1, "{'state': 'free', 'leave': null}");
	assert_string_equal(phases(d, "psu"), "Done ");
	assert_string_equal(of_drain(d, "psu", "phase"), "Succeeded");
	assert_string_not_equal(of_drain(d, "psu", "completionTime"), "");
}

/* A fast machine may already serve another claim when the Drain is evaluated next. */
static void a_machine_that_serves_another_claim_by_now_is_done(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	drain(d, "psu", "'machineNames': ['m-1']");
	is(d, 1, "{'state': 'serving', 'claimRef': {'name': 'c-9', 'uid': '9'}}");
	assert_string_equal(of_drain(d, "psu", "phase"), "Succeeded");
	assert_string_equal(wanting(d, "m-1"), "");
}

static void nothing_is_done_before_its_time(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	drain(d, "psu",
	      arena_printf(d->a, "'machineNames': ['m-1'], 'notBefore': '%s'", soon(d, HOUR)));
	assert_string_equal(of_drain(d, "psu", "phase"), "Pending");
	assert_string_equal(phases(d, "psu"), "");
	bench_run(d, HOUR / 2);
	assert_string_equal(phases(d, "psu"), "");
	bench_run(d, HOUR / 2);
	assert_string_equal(phases(d, "psu"), "Evicting ");
}

static void whom_it_means_is_settled_at_its_start(void **state)
{
	struct bench *d = *state;

	serving(d, 2, "");
	drain(d, "psu", "'machineSelector': {'matchLabels': {'rack': 'r0'}}");
	serving(d, 4, "");
	bench_run(d, 5000);
	assert_string_equal(phases(d, "psu"), "Evicting ");
	assert_string_equal(target(d, "psu", 0, "machine"), "m-2");
}

static void machines_take_turns(void **state)
{
	struct bench *d = *state;

	for (int i = 1; i <= 4; i++)
		serving(d, i, "");
	drain(d, "psu", "'machineNames': ['m-1', 'm-2', 'm-3', 'm-4'], 'concurrent': 2");
	assert_string_equal(phases(d, "psu"), "Evicting Evicting Pending Pending ");
	assert_string_equal(wanting(d, "m-3"), "");
	is(d, 2, "{'state': 'stopping'}");
	assert_string_equal(phases(d, "psu"), "Evicting Leaving Pending Pending ");
	left(d, 2, "dirty"); /* The tenant no longer uses m-2, so the next target starts. */
	assert_string_equal(phases(d, "psu"), "Evicting Wiping Evicting Pending ");
	assert_string_equal(wanting(d, "m-3"), "psu");
}

static void a_gang_leaves_together(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	serving(d, 2, "g");
	serving(d, 3, "");
	serving(d, 4, "g");
	drain(d, "whole", "'machineNames': ['m-2', 'm-1', 'm-3', 'm-4']");
	assert_string_equal(phases(d, "whole"), "Evicting Pending Pending Evicting ");
	drain(d, "split", "'machineNames': ['m-2', 'm-1', 'm-3', 'm-4'], 'gangs': 'Split'");
	assert_string_equal(phases(d, "split"), "Evicting Pending Pending Pending ");
}

/* Runs a pod of a gang of four on the Node of c-N. */
static void runs_in(struct bench *d, int n, const char *pod, const char *gang)
{
	bench_must(
		d, &d->team, "POST", "/api/v1/namespaces/default/pods",
		arena_printf(
			d->a,
			"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s',"
			" 'annotations': {'drover.dev/gang': '%s', 'drover.dev/gang-size': '4'}},"
			" 'spec': {'nodeName': 'c-%d', 'containers': [{'name': 'c'}]}}",
			pod, gang, n));
	bench_run(d, 2000);
}

static const char *blocked(struct bench *d, const char *name, size_t i)
{
	const struct drain *o = CTX_GET(&d->c, OBJECT_DRAIN, drain, name);

	return i < o->status.targets.n ? str_or(o->status.targets.v[i].blocked_by, "") : "none";
}

static void read_pods(struct bench *d)
{
	bench_tenants(d);
	d->on_change = on_change;
	tenants_update(d->tenants, "team-a");
	bench_run(d, 5000);
	assert_true(tenant_usable(tenant_get(d->tenants, "team-a")));
}

/* Two machines also leave together if gangs link both of them to a third one. */
static void machines_that_pods_of_one_gang_run_on_leave_together(void **state)
{
	struct bench *d = *state;

	read_pods(d);
	for (int n = 1; n <= 5; n++)
		serving(d, n, "");
	runs_in(d, 2, "a-0", "a");
	runs_in(d, 3, "a-1", "a");
	runs_in(d, 3, "b-0", "b");
	runs_in(d, 5, "b-1", "b");
	drain(d, "whole", "'machineNames': ['m-1', 'm-5', 'm-4', 'm-2', 'm-3']");
	assert_string_equal(phases(d, "whole"), "Evicting Pending Pending Pending Pending ");
	assert_non_null(strstr(
		blocked(d, "whole", 3),
		"its turn: it leaves together with 2 other machines of gang default/gangs/"));
	assert_string_equal(blocked(d, "whole", 2), "");
	is(d, 1, "{'state': 'stopping'}");
	left(d, 1, "dirty");
	assert_string_equal(phases(d, "whole"), "Wiping Evicting Pending Evicting Evicting ");
	assert_string_equal(blocked(d, "whole", 3), "");
	drain(d, "split", "'machineNames': ['m-2', 'm-3'], 'gangs': 'Split'");
	assert_string_equal(phases(d, "split"), "Evicting Pending ");
}

/* m-1 has no pods yet, but its claim belongs to gang a. A pod of gang a runs on m-3, so the two
 * machines leave together. Claim and pod name the gang by the same text. */
static void a_machine_without_pods_is_its_claim_s_gang_s(void **state)
{
	struct bench *d = *state;

	read_pods(d);
	serving(d, 1, claim_gang_uid("team-a", "default/gangs/a", d->a));
	serving(d, 2, "");
	serving(d, 3, "");
	runs_in(d, 3, "a-0", "a");
	drain(d, "whole", "'machineNames': ['m-2', 'm-1', 'm-3']");
	assert_string_equal(phases(d, "whole"), "Evicting Pending Pending ");
	assert_string_equal(blocked(d, "whole", 1), "its turn: it leaves together with 1 other "
						    "machine of gang default/gangs/a of team-a");
	is(d, 2, "{'state': 'stopping'}");
	left(d, 2, "dirty");
	assert_string_equal(phases(d, "whole"), "Wiping Evicting Evicting ");
}

/* The claim of m-1 names a gang that has moved to other machines: m-1 does not leave with them,
 * neither while its own pod runs nor after the pod was evicted. */
static void what_a_machine_runs_counts_more_than_its_claim(void **state)
{
	struct bench *d = *state;

	read_pods(d);
	serving(d, 1, claim_gang_uid("team-a", "default/gangs/a", d->a));
	serving(d, 2, "");
	runs_in(d, 1, "b-0", "b");
	runs_in(d, 2, "a-0", "a");
	drain(d, "whole", "'machineNames': ['m-1', 'm-2']");
	assert_string_equal(phases(d, "whole"), "Evicting Pending ");
	bench_must(d, &d->team, "DELETE", "/api/v1/namespaces/default/pods/b-0", NULL);
	bench_run(d, 2000);
	is(d, 1, "{'state': 'draining'}");
	assert_string_equal(phases(d, "whole"), "Evicting Pending ");
}

static void a_machine_that_serves_nobody_is_done_at_once(void **state)
{
	struct bench *d = *state;

	serving(d, 2, "");
	drain(d, "psu", "'machineNames': ['m-2', 'm-1'], 'concurrent': 1");
	assert_string_equal(phases(d, "psu"), "Evicting Done ");
}

static void a_machine_that_serves_nobody_is_still_taken_out_of_use(void **state)
{
	struct bench *d = *state;

	drain(d, "psu", "'machineNames': ['m-1'], 'then': 'Quarantine'");
	assert_string_equal(phases(d, "psu"), "Evicting ");
	assert_string_equal(wanting(d, "m-1"), "psu");
	is(d, 1,
	   "{'state': 'quarantined', 'quarantine': {'reason': 'QuarantinedByOperator', 'message': "
	   "'PSU', 'exit': 'operator'}}");
	assert_string_equal(of_drain(d, "psu", "phase"), "Succeeded");
}

static void what_is_quarantined_for_another_reason_has_failed(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	drain(d, "psu", "'machineNames': ['m-1'], 'then': 'Quarantine'");
	is(d, 1, "{'state': 'stopping', 'leave': {'reason': 'Drain', 'then': 'Quarantine'}}");
	left(d, 1, "wiping");
	is(d, 1,
	   "{'state': 'quarantined', 'quarantine': {'reason': 'EraseUnverified', 'message': "
	   "'x', 'exit': 'operator'}}");
	assert_string_equal(phases(d, "psu"), "Failed ");
	assert_string_equal(target(d, "psu", 0, "blockedBy"), "EraseUnverified");
	assert_string_equal(of_drain(d, "psu", "phase"), "Partial");
}

static void a_free_machine_is_not_done_before_it_is_where_it_shall_be(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	drain(d, "psu", "'machineNames': ['m-1'], 'then': 'Retire'");
	is(d, 1, "{'state': 'stopping', 'leave': {'reason': 'Drain', 'then': 'Retire'}}");
	left(d, 1, "verifying");
	is(d, 1, "{'state': 'free'}");
	assert_string_equal(of_drain(d, "psu", "phase"), "Draining");
	is(d, 1, "{'state': 'retired', 'leave': null}");
	assert_string_equal(of_drain(d, "psu", "phase"), "Succeeded");
}

static void past_its_deadline_it_stops(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	serving(d, 2, "");
	drain(d, "psu",
	      arena_printf(d->a, "'machineNames': ['m-1', 'm-2'], 'deadline': '%s'",
			   soon(d, HOUR)));
	is(d, 1, "{'state': 'draining', 'leave': {'reason': 'Drain', 'drain': 'psu'}}");
	bench_run(d, HOUR);
	assert_string_equal(phases(d, "psu"), "Evicting Stopped ");
	/* m-1 no longer has to leave; its target stays Evicting until m-1 serves again. */
	assert_string_equal(wanting(d, "m-1"), "");
	is(d, 1, "{'state': 'serving', 'leave': null}");
	assert_string_equal(phases(d, "psu"), "Stopped Stopped ");
	assert_string_equal(of_drain(d, "psu", "phase"), "Partial");
}

static void a_deadline_that_had_passed_before_it_began_is_said(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = NULL;
	json_t *x;
	size_t i;

	serving(d, 1, "");
	drain(d, "psu", "'machineNames': ['m-1'], 'deadline': '2020-01-01T00:00:00Z'");
	assert_string_equal(of_drain(d, "psu", "phase"), "Partial");
	o = bench_get(d, OBJECT_DRAIN, "psu");
	json_array_foreach (json_at(o, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), "Ready"))
			assert_string_equal(json_str_at(x, "message"),
					    "0 of 1 machines done; 1 stopped at the deadline, "
					    "which had passed before the Drain began");
}

static void past_its_deadline_it_escalates_and_all_have_their_turn(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	serving(d, 2, "");
	drain(d, "psu",
	      arena_printf(
		      d->a,
		      "'machineNames': ['m-1', 'm-2'], 'deadline': '%s', 'onDeadline': 'Escalate'",
		      soon(d, HOUR)));
	assert_string_equal(phases(d, "psu"), "Evicting Pending ");
	bench_run(d, HOUR);
	assert_string_equal(phases(d, "psu"), "Escalating Escalating ");
	assert_string_equal(wanting(d, "m-2"), "psu!");
}

static void cancelling_undoes_only_what_has_not_left(void **state)
{
	struct bench *d = *state;

	for (int i = 1; i <= 4; i++)
		serving(d, i, "");
	drain(d, "psu", "'machineNames': ['m-1', 'm-2', 'm-3', 'm-4'], 'concurrent': 3");
	is(d, 1, "{'state': 'stopping'}");
	is(d, 2, "{'state': 'draining', 'leave': {'reason': 'Drain', 'drain': 'psu'}}");
	bench_patch(d, OBJECT_DRAIN, "psu", "{'spec': {'cancelled': true}}");
	bench_run(d, 2000);
	assert_string_equal(phases(d, "psu"), "Leaving Evicting Cancelled Cancelled ");
	assert_string_equal(wanting(d, "m-2"), "");
	assert_string_equal(of_drain(d, "psu", "phase"), "Cancelled");
	is(d, 2, "{'state': 'stopping'}"); /* The cancellation came too late for m-2. */
	left(d, 2, "free");
	left(d, 1, "free");
	assert_string_equal(phases(d, "psu"), "Done Done Cancelled Cancelled ");
	assert_string_equal(of_drain(d, "psu", "phase"), "Cancelled");
	assert_string_not_equal(of_drain(d, "psu", "completionTime"), "");
}

static void a_deleted_drain_wants_nothing(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	drain(d, "psu", "'machineNames': ['m-1']");
	assert_string_equal(wanting(d, "m-1"), "psu");
	bench_must(d, &d->host, "DELETE", DRAINS "/psu", NULL);
	bench_run(d, 2000);
	assert_string_equal(wanting(d, "m-1"), "");
}

static void of_two_drains_the_older_acts_and_the_newer_follows(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	drain(d, "zz-first", "'machineNames': ['m-1']");
	drain(d, "aa-second", "'machineNames': ['m-1']");
	assert_string_equal(wanting(d, "m-1"), "zz-first");
	is(d, 1, "{'state': 'stopping'}");
	assert_string_equal(phases(d, "aa-second"), "Leaving ");
	left(d, 1, "free");
	assert_string_equal(of_drain(d, "zz-first", "phase"), "Succeeded");
	assert_string_equal(of_drain(d, "aa-second", "phase"), "Succeeded");
}

/* The Drain created later has the earlier deadline. */
static void a_newer_drain_escalates_at_its_own_deadline(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	drain(d, "zz-first", "'machineNames': ['m-1'], 'then': 'Quarantine'");
	drain(d, "aa-second",
	      arena_printf(d->a,
			   "'machineNames': ['m-1'], 'deadline': '%s', 'onDeadline': 'Escalate'",
			   soon(d, HOUR)));
	assert_string_equal(wanting(d, "m-1"), "zz-first");
	assert_true(drains_together(&d->c, "m-1").deadline > loop_wall(d->l) + HOUR - 10000);
	bench_run(d, HOUR);
	assert_string_equal(wanting(d, "m-1"), "aa-second!");
	is(d, 1, "{'state': 'stopping', 'leave': {'reason': 'Drain', 'drain': 'aa-second'}}");
	left(d, 1, "verifying");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'free'}");
	/* Drain zz-first applies again at once, because m-1 is free and must not be offered for
	 * claims meanwhile. */
	assert_string_equal(wanting(d, "m-1"), "zz-first");
	bench_run(d, 2000);
	assert_string_equal(wanting(d, "m-1"), "zz-first");
	assert_string_equal(of_drain(d, "aa-second", "phase"), "Succeeded");
}

static void a_hold_lasts_until_somebody_ends_it(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	drain(d, "psu", "'machineNames': ['m-1'], 'then': 'Hold', 'ttlSecondsAfterFinished': 60");
	is(d, 1, "{'state': 'serving', 'hold': {'drain': 'psu'}}");
	assert_string_equal(phases(d, "psu"), "Done ");
	assert_string_equal(wanting(d, "m-1"), "psu");
	drain(d, "other", "'machineNames': ['m-1']");
	/* A Drain that only holds the machine gives way to one that drains it. */
	assert_string_equal(wanting(d, "m-1"), "other");
	bench_must(d, &d->host, "DELETE", DRAINS "/other", NULL);
	bench_run(d, HOUR);
	assert_string_equal(wanting(d, "m-1"), "psu");
	is(d, 1, "{'hold': null}"); /* An operator has released the machine. */
	assert_string_equal(wanting(d, "m-1"), "");
	assert_null(bench_get(d, OBJECT_DRAIN, "psu"));
}

static void a_finished_drain_goes_after_its_time(void **state)
{
	struct bench *d = *state;
	json_t *o;

	drain(d, "psu", "'machineNames': ['m-1'], 'ttlSecondsAfterFinished': 600");
	assert_string_equal(of_drain(d, "psu", "phase"), "Succeeded");
	bench_run(d, 590 * 1000);
	o = bench_get(d, OBJECT_DRAIN, "psu");
	assert_non_null(o);
	json_decref(o);
	bench_run(d, 20 * 1000);
	assert_null(bench_get(d, OBJECT_DRAIN, "psu"));
}

static void names_that_are_nobodys_are_said(void **state)
{
	struct bench *d = *state;

	drain(d, "psu", "'machineNames': ['m-1', 'm-77']");
	assert_string_equal(phases(d, "psu"), "Done Failed ");
	assert_string_equal(target(d, "psu", 1, "blockedBy"), "the Machine does not exist");
	assert_string_equal(of_drain(d, "psu", "phase"), "Partial");
	bench_run(d, 5000);
	assert_int_equal(bench_events(&d->host, "Partial"), 1);
	drain(d, "claims", "'nodeClaimNames': ['c-77']");
	assert_string_equal(of_drain(d, "claims", "phase"), "Partial");
}

static void a_selector_that_matches_nobody_ends_it_and_is_said(void **state)
{
	struct bench *d = *state;
	json_t *c;
	size_t i;
	unsigned seen = 0;

	drain(d, "psu", "'machineSelector': {'matchLabels': {'rack': 'no-such'}}");
	bench_run(d, 5000);
	OWN_JSON o = bench_get(d, OBJECT_DRAIN, "psu");
	assert_string_equal(json_str_at(o, "status", "phase"), "Partial");
	assert_non_null(json_str_at(o, "status", "completionTime"));
	json_array_foreach (json_at(o, "status", "conditions"), i, c) {
		assert_string_equal(json_str_at(c, "status"),
				    str_eq(json_str_at(c, "type"), CONDITION_STALLED) ? "True"
										      : "False");
		assert_non_null(strstr(json_str_at(c, "message"), "no Machine matched"));
		seen += str_eq(json_str_at(c, "type"), "Resolved") ||
			str_eq(json_str_at(c, "type"), "Ready");
	}
	assert_int_equal(seen, 2);
	assert_int_equal(bench_events(&d->host, "Partial"), 1);
}

static void a_drain_of_a_claim_means_no_other_on_its_machine(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	serving(d, 2, "");
	drain(d, "psu", "'nodeClaimNames': ['c-1', 'c-2']");
	assert_string_equal(phases(d, "psu"), "Evicting Pending ");
	is(d, 2, "{'claimRef': {'name': 'c-9', 'uid': '9'}}");
	assert_string_equal(phases(d, "psu"), "Evicting Done ");
}

static void only_a_leader_writes_and_the_next_one_goes_on(void **state)
{
	struct bench *d = *state;

	serving(d, 1, "");
	d->c.leading = false;
	drain(d, "psu", "'machineNames': ['m-1']");
	assert_string_equal(of_drain(d, "psu", "phase"), "");
	drains_free(d->drains);
	d->drains = drains_new(&d->c, d->tenants);
	d->c.leading = true;
	drains_kick(d->drains, NULL);
	bench_run(d, 2000);
	assert_string_equal(phases(d, "psu"), "Evicting ");
}

static bool offered(struct bench *d)
{
	return !drains_take_out(&d->c, CTX_GET(&d->c, OBJECT_MACHINE, machine, "m-1"));
}

static void what_is_to_be_taken_out_of_use_is_not_offered(void **state)
{
	struct bench *d = *state;

	assert_true(offered(d));
	drain(d, "free", "'machineNames': ['m-1']");
	assert_true(offered(d));
	drain(d, "psu", "'machineNames': ['m-1'], 'then': 'Retire'");
	assert_false(offered(d));
	bench_patch(d, OBJECT_DRAIN, "psu", "{'spec': {'cancelled': true}}");
	assert_true(offered(d));
	is(d, 1, "{'leave': {'reason': 'Drain', 'then': 'Quarantine'}}");
	assert_false(offered(d));
	is(d, 1, "{'leave': null}");
	bench_patch(d, OBJECT_MACHINE, "m-1",
		    "{'metadata': {'annotations': {'drover.dev/quarantine': 'RMA'}}}");
	assert_false(offered(d));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		T(a_machine_is_followed_from_its_turn_to_its_end),
		T(a_machine_that_serves_another_claim_by_now_is_done),
		T(nothing_is_done_before_its_time),
		T(whom_it_means_is_settled_at_its_start),
		T(machines_take_turns),
		T(a_gang_leaves_together),
		T(machines_that_pods_of_one_gang_run_on_leave_together),
		T(a_machine_without_pods_is_its_claim_s_gang_s),
		T(what_a_machine_runs_counts_more_than_its_claim),
		T(a_machine_that_serves_nobody_is_done_at_once),
		T(a_machine_that_serves_nobody_is_still_taken_out_of_use),
		T(what_is_quarantined_for_another_reason_has_failed),
		T(a_free_machine_is_not_done_before_it_is_where_it_shall_be),
		T(past_its_deadline_it_stops),
		T(a_deadline_that_had_passed_before_it_began_is_said),
		T(past_its_deadline_it_escalates_and_all_have_their_turn),
		T(cancelling_undoes_only_what_has_not_left),
		T(a_deleted_drain_wants_nothing),
		T(of_two_drains_the_older_acts_and_the_newer_follows),
		T(a_newer_drain_escalates_at_its_own_deadline),
		T(a_hold_lasts_until_somebody_ends_it),
		T(a_finished_drain_goes_after_its_time),
		T(names_that_are_nobodys_are_said),
		T(a_selector_that_matches_nobody_ends_it_and_is_said),
		T(a_drain_of_a_claim_means_no_other_on_its_machine),
		T(what_is_to_be_taken_out_of_use_is_not_offered),
		T(only_a_leader_writes_and_the_next_one_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
