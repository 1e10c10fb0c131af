#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/claims/claim_build.h"
#include "controller/burst/permits.h"
#include "controller/core/lookup.h"
#include "controller/rules/claim.h"
#include "planner/plan.h"

#define CLAIMS "/apis/" OBJECT_API_VERSION "/nodeclaims"

/* Notifies d->claims of a changed object, as the controller does. */
static void on_change(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	const struct machine *m = object;

	if (kind == OBJECT_NODE_CLAIM)
		claims_kick(d->claims, name);
	else if (kind == OBJECT_MACHINE && m && m->status.claim_ref)
		claims_kick(d->claims, m->status.claim_ref->name);
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

static const char *planned_pods[] = {"uid-1", "uid-2"};
static const struct plan_claim planned = {.tenant = "team-a",
					  .pool = "h100",
					  .provider = "hall-a",
					  .machine = "m-1",
					  .instance_type = "hgx",
					  .version = "1.36",
					  .pods = planned_pods,
					  .npods = 2};

/* Builds and creates a claim. Returns its name in the bench's arena. */
static const char *created(struct bench *d)
{
	OWN_JSON o = claims_build(&d->c, &planned, NULL, &d->e);
	char *text;
	const char *name;

	if (!o)
		fail_msg("%s", d->e.text);
	name = arena_strdup(d->a, json_str_at(o, "metadata", "name"));
	text = json_text(o);
	bench_put(d, text);
	free(text);
	return name;
}

/* Lets m-1 accept the claim and sets m-1 to that state; more: further members of its status. */
static void takes(struct bench *d, const char *claim, const char *machine_state, const char *more)
{
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, claim);

	bench_status(d, OBJECT_MACHINE, "m-1",
		     arena_printf(d->a,
				  "{'state': '%s', 'claimRef': {'name': '%s', 'uid': '%s'}%s}",
				  machine_state, claim, json_str_at(o, "metadata", "uid"), more));
	bench_run(d, 2000);
}

static const char *condition(struct bench *d, const char *claim, const char *type)
{
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, claim);
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return arena_printf(d->a, "%s %s", json_str_at(c, "status"),
					    json_str_at(c, "reason"));
	return "";
}

/* Returns the message of the claim's condition; "" if the claim has no such condition. */
static const char *message(struct bench *d, const char *claim, const char *type)
{
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, claim);
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return arena_strdup(d->a, str_or(json_str_at(c, "message"), ""));
	return "";
}

static const char *status(struct bench *d, const char *claim, const char *field)
{
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, claim);

	return arena_strdup(d->a, str_or(json_str_at(o, "status", field), ""));
}

/* --- building --------------------------------------------------------------------------------- */

static void a_claim_is_a_frozen_copy_of_what_was_promised(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = claims_build(&d->c, &planned, NULL, &d->e);
	const json_t *spec = json_object_get(o, "spec"),
		     *requirements = json_object_get(spec, "requirements");
	const struct machine *m = CTX_GET(&d->c, OBJECT_MACHINE, machine, "m-1");

	assert_true(str_starts(json_str_at(o, "metadata", "name"), "h100-"));
	assert_int_equal(strlen(json_str_at(o, "metadata", "name")), strlen("h100-") + 8);
	assert_string_equal(
		json_string_value(json_array_get(json_at(o, "metadata", "finalizers"), 0)),
		"drover.dev/termination");
	assert_string_equal(json_str_at(o, "metadata", "labels", "drover.dev/virtual-cluster"),
			    "team-a");
	assert_string_equal(json_str_at(spec, "machineRef", "name"), "m-1");
	assert_string_equal(json_str_at(spec, "machineRef", "uid"), m->meta.uid);
	assert_string_equal(json_str_at(spec, "virtualClusterRef", "name"), "team-a");
	assert_string_equal(json_str_at(spec, "image", "url"), "https://img.example/n136.raw");
	assert_string_equal(json_str_at(spec, "labels", "example.com/pool"), "h100");
	assert_string_equal(json_str_at(json_array_get(json_at(spec, "taints"), 0), "key"),
			    "nvidia.com/gpu");
	assert_int_equal(json_array_size(json_at(spec, "pods")), 2);
	assert_string_equal(json_string_value(json_array_get(json_at(spec, "pods"), 1)), "uid-2");
	assert_int_equal(json_array_size(requirements),
			 /* The pool allows "hgx" or "old"; the claim names only the type that the
			  * plan chose. */
			 1);
	assert_int_equal(json_array_size(json_at(json_array_get(requirements, 0), "values")), 1);
	assert_string_equal(json_string_value(json_array_get(
				    json_at(json_array_get(requirements, 0), "values"), 0)),
			    "hgx");
}

static void no_two_claims_have_one_name(void **state)
{
	struct bench *d = *state;
	OWN_JSON one = claims_build(&d->c, &planned, NULL, &d->e);
	OWN_JSON two = claims_build(&d->c, &planned, NULL, &d->e);

	assert_string_not_equal(json_str_at(one, "metadata", "name"),
				json_str_at(two, "metadata", "name"));
}

static void what_changed_under_the_plan_makes_no_claim(void **state)
{
	struct bench *d = *state;
	struct plan_claim p = planned;

	p.pool = "gone";
	assert_null(claims_build(&d->c, &p, NULL, &d->e));
	assert_int_equal(d->e.kind, ERR_CONFLICT);
	p = planned;
	p.tenant = "gone";
	assert_null(claims_build(&d->c, &p, NULL, &d->e));
	p = planned;
	p.machine = "gone";
	assert_null(claims_build(&d->c, &p, NULL, &d->e));
	p = planned;
	p.version = "1.35"; /* The pool has no image for this version */
	assert_null(claims_build(&d->c, &p, NULL, &d->e));
	assert_non_null(strstr(d->e.text, "changed while the plan was made"));
}

/* Returns spec.gang of the claim built for a pod of that gang with that permit. */
static json_t *gang_in(struct bench *d, const char *key, const struct permit *permit)
{
	struct plan_claim p = planned;
	OWN_JSON o = NULL;

	p.gang_key = key;
	o = claims_build(&d->c, &p, permit, &d->e);
	return json_incref(json_at(o, "spec", "gang"));
}

static void a_claim_names_the_gang_that_it_was_opened_for(void **state)
{
	struct bench *d = *state;
	const struct permit ring = {.gang = {"decision", 3, 1790000000000}},
			    last = {.gang = {"decision", 1, 1790000000000}},
			    pod = {.work = "default/pod"};
	OWN_JSON train = gang_in(d, "default/gangs/train", NULL);
	OWN_JSON other = gang_in(d, "default/gangs/other", NULL);
	OWN_JSON three = gang_in(d, "default/gangs/train", &ring);
	OWN_JSON one = gang_in(d, "default/gangs/train", &last);

	assert_null(gang_in(d, NULL, NULL));
	assert_null(gang_in(d, NULL, &pod));
	assert_string_equal(json_str_at(train, "uid"),
			    claim_gang_uid("team-a", "default/gangs/train", d->a));
	assert_string_not_equal(json_str_at(train, "uid"), json_str_at(other, "uid"));
	assert_string_not_equal(json_str_at(train, "uid"),
				claim_gang_uid("team-b", "default/gangs/train", d->a));
	/* Only claims that a cloud launches together wait for one another. */
	assert_int_equal(json_int_at(train, "size"), 0);
	assert_null(json_at(train, "holdUntil"));
	assert_string_equal(json_str_at(three, "uid"), "decision");
	assert_int_equal(json_int_at(three, "size"), 3);
	assert_non_null(json_at(three, "holdUntil"));
	assert_string_equal(json_str_at(one, "uid"), "decision");
	assert_int_equal(json_int_at(one, "size"), 0);
	assert_null(json_at(one, "holdUntil"));
}

/* --- phase ------------------------------------------------------------------------------------ */

static void the_phase_is_the_machines_state_until_it_fails_the_claim(void **state)
{
	struct machine_failure failures[] = {
		{.claim = "other", .reason = "A"},
		{.claim = "c", .reason = "JoinTimeout", .message = "m"},
		{.claim = NULL, .reason = "B"}};
	struct node_claim n = {.meta = {.name = "c"}};
	struct machine m = {.status = {.state = "booting"}};
	const char *reason, *message;
	bool failed;

	(void)state;
	assert_string_equal(claim_phase(&n, NULL, &failed, &reason, &message), "Pending");
	assert_string_equal(claim_phase(&n, &m, &failed, &reason, &message), "booting");
	assert_false(failed);
	m.status.failures.v = failures;
	m.status.failures.n = 1;
	assert_string_equal(claim_phase(&n, &m, &failed, &reason, &message), "booting");
	m.status.failures.n = 3;
	assert_string_equal(claim_phase(&n, &m, &failed, &reason, &message), "Failed");
	assert_true(failed);
	assert_string_equal(reason, "JoinTimeout");
	assert_string_equal(message, "m");
	n.meta.deletion_timestamp = 1;
	assert_string_equal(claim_phase(&n, NULL, &failed, &reason, &message), "Ended");
	assert_false(failed);
}

/* --- status ----------------------------------------------------------------------------------- */

static void the_status_follows_the_machine_from_state_to_state(void **state)
{
	static const struct {
		const char *state, *launched, *registered, *initialized, *ready;
	} steps[] = {
		{"claimed", "False Waiting", "False NodeNotFound", "False NodeNotReady",
		 "False NotReady"},
		{"imaging", "False Waiting", "False NodeNotFound", "False NodeNotReady",
		 "False NotReady"},
		{"booting", "True Launched", "False NodeNotFound", "False NodeNotReady",
		 "False NotReady"},
		{"joining", "True Launched", "False NodeNotFound", "False NodeNotReady",
		 "False NotReady"},
		{"gating", "True Launched", "True Registered", "False NodeNotReady",
		 "False NotReady"},
		{"serving", "True Launched", "True Registered", "True Initialized", "True Ready"},
		{"draining", "True Launched", "True Registered", "True Initialized",
		 "False NotReady"},
		{"stopping", "False Waiting", "False NodeNotFound", "False NodeNotReady",
		 "False NotReady"},
	};
	struct bench *d = *state;
	const char *c = created(d);

	bench_run(d, 1000);
	assert_string_equal(status(d, c, "phase"), "Pending");
	assert_true(str_starts(message(d, c, "Ready"), "waiting for machine m-1 to accept"));
	assert_string_equal(message(d, c, "Launched"), message(d, c, "Ready"));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		takes(d, c, steps[i].state, ", 'tenancy': 42");
		assert_string_equal(status(d, c, "phase"), steps[i].state);
		assert_string_equal(condition(d, c, "Launched"), steps[i].launched);
		assert_string_equal(condition(d, c, "Registered"), steps[i].registered);
		assert_string_equal(condition(d, c, "Initialized"), steps[i].initialized);
		assert_string_equal(condition(d, c, "Ready"), steps[i].ready);
		assert_string_equal(
			message(d, c, "Ready"),
			str_eq(steps[i].state, "serving")
				? ""
				: arena_printf(d->a, "machine m-1 is %s", steps[i].state));
	}
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_string_equal(json_str_at(o, "status", "machineRef", "name"), "m-1");
	assert_int_equal(json_int_at(o, "status", "tenancy"), 42);
	assert_string_equal(json_str_at(o, "status", "nodeName"), c);
	assert_string_equal(json_str_at(o, "status", "providerID"), "drover://hall-a/m-1");
}

static void how_a_claim_leaves_stands_in_its_conditions(void **state)
{
	static const struct {
		const char *state, *more, *drained, *off, *isolated;
	} steps[] = {
		{"serving", "", "", "", ""},
		{"draining", ", 'leave': {'reason': 'Drain', 'podsLeft': 2}", "False Draining",
		 "False NotLeaving", "False NotLeaving"},
		{"serving", ", 'leave': null", "False NotLeaving", "False NotLeaving",
		 "False NotLeaving"},
		{"stopping", ", 'leave': {'reason': 'Drain', 'podsLeft': 1}", "False PodsLeft",
		 "False Stopping", "False Waiting"},
		{"isolating",
		 ", 'leave': null, 'power': {'state': 'On'}, 'operation': {'id': 'op'}",
		 "True Drained", "False PowerNotConfirmed", "False Waiting"},
		{"leaving", ", 'power': {'state': 'On', 'confirmedBy': 'op'}", "True Drained",
		 "True Confirmed", "False Waiting"},
		{"leaving",
		 ", 'power': {'state': 'Off', 'confirmedBy': 'another'},"
		 " 'network': {'segment': 'quarantine', 'proof': 'Strong'}",
		 "True Drained", "True Observed", "True Proved"},
		{"quarantined", ", 'power': {'doubted': 'op'}, 'network': {'segment': 'team-a'}",
		 "True Drained", "False PowerNotConfirmed", "False NetworkNotConfirmed"},
	};
	struct bench *d = *state;
	const char *c = created(d);

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		takes(d, c, steps[i].state, steps[i].more);
		assert_string_equal(condition(d, c, "Drained"), steps[i].drained);
		assert_string_equal(condition(d, c, "PoweredOff"), steps[i].off);
		assert_string_equal(condition(d, c, "Isolated"), steps[i].isolated);
	}
	assert_string_equal(condition(d, c, "VolumesDetached"), "Unknown NotLooked");
}

static void a_failed_claim_says_why_and_tells_once(void **state)
{
	struct bench *d = *state;
	const char *c = created(d);
	static const char failure[] =
		", 'failures': [{'time': '2026-12-01T10:00:00Z', 'step': 'joining',"
		" 'reason': 'JoinTimeout', 'message': '%s', 'claim': '%s'}]";

	takes(d, c, "joining", "");
	takes(d, c, "stopping", arena_printf(d->a, failure, "no Node came", c));
	assert_string_equal(status(d, c, "phase"), "Failed");
	assert_string_equal(condition(d, c, "Ready"), "False JoinTimeout");
	takes(d, c, "isolating", arena_printf(d->a, failure, "nor later", c));
	assert_string_equal(status(d, c, "phase"), "Failed");
	bench_run(d, 30000);
	assert_int_equal(bench_events(&d->host, "JoinTimeout"), 1);
}

static void a_status_that_says_all_is_not_written_again(void **state)
{
	struct bench *d = *state;
	const char *c = created(d);
	char before[32];

	takes(d, c, "serving", "");
	OWN_JSON one = bench_get(d, OBJECT_NODE_CLAIM, c);
	str_copy(before, sizeof(before), json_str_at(one, "metadata", "resourceVersion"));
	claims_kick(d->claims, c);
	takes(d, c, "serving", ", 'power': {'state': 'On'}");
	OWN_JSON two = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_string_equal(json_str_at(two, "metadata", "resourceVersion"), before);
}

static void a_replica_that_does_not_lead_writes_nothing(void **state)
{
	struct bench *d = *state;
	const char *c;

	d->c.leading = false;
	c = created(d);
	bench_run(d, 60000);
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_non_null(o);
	assert_null(json_object_get(o, "status"));
}

static void a_machine_locked_by_another_claim_is_not_this_ones(void **state)
{
	struct bench *d = *state;
	const char *c = created(d);
	const struct node_claim *n = CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, c);

	bench_status(
		d, OBJECT_MACHINE, "m-1",
		arena_printf(
			d->a,
			"{'claimRef': {'name': '%s', 'uid': 'of an earlier claim of that name'}}",
			c));
	n = CTX_GET(&d->c, OBJECT_NODE_CLAIM, node_claim, c);
	assert_null(machine_of_claim(&d->c, n));
}

/* --- withdrawing ------------------------------------------------------------------------------ */

static void a_claim_that_no_machine_takes_goes_after_half_a_minute(void **state)
{
	struct bench *d = *state;
	const char *c = created(d);

	bench_run(d, 25000);
	OWN_JSON there = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_non_null(there);
	bench_run(d, 10000);
	OWN_JSON gone = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_null(gone);
}

/* An operator created the claim for a server that already runs, but has not approved the server's
 * Machine yet. */
static void an_untaken_claim_stays_while_its_tenant_has_the_node(void **state)
{
	struct bench *d = *state;
	const char *c;

	bench_tenants(d);
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'metadata': {'labels': {'a': 'b'}}}");
	bench_run(d, 5000);
	d->on_change = on_change;
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'known'}");
	c = created(d);
	bench_must(d, &d->team, "POST", "/api/v1/nodes",
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': '%s'}}",
				c));
	bench_run(d, 600000);
	OWN_JSON there = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_non_null(there);
	bench_must(d, &d->team, "DELETE", arena_printf(d->a, "/api/v1/nodes/%s", c), NULL);
	bench_run(d, 35000);
	OWN_JSON gone = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_null(gone);
}

static void a_claim_that_a_machine_took_stays_whatever_the_time(void **state)
{
	struct bench *d = *state;
	const char *c = created(d);

	takes(d, c, "imaging", "");
	bench_run(d, 600000);
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_non_null(o);
	assert_null(json_at(o, "metadata", "deletionTimestamp"));
	/* The claim is deleted: only its machine may remove the finalizer. */
	bench_must(d, &d->host, "DELETE", arena_printf(d->a, CLAIMS "/%s", c), NULL);
	bench_run(d, 60000);
	OWN_JSON held = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_non_null(held);
	/* The machine releases the claim (claimRef). The claim still stays, because the claim names
	 * the machine. */
	bench_status(d, OBJECT_MACHINE, "m-1", "{'claimRef': null}");
	bench_run(d, 60000);
	OWN_JSON named = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_non_null(named);
}

static void a_deleted_claim_ends_once_its_machine_is_off_and_cut(void **state)
{
	static const struct {
		const char *state;
		bool ends;
	} cases[] = {
		{"stopping", false},	{"isolating", false}, {"leaving", false},
		{"quarantined", false}, {"known", false},     {"dirty", true},
		{"verifying", true},	{"free", true},
	};
	struct bench *d = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *c = created(d);

		takes(d, c, "serving", "");
		bench_must(d, &d->host, "DELETE", arena_printf(d->a, CLAIMS "/%s", c), NULL);
		bench_status(
			d, OBJECT_MACHINE, "m-1",
			arena_printf(d->a, "{'state': '%s', 'claimRef': null}", cases[i].state));
		claims_kick(d->claims, c);
		bench_run(d, 60000);
		OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, c);
		if (!o != cases[i].ends)
			fail_msg("%s", cases[i].state);
	}
}

static void of_an_untaken_claim_only_our_finalizer_is_taken_away(void **state)
{
	struct bench *d = *state;
	const char *c = created(d);
	uint64_t before;

	bench_patch(
		d, OBJECT_NODE_CLAIM, c,
		"{'metadata': {'finalizers': ['drover.dev/termination', 'example.com/audit']}}");
	bench_must(d, &d->host, "DELETE", arena_printf(d->a, CLAIMS "/%s", c), NULL);
	bench_run(d, 5000);
	OWN_JSON o = bench_get(d, OBJECT_NODE_CLAIM, c);
	assert_int_equal(json_array_size(json_at(o, "metadata", "finalizers")), 1);
	assert_string_equal(
		json_string_value(json_array_get(json_at(o, "metadata", "finalizers"), 0)),
		"example.com/audit");
	/* Another writer's finalizer keeps the claim; drover repeats no request meanwhile. */
	before = http_stats(d->c.http).started;
	bench_run(d, 60000);
	assert_true(http_stats(d->c.http).started - before < 50);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_claim_is_a_frozen_copy_of_what_was_promised),
		T(no_two_claims_have_one_name),
		T(what_changed_under_the_plan_makes_no_claim),
		T(a_claim_names_the_gang_that_it_was_opened_for),
		T(the_phase_is_the_machines_state_until_it_fails_the_claim),
		T(the_status_follows_the_machine_from_state_to_state),
		T(how_a_claim_leaves_stands_in_its_conditions),
		T(a_failed_claim_says_why_and_tells_once),
		T(a_status_that_says_all_is_not_written_again),
		T(a_replica_that_does_not_lead_writes_nothing),
		T(a_machine_locked_by_another_claim_is_not_this_ones),
		T(a_claim_that_no_machine_takes_goes_after_half_a_minute),
		T(an_untaken_claim_stays_while_its_tenant_has_the_node),
		T(a_claim_that_a_machine_took_stays_whatever_the_time),
		T(a_deleted_claim_ends_once_its_machine_is_off_and_cut),
		T(of_an_untaken_claim_only_our_finalizer_is_taken_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
