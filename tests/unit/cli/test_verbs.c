/* Tests what the commands of drover write to the API, with a client on the simulated loop. */
#include "api/annotations.h"
#include "api/resources.h"
#include "cli/cli.h"
#include "controller/steps/adopt.h"
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/str.h"
#include "cli/verbs.h"
#include "controller/drain/drains.h"
#include "controller/steps/requests.h"

static struct cli_client c;
static char *said;
static size_t said_len;

static void on_change(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	(void)object;
	if (kind == OBJECT_DRAIN)
		drains_kick(d->drains, name);
}

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_fleet(d);
	d->on_change = on_change;
	c = (struct cli_client){.verb = "drover test",
				.loop = d->l,
				.group = d->g,
				.host = d->c.host,
				.out = open_memstream(&said, &said_len)};
	return 0;
}

static int teardown(void **state)
{
	fclose(c.out);
	free(said);
	return bench_teardown(state);
}

static void assert_said(const char *what)
{
	fflush(c.out);
	if (!strstr(said, what))
		fail_msg("want '%s' in: %s", what, said);
}

static const char *at(struct bench *d, enum object_kind_id kind, const char *name, const char *part,
		      const char *key)
{
	OWN_JSON o = bench_get(d, kind, name);

	return arena_strdup(d->a, str_or(json_str_at(o, part, key), ""));
}

static const char *annotation(struct bench *d, const char *key)
{
	OWN_JSON o = bench_get(d, OBJECT_MACHINE, "m-1");

	return arena_strdup(d->a, str_or(json_str_at(o, "metadata", "annotations", key), ""));
}

static void serves(struct bench *d)
{
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'serving', 'claimRef': {'name': 'c-1', 'uid': 'u-1'}}");
}

static void quarantined(struct bench *d, const char *reason, const char *exit_)
{
	bench_status(
		d, OBJECT_MACHINE, "m-1",
		arena_printf(
			d->a,
			"{'state': 'quarantined', 'quarantine': {'reason': '%s', 'exit': '%s'}}",
			reason, exit_));
}

/* Returns the only Drain, which the caller owns; NULL: there is no Drain. */
static json_t *only_drain(struct bench *d)
{
	json_t *o = NULL, *all;
	struct err e;

	(void)bench_do(d, &d->host, "GET", "/apis/" OBJECT_API_VERSION "/drains", NULL);
	all = json_parse(d->text, strlen(d->text), &e);
	assert_non_null(all);
	if (json_array_size(json_at(all, "items")) == 1)
		o = json_incref(json_array_get(json_at(all, "items"), 0));
	json_decref(all);
	return o;
}

static void retry_writes_a_new_value_each_time(void **state)
{
	struct bench *d = *state;
	const char *first;

	assert_int_equal(cli_do_retry(&c, "m-1"), 0);
	first = annotation(d, REQUEST_RETRY);
	assert_string_not_equal(first, "");
	assert_said("same as: kubectl patch machine m-1 --type merge -p "
		    "'{\"metadata\":{\"annotations\":{\"drover.dev/retry\":");
	bench_run(d, 10);
	assert_int_equal(cli_do_retry(&c, "m-1"), 0);
	assert_string_not_equal(annotation(d, REQUEST_RETRY), first);
}

static void retry_says_when_it_cannot_help(void **state)
{
	struct bench *d = *state;

	quarantined(d, "EraseUnverified", "operator");
	assert_int_equal(cli_do_retry(&c, "m-1"), 1);
	assert_string_equal(annotation(d, REQUEST_RETRY), "");
	assert_int_equal(cli_do_retry(&c, "m-9"), 1);
}

static void retry_says_what_it_does(void **state)
{
	static const struct {
		const char *status, *says;
	} rows[] = {
		{"{'state': 'quarantined', 'quarantine': {'reason': 'x', 'exit': 'auto'}}",
		 "machine m-1 (quarantined): drover ends the quarantine now"},
		{"{'state': 'stopping', 'quarantine': null, 'operation': {'step': 'power-off', "
		 "'attempt': 3, 'waitingFor': 'Device'}}",
		 "machine m-1 (stopping): drover reads its BMC and tries step power-off again now, "
		 "after attempt 3"},
		{"{'state': 'free', 'bmc': {'refusedSecretVersion': '42'}}",
		 "machine m-1 (free): drover now tries the login that its BMC refused once more"},
		{"{'bmc': null, 'operation': {'step': 'power-on', 'attempt': 1, 'waitingFor': "
		 "'Device', 'lastError': {'reason': 'AgentVersionMismatch', 'message': 'x'}}}",
		 "machine m-1 (free): drover boots the machine again now, from the "
		 "current boot image"},
		{"{'bmc': null, 'operation': {'step': 'x', 'waitingFor': 'Approval', 'lastError': "
		 "{'reason': 'NotApproved', 'message': 'm', 'time': '2025-11-24T16:10:00Z'}}}",
		 "machine m-1 (free): it waits for an operator because of NotApproved, which a "
		 "retry does not change; `drover why m-1`"},
		{"{'operation': {'waitingFor': 'Approval', 'lastError': {'reason': "
		 "'BmcPasswordChange'}}}",
		 "machine m-1 (free): drover reads its BMC and tries step x again now"},
		{"{'operation': {'waitingFor': 'Rate', 'lastError': {'reason': 'PowerOnPaced'}}}",
		 "machine m-1 (free): it waits for its turn among other machines, which a retry"},
		{"{'operation': {'waitingFor': 'Budget'}}",
		 "machine m-1 (free): it waits for a disruption budget of its tenant, which a"},
		{"{'operation': null}",
		 "machine m-1 (free): nothing waits for a retry; drover only reads its BMC now"},
	};
	struct bench *d = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bench_status(d, OBJECT_MACHINE, "m-1", rows[i].status);
		assert_int_equal(cli_do_retry(&c, "m-1"), 0);
		assert_said(rows[i].says);
	}
}

static void release_lets_go_of_what_a_person_holds_and_of_nothing_else(void **state)
{
	struct bench *d = *state;

	assert_int_equal(cli_do_release(&c, "m-1"), 1); /* m-1 is not held. */
	quarantined(d, "EraseUnverified", "operator");
	assert_int_equal(cli_do_release(&c, "m-1"), 1);
	assert_string_equal(annotation(d, REQUEST_RELEASE), "");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'serving', 'quarantine': null, 'hold': {'drain': 'psu'}}");
	assert_int_equal(cli_do_release(&c, "m-1"), 0);
	assert_string_not_equal(annotation(d, REQUEST_RELEASE), "");
	assert_said("drain psu no longer holds it");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'draining', 'claimRef': {'name': 'c-1', 'uid': 'u'}, 'hold': "
		     "{'drain': null, 'since': '2025-11-24T16:10:00Z'}}");
	assert_int_equal(cli_do_release(&c, "m-1"), 0);
	assert_said("drover still drains it, and its Node stays cordoned. To put the machine back "
		    "into service, cancel the drain, then run `kubectl uncordon c-1`");
}

static void quarantine_marks_a_machine_and_release_takes_the_mark_away(void **state)
{
	struct bench *d = *state;

	assert_int_equal(cli_do_quarantine(&c, "m-1", "RMA '881'"), 0);
	assert_string_equal(annotation(d, REQUEST_QUARANTINE), "RMA '881'");
	assert_said("RMA '\\''881'\\''"); /* The text is quoted for a shell. */
	assert_int_equal(cli_do_release(&c, "m-1"), 0);
	assert_string_equal(annotation(d, REQUEST_QUARANTINE), "");
}

/* The audit log takes the user of a change from the annotation. */
static void a_change_names_its_user_on_the_object(void **state)
{
	struct bench *d = *state;
	char want[64], now[STR_TIME_SIZE];

	assert_int_equal(cli_do_quarantine(&c, "m-1", "RMA"), 0);
	str_format(want, sizeof(want), "drover %s", str_time(now, loop_wall(d->l)));
	assert_string_equal(annotation(d, AUDIT_REQUESTED_BY), want);
	fflush(c.out);
	assert_null(strstr(said, AUDIT_REQUESTED_BY));
}

static void who_serves_is_drained_before_quarantine_or_retirement(void **state)
{
	struct bench *d = *state;
	json_t *o;

	serves(d);
	assert_int_equal(cli_do_retire(&c, "m-1", "sold"), 0);
	o = only_drain(d);
	assert_string_equal(json_str_at(o, "spec", "then"), "Retire");
	assert_string_equal(json_str_at(o, "spec", "reason"), "sold");
	assert_string_equal(
		json_string_value(json_array_get(json_at(o, "spec", "machineNames"), 0)), "m-1");
	assert_string_equal(at(d, OBJECT_MACHINE, "m-1", "spec", "managementPolicy"), "Manage");
	json_decref(o);
	assert_int_equal(cli_do_quarantine(&c, "m-1", "x"), 0);
	assert_string_equal(annotation(d, REQUEST_QUARANTINE), "");
}

static void who_serves_nobody_is_retired_at_once(void **state)
{
	struct bench *d = *state;

	assert_int_equal(cli_do_retire(&c, "m-1", "sold"), 0);
	assert_string_equal(at(d, OBJECT_MACHINE, "m-1", "spec", "managementPolicy"), "Retire");
	assert_null(only_drain(d));
}

/* Returns spec.waivers of m-1 as one text: "WHAT WWN SERIAL TENANCY REASON; ". */
static const char *waivers_of(struct bench *d)
{
	OWN_JSON o = bench_get(d, OBJECT_MACHINE, "m-1");
	const char *text = "";
	json_t *v;
	size_t i;

	json_array_foreach (json_at(o, "spec", "waivers"), i, v) {
		assert_string_equal(json_str_at(v, "by"), "drover");
		assert_non_null(json_str_at(v, "at"));
		text = arena_printf(d->a, "%s%s %s %s %lld %s; ", text, json_str_at(v, "what"),
				    str_or(json_str_at(v, "wwn"), "-"),
				    str_or(json_str_at(v, "serialNumber"), "-"),
				    (long long)json_int_at(v, "tenancy"),
				    str_or(json_str_at(v, "reason"), "-"));
	}
	return text;
}

static void who_is_retired_unwiped_is_recorded(void **state)
{
	struct bench *d = *state;

	quarantined(d, "NotWiped", "operator");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'tenancy': 42}");
	assert_int_equal(cli_do_retire(&c, "m-1", "sold"), 0);
	assert_said("it was not wiped after its last tenant");
	assert_string_equal(waivers_of(d), "Retirement eui.1 - 42 sold; Retirement eui.2 - 42 "
					   "sold; ");
}

/* A Machine that drover has not used held no tenant's data. One whose status began anew may. */
static void a_known_machine_is_waived_only_if_it_was_used(void **state)
{
	struct bench *d = *state;

	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'known', 'tenancy': 1, 'lastWipe': null, 'clean': false}");
	assert_int_equal(cli_do_retire(&c, "m-1", "sold"), 0);
	assert_string_equal(waivers_of(d), "");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'tenancy': 42, 'lastWipe': {'tenancy': 41}}");
	assert_int_equal(cli_do_retire(&c, "m-1", "sold"), 0);
	assert_string_equal(waivers_of(d), "Retirement eui.1 - 42 sold; Retirement eui.2 - 42 "
					   "sold; ");
}

static void who_is_retired_after_its_wipe_needs_no_waiver(void **state)
{
	struct bench *d = *state;

	quarantined(d, "QuarantinedByOperator", "operator");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'lastWipe': {'tenancy': 41}, 'tenancy': 41}");
	assert_int_equal(cli_do_retire(&c, "m-1", NULL), 0);
	assert_string_equal(at(d, OBJECT_MACHINE, "m-1", "spec", "managementPolicy"), "Retire");
	assert_string_equal(waivers_of(d), "");
}

static void confirm_off_names_the_operation_and_wants_a_yes(void **state)
{
	struct bench *d = *state;

	/* m-1 is free: no operation waits for the confirmation. */
	assert_int_equal(cli_do_confirm_off(&c, "m-1", true), 1);
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'stopping', 'operation': {'id': 'op-7'}}");
	if (!isatty(STDIN_FILENO))
		assert_int_equal(cli_do_confirm_off(&c, "m-1", false), 1);
	assert_string_equal(annotation(d, REQUEST_CONFIRM_OFF), "");
	assert_int_equal(cli_do_confirm_off(&c, "m-1", true), 0);
	assert_string_equal(annotation(d, REQUEST_CONFIRM_OFF), "op-7");
}

static void confirm_off_is_refused_while_the_bmc_answers_on(void **state)
{
	static const struct {
		const char *power, *reachable, *reason;
		int status;
	} rows[] = {
		{"On", "True", "PowerNotConfirmed", 1},	 {"On", "False", "BmcUnreachable", 0},
		{"On", "True", "BmcAuthFailed", 0},	 {"On", "True", "SecretNotFound", 0},
		{"Off", "True", "PowerNotConfirmed", 0},
	};
	struct bench *d = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bench_status(d, OBJECT_MACHINE, "m-1",
			     arena_printf(d->a,
					  "{'state': 'stopping', 'power': {'state': '%s'}, "
					  "'operation': {'id': 'op-%zu', 'lastError': {'reason': "
					  "'%s', 'message': 'x'}}, 'conditions': [{'type': "
					  "'Reachable', 'status': '%s', 'reason': 'x', "
					  "'message': '', 'lastTransitionTime': "
					  "'2025-11-24T16:10:00Z'}]}",
					  rows[i].power, i, rows[i].reason, rows[i].reachable));
		verb_errors_begin();
		assert_int_equal(cli_do_confirm_off(&c, "m-1", true), rows[i].status);
		verb_errors_end(rows[i].status ? "its BMC answers and reports On" : "You confirm");
		assert_string_equal(annotation(d, REQUEST_CONFIRM_OFF),
				    rows[i].status ? "" : arena_printf(d->a, "op-%zu", i));
	}
}

static void resume_writes_the_time_on_a_pool_or_a_provider(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = NULL;
	int64_t when;

	assert_int_equal(cli_do_resume(&c, "nodepool/h100"), 0);
	o = bench_get(d, OBJECT_NODE_POOL, "h100");
	assert_true(str_to_time(json_str_at(o, "metadata", "annotations", REQUEST_RESUME), &when));
	assert_true(when <= loop_wall(d->l) && when > loop_wall(d->l) - 5000);
	assert_int_equal(cli_do_resume(&c, "provider/hall-a"), 0);
	assert_int_equal(cli_do_resume(&c, "virtualcluster/team-a"), 0);
	assert_int_equal(cli_do_resume(&c, "drain/m-1"), 1);
	assert_int_equal(cli_do_resume(&c, "h100"), 1);
	assert_int_equal(cli_do_resume(&c, "pool/no-such"), 1);
}

static void pause_stops_and_resume_ends_that_alone(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = NULL;

	assert_int_equal(cli_do_pause(&c, "pool/h100"), 0);
	assert_said("nodepool h100 is paused: drover creates and removes no Node for it, until "
		    "`drover resume pool/h100`\n");
	o = bench_get(d, OBJECT_NODE_POOL, "h100");
	assert_true(json_true_at(o, "spec", "paused"));
	json_decref(o);
	assert_int_equal(cli_do_resume(&c, "pool/h100"), 0);
	assert_said("is no longer paused; if drover had stopped creating NodeClaims after "
		    "failures, run");
	o = bench_get(d, OBJECT_NODE_POOL, "h100");
	assert_false(json_true_at(o, "spec", "paused"));
	assert_null(json_at(o, "metadata", "annotations", REQUEST_RESUME));
	assert_int_equal(cli_do_pause(&c, "tenant/team-a"), 0);
	assert_int_equal(cli_do_pause(&c, "provider/hall-a"), 0);
	verb_errors_begin();
	assert_int_equal(cli_do_pause(&c, "drain/m-1"), 1);
	verb_errors_end("want pool/NAME, provider/NAME, tenant/NAME, machine/NAME or "
			"burstpolicy/NAME, got drain/m-1\n");
	verb_errors_begin();
	assert_int_equal(cli_do_pause(&c, "pool/no-such"), 1);
	verb_errors_end("no-such");
}

static const char *policy_of(struct bench *d)
{
	OWN_JSON o = bench_get(d, OBJECT_MACHINE, "m-1");

	return arena_strdup(d->a, str_or(json_str_at(o, "spec", "managementPolicy"), "-"));
}

static void a_paused_machine_is_only_observed(void **state)
{
	struct bench *d = *state;

	assert_int_equal(cli_do_pause(&c, "machine/m-1"), 0);
	assert_said("machine m-1 is paused: drover reads its state and changes nothing, until "
		    "`drover resume machine/m-1`\n");
	assert_string_equal(policy_of(d), "Observe");
	assert_int_equal(cli_do_pause(&c, "machine/m-1"), 0);
	assert_said("machine m-1: spec.managementPolicy is Observe already\n");
	assert_int_equal(cli_do_resume(&c, "machine/m-1"), 0);
	assert_string_equal(policy_of(d), "Manage");
	/* A pause must not end a retirement, and a resume must not approve a machine. */
	bench_patch(d, OBJECT_MACHINE, "m-1", "{'spec': {'managementPolicy': 'Retire'}}");
	verb_errors_begin();
	assert_int_equal(cli_do_pause(&c, "machine/m-1"), 1);
	verb_errors_end("machine m-1 is retired or will be");
	bench_patch(d, OBJECT_MACHINE, "m-1",
		    "{'spec': {'managementPolicy': 'Observe', 'identity': null}}");
	verb_errors_begin();
	assert_int_equal(cli_do_resume(&c, "machine/m-1"), 1);
	verb_errors_end("machine m-1 was never approved: run `drover approve m-1`");
	assert_string_equal(policy_of(d), "Observe");
	verb_errors_begin();
	assert_int_equal(cli_do_pause(&c, "machine/no-such"), 1);
	verb_errors_end("no-such");
}

static bool is_paused(enum object_kind_id kind, const char *name)
{
	struct err e;
	OWN_JSON o = cli_get(&c, kind, name, &e);

	assert_non_null(o);
	return json_true_at(o, "spec", "paused");
}

static void all_are_paused_at_once_and_resumed(void **state)
{
	struct bench *d = *state;

	/* bench has no cache of BurstPolicies, so bench_put() cannot create one. */
	bench_must(
		d, &d->host, "POST", "/apis/drover.dev/v1alpha1/burstpolicies",
		"{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'BurstPolicy', 'metadata': {'name': "
		"'research'}, 'spec': {'match': {'tenants': ['team-a']}, 'tiers': [{'market': "
		"'OnDemand'}], 'offers': [{'name': 'o', 'provider': 'aws'}], 'cost': {'currency': "
		"'USD'}}}");
	assert_int_equal(cli_do_pause(&c, "tenant/team-a"), 0);
	rewind(c.out);
	assert_int_equal(cli_do_pause_all(&c, true), 0);
	assert_said("burstpolicy research is paused: drover launches nothing");
	assert_said("nodepool h100 is paused");
	assert_said("provider hall-a is paused");
	/* Nothing is launched for a pool before machines stand still. */
	assert_true(strstr(said, "burstpolicy research") < strstr(said, "nodepool h100"));
	assert_true(strstr(said, "nodepool h100") < strstr(said, "provider hall-a"));
	assert_null(strstr(said, "virtualcluster team-a is paused"));
	assert_true(is_paused(OBJECT_BURST_POLICY, "research"));
	assert_true(is_paused(OBJECT_NODE_POOL, "h100"));
	rewind(c.out);
	assert_int_equal(cli_do_pause_all(&c, true), 0);
	assert_said("all pools, providers, tenants and BurstPolicies are paused already\n");
	assert_int_equal(cli_do_resume(&c, "burstpolicy/research"), 0);
	assert_said("burstpolicy research is no longer paused\n");
	rewind(c.out);
	assert_int_equal(cli_do_pause_all(&c, false), 0);
	assert_said("provider hall-a is no longer paused");
	assert_true(strstr(said, "provider hall-a") < strstr(said, "nodepool h100"));
	assert_false(is_paused(OBJECT_NODE_POOL, "h100"));
	assert_false(is_paused(OBJECT_PROVIDER, "hall-a"));
	assert_false(is_paused(OBJECT_VIRTUAL_CLUSTER, "team-a"));
	rewind(c.out);
	assert_int_equal(cli_do_pause_all(&c, false), 0);
	assert_said("no pool, provider, tenant or BurstPolicy is paused\n");
	assert_int_equal(cli_do_resume(&c, "burstpolicy/research"), 0);
	assert_said("burstpolicy research is not paused\n");
}

/* The API server reports the name of the caller. The command prints the amounts that it cleared. */
static void reset_asks_in_the_callers_name(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = NULL;

	verb_errors_begin();
	assert_int_equal(cli_do_burst_reset(&c, "research", "new year"), 1);
	verb_errors_end("there is no BurstLedger research: no launch of this policy has ended yet, "
			"so there is no cost to clear. If the name is wrong: `drover get "
			"burstpolicies` lists the policies");
	bench_put(d, "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'BurstLedger', "
		     "'metadata': {'name': 'research'}, 'spec': {}}");
	bench_status(
		d, OBJECT_BURST_LEDGER, "research",
		"{'rows': [{'time': '2026-12-01T10:00:00Z', 'tenant': 'team-a', 'provider': 'sky', "
		"'currency': 'USD', 'amount': '61.50'}]}");
	assert_int_equal(cli_do_burst_reset(&c, "research", "new year"), 0);
	assert_said("(61.50 USD) no longer counts against its budgets");
	o = bench_get(d, OBJECT_BURST_LEDGER, "research");
	assert_string_equal(json_str_at(o, "spec", "reset", "reason"), "new year");
	assert_true(strlen(str_or(json_str_at(o, "spec", "reset", "by"), "")) > 0);
	assert_true(strlen(str_or(json_str_at(o, "spec", "reset", "id"), "")) > 0);
}

static void waiting_claim(struct bench *d, const char *name, const char *status)
{
	bench_put(d,
		  arena_printf(
			  d->a,
			  "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'NodeClaim', "
			  "'metadata': {'name': '%s'}, 'spec': {'virtualClusterRef': {'name': "
			  "'team-a'}, 'nodePoolRef': {'name': 'h100'}, 'image': "
			  "{'kubernetesVersion': '1.36', 'url': 'https://img.example/n', 'format': "
			  "'raw', 'digest': 'sha256:"
			  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}}",
			  name));
	if (status)
		bench_status(d, OBJECT_NODE_CLAIM, name,
			     arena_printf(d->a,
					  "{'conditions': [{'type': 'Approved', 'status': '%s', "
					  "'reason': 'ApprovalPending'}]}",
					  status));
}

static void a_decision_has_the_callers_name_and_is_made_once(void **state)
{
	struct bench *d = *state;
	struct cli_decision yes = {.claim = "c-7", .reason = "project 42"};
	struct cli_decision no = {
		.claim = "c-8", .deny = true, .reason = "no budget", .hold_ms = 8 * 3600000};
	OWN_JSON o = NULL;
	OWN_JSON denied = NULL;

	waiting_claim(d, "c-7", "Unknown");
	waiting_claim(d, "c-8", "Unknown");
	assert_int_equal(cli_do_decide(&c, &yes), 0);
	assert_said("claim c-7: approved by ");
	o = bench_get(d, OBJECT_NODE_CLAIM, "c-7");
	assert_string_equal(json_str_at(o, "spec", "approval", "decision"), "Approved");
	assert_string_equal(json_str_at(o, "spec", "approval", "reason"), "project 42");
	assert_true(strlen(str_or(json_str_at(o, "spec", "approval", "by"), "")) > 0);
	assert_null(json_str_at(o, "spec", "approval", "holdUntil"));
	verb_errors_begin();
	assert_int_equal(cli_do_decide(&c, &yes), 1);
	verb_errors_end("A decision cannot be changed");
	assert_int_equal(cli_do_decide(&c, &no), 0);
	assert_said("claim c-8: denied by ");
	denied = bench_get(d, OBJECT_NODE_CLAIM, "c-8");
	assert_string_equal(json_str_at(denied, "spec", "approval", "decision"), "Denied");
	assert_non_null(json_str_at(denied, "spec", "approval", "holdUntil"));
}

static void only_a_claim_that_waits_can_be_decided(void **state)
{
	struct bench *d = *state;

	waiting_claim(d, "c-7", NULL);
	waiting_claim(d, "c-8", "True");
	waiting_claim(d, "c-9", NULL);
	bench_status(d, OBJECT_NODE_CLAIM, "c-9", "{'machineRef': {'name': 'm-1', 'uid': 'u'}}");
	verb_errors_begin();
	assert_int_equal(cli_do_decide(&c, &(struct cli_decision){.claim = "c-7"}), 1);
	verb_errors_end("does not wait for an approval");
	verb_errors_begin();
	assert_int_equal(cli_do_decide(&c, &(struct cli_decision){.claim = "c-8"}), 1);
	verb_errors_end("does not wait for an approval");
	verb_errors_begin();
	assert_int_equal(cli_do_decide(&c, &(struct cli_decision){.claim = "c-9"}), 1);
	verb_errors_end("has machine m-1 already");
	/* Another claim of the same gang was decided: that decision counts. */
	waiting_claim(d, "c-6", "False");
	bench_status(d, OBJECT_NODE_CLAIM, "c-6",
		     "{'approval': {'decision': 'Denied', 'by': 'bob', 'at': "
		     "'2026-12-01T10:00:00Z', 'claim': 'c-5'}}");
	verb_errors_begin();
	assert_int_equal(cli_do_decide(&c, &(struct cli_decision){.claim = "c-6"}), 1);
	verb_errors_end("bob decided already at 2026-12-01T10:00:00Z on claim c-5 of the same "
			"gang: Denied");
	verb_errors_begin();
	assert_int_equal(cli_do_decide(&c, &(struct cli_decision){.claim = "c-none"}), 1);
	verb_errors_end("c-none");
}

static void a_claim_to_decide_is_named_with_its_type(void **state)
{
	(void)state;
	assert_int_equal(verb_run("deny", cli_deny, NULL,
				  (const char *[]){"h100-x7k2p", "--reason", "r", NULL}),
			 2);
	verb_assert_said("want claim/NAME");
	assert_int_not_equal(
		verb_run("deny", cli_deny, NULL, (const char *[]){"claim/h100-x7k2p", NULL}), 0);
	verb_assert_said("--reason TEXT is required: why does the tenant get no machine?");
	assert_int_not_equal(
		verb_run("deny", cli_deny, NULL,
			 (const char *[]){"claim/a", "-r", "r", "--hold", "200h", NULL}),
		0);
	verb_assert_said("want a duration up to 168h");
	assert_int_equal(verb_run("approve", cli_approve, NULL,
				  (const char *[]){"claim/h100-x7k2p", "--wipe", NULL}),
			 2);
	verb_assert_said("without options for machines");
}

/* Work is approved in the ledger of its policy, which is created if there is none, and only if the
 * policy waits for the approval. */
static void approve_burst_names_work_that_waits(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = NULL;
	OWN_JSON again = NULL;

	bench_must(d, &d->host, "POST", "/apis/" OBJECT_API_VERSION "/burstpolicies",
		   "{'apiVersion': 'drover.dev/v1alpha1', 'kind': 'BurstPolicy', "
		   "'metadata': {'name': 'research'}, 'spec': {'match': {'tenants': ['team-a']}, "
		   "'trigger': {'guards': {'approval': "
		   "'Manual'}, 'maxQueueWait': {'default': '5m'}}, 'tiers': [{'market': "
		   "'OnDemand'}], 'offers': [{'name': 'sky', 'provider': 'sky', 'regions': "
		   "['r1'], 'instanceTypes': ['gpu-8']}], 'cost': {'currency': 'USD'}, "
		   "'runtime': {'maxRuntime': '1h'}, 'budget': [{'scope': 'Policy', 'amount': "
		   "'30', 'per': 'Day'}]}}");
	bench_must(d, &d->host, "PATCH",
		   "/apis/" OBJECT_API_VERSION "/burstpolicies/research/status",
		   "{'status': {'decisions': [{'time': '2026-12-01T10:00:00Z', 'tenant': 'team-a', "
		   "'work': 'default/train', 'reason': 'ApprovalNeeded', 'message': 'm'}, {'time': "
		   "'2026-12-01T10:00:00Z', 'tenant': 'team-b', 'work': 'default/train', "
		   "'reason': 'ApprovalNeeded', 'message': 'm'}, {'time': "
		   "'2026-12-01T10:00:00Z', 'tenant': 'team-a', 'work': 'default/done', "
		   "'reason': 'Chosen', 'message': 'm'}]}}");
	verb_errors_begin();
	assert_int_equal(cli_do_approve_burst(&c, "research/default/train", NULL), 1);
	verb_errors_end("of several tenants");
	verb_errors_begin();
	assert_int_equal(cli_do_approve_burst(&c, "research/default/other", NULL), 1);
	verb_errors_end("has decided on no work default/other");
	verb_errors_begin();
	assert_int_equal(cli_do_approve_burst(&c, "research/default/done", NULL), 1);
	verb_errors_end("does not wait for an approval: Chosen");
	verb_errors_begin();
	assert_int_equal(cli_do_approve_burst(&c, "research", NULL), 1);
	verb_errors_end("want burst/POLICY/WORK");
	assert_int_equal(cli_do_approve_burst(&c, "research/team-a/default/train", "deadline"), 0);
	assert_said("policy research: work default/train of tenant team-a approved by ");
	o = bench_get(d, OBJECT_BURST_LEDGER, "research");
	assert_int_equal(json_array_size(json_at(o, "spec", "approvals")), 1);
	/* A second approval of the same work replaces the first. */
	bench_run(d, 1000);
	assert_int_equal(cli_do_approve_burst(&c, "research/team-a/default/train", NULL), 0);
	assert_int_equal(cli_do_approve_burst(&c, "research/team-b/default/train", NULL), 0);
	again = bench_get(d, OBJECT_BURST_LEDGER, "research");
	assert_int_equal(json_array_size(json_at(again, "spec", "approvals")), 2);
	assert_string_equal(
		json_str_at(json_array_get(json_at(again, "spec", "approvals"), 1), "tenant"),
		"team-b");
}

static void approve_takes_over_the_drives_that_were_seen(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = NULL;
	struct cli_approve a = {.machine = "m-1", .drives = true};

	assert_int_equal(cli_do_approve(&c, &a), 1); /* m-1 is not inspected yet. */
	bench_must(
		d, &d->host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/m-1",
		"{'spec': {'drives': [{'wwn': 'eui.1', 'bytes': 1000}, {'wwn': 'eui.2', 'bytes': "
		"1000, 'serialNumber': 'S2', 'slot': 'slot 2'}]}}");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'inventory': {'drives': [{'wwn': 'eui.1', 'bytes': 1000}, {'wwn': 'eui.9', "
		     "'bytes': 2000, 'model': 'X', 'slot': 'slot 2'}], 'controllers': [{'id': "
		     "'8086:201d', "
		     "'driven': 0, 'dark': 1}]}}");
	quarantined(d, "InventoryMismatch", "operator");
	verb_errors_begin();
	assert_int_equal(cli_do_approve(&c, &a),
			 /* Approving would remove eui.2 from the list, and there is no terminal to
			  * confirm that. */
			 1);
	verb_errors_end("no longer belong to machine m-1");
	assert_said("- eui.2 1000 bytes, serial S2, slot 2");
	assert_null(json_at(o = bench_get(d, OBJECT_MACHINE, "m-1"), "spec", "approval"));
	json_decref(o);
	assert_string_equal(waivers_of(d), "");
	a.yes = true;
	a.reason = "shredded";
	assert_int_equal(cli_do_approve(&c, &a), 0);
	assert_string_equal(waivers_of(d), "Drive eui.2 S2 41 shredded; ");
	assert_said("! storage controllers without a driver in the agent's image: 1 of type "
		    "8086:201d (PCI ID)");
	assert_said("- eui.2 1000 bytes");
	assert_said("+ eui.9 2000 bytes, slot 2, X");
	o = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_string_equal(json_str_at(json_array_get(json_at(o, "spec", "drives"), 1), "wwn"),
			    "eui.9");
	assert_int_equal(json_int_at(json_array_get(json_at(o, "spec", "controllers"), 0), "dark"),
			 1);
	assert_string_equal(json_str_at(o, "spec", "approval", "action"), "Wipe");
}

/* Drives that only the BMC lists are not wiped, so the operator must confirm them. */
static void approve_accounts_for_drives_that_the_bmc_alone_knows(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = NULL;
	struct cli_approve a = {.machine = "m-1", .drives = true};

	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'inventory': {'drives': [{'wwn': 'eui.1', 'bytes': 1000}], 'unseenDrives': "
		     "[{'id': 'WD-DEAD1', 'model': 'HDD', 'slot': 'bay 7', 'volume': 'DATA', "
		     "'bytes': 4000}]}}");
	quarantined(d, "DriveMissing", "operator");
	verb_errors_begin();
	assert_int_equal(cli_do_approve(&c, &a), 1);
	verb_errors_end("the drives marked - or !");
	assert_said("! WD-DEAD1 4000 bytes, HDD, bay 7, part of virtual disk DATA: the BMC lists "
		    "this drive");
	assert_null(json_at(o = bench_get(d, OBJECT_MACHINE, "m-1"), "spec", "unseenDrives"));
	json_decref(o);
	a.yes = true;
	assert_int_equal(cli_do_approve(&c, &a), 0);
	o = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_string_equal(
		json_string_value(json_array_get(json_at(o, "spec", "unseenDrives"), 0)),
		"WD-DEAD1");
	json_decref(o);
	assert_string_equal(waivers_of(d), "Drive eui.2 - 41 -; UnseenDrive WD-DEAD1 - 41 -; ");
	/* An entry of a tenancy before the last one is dropped. */
	bench_status(d, OBJECT_MACHINE, "m-1", "{'tenancy': 43}");
	a.yes = false; /* The drives are already accepted, so no confirmation is needed. */
	assert_int_equal(cli_do_approve(&c, &a), 0);
	/* A drive that the agent sees again is removed from the list. */
	bench_status(d, OBJECT_MACHINE, "m-1", "{'inventory': {'unseenDrives': []}}");
	assert_int_equal(cli_do_approve(&c, &a), 0);
	o = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_int_equal(json_array_size(json_at(o, "spec", "unseenDrives")), 0);
}

static void put_claim(struct bench *d, const char *name, const char *machine)
{
	bench_put(d,
		  arena_printf(
			  d->a,
			  "{'kind': 'NodeClaim', 'metadata': {'name': '%s', 'finalizers': "
			  "['drover.dev/termination']}, 'spec': {'nodePoolRef': {'name': 'h100'}, "
			  "'virtualClusterRef': {'name': 'team-a'}, 'machineRef': {'name': '%s'}, "
			  "'requirements': []}}",
			  name, machine));
}

static void approve_takes_from_the_bmc_what_tells_the_machine_apart(void **state)
{
	struct bench *d = *state;
	struct cli_approve a = {.machine = "m-1"};
	OWN_JSON o = NULL;

	bench_must(d, &d->host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/m-1",
		   "{'spec': {'identity': null}}");
	verb_errors_begin();
	assert_int_equal(cli_do_approve(&c, &a), 1); /* drover has not read the BMC yet. */
	verb_errors_end("check that the controller is running");
	/* A lastError in the status shows that a controller runs, so the error names that reason
	 * instead. */
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'state': 'known', 'operation': {'lastError': {'reason': 'BmcAuthFailed', "
		     "'message': 'GET /redfish/v1/Systems/1: 403 InsufficientPrivilege'}}}");
	verb_errors_begin();
	assert_int_equal(cli_do_approve(&c, &a), 1);
	verb_errors_end("BmcAuthFailed: GET /redfish/v1/Systems/1: 403 InsufficientPrivilege");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'identity': {'systemUUID': '', 'serialNumber': ''}}");
	assert_int_equal(cli_do_approve(&c, &a), 1);
	o = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_null(json_at(o, "spec", "identity"));
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'identity': {'systemUUID': '', 'serialNumber': 'S9'}}");
	assert_int_equal(cli_do_approve(&c, &a), 0);
	assert_said("; drover now wipes the machine; if the machine is on or may serve a tenant, "
		    "drover first waits for `drover approve m-1 --wipe`\n");
	json_decref(o);
	o = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_null(json_at(o, "spec", "identity", "systemUUID"));
	assert_string_equal(json_str_at(o, "spec", "identity", "serialNumber"), "S9");
}

struct twice {
	int sent, most;
};

/* Has the server carry out the first `most` patches twice, so that the second of each finds an
 * object that has changed. */
static enum http_mem_fault_kind patched_twice(const char *origin, const char *method,
					      const char *target, void *arg)
{
	struct twice *t = arg;

	(void)origin, (void)target;
	if (!str_eq(method, "PATCH") || t->sent++ >= t->most)
		return HTTP_MEM_WELL;
	return HTTP_MEM_TWICE;
}

static void a_verb_reads_again_what_changed_while_it_ran(void **state)
{
	const struct cli_approve wipe = {.machine = "m-1", .wipe = true};
	struct bench *d = *state;
	struct twice t = {.most = 2};

	http_mem_fault(d->net, patched_twice, &t);
	assert_int_equal(CLI_REPEAT(&c, cli_do_approve(&c, &wipe)), 0);
	assert_int_equal(t.sent, 3);
	t = (struct twice){.most = 100};
	verb_errors_begin();
	assert_int_equal(CLI_REPEAT(&c, cli_do_approve(&c, &wipe)), 1);
	verb_errors_end("Conflict");
	assert_int_equal(t.sent, CLI_TRIES);
	http_mem_fault(d->net, NULL, NULL);
}

static void approve_names_the_bmc_that_the_password_may_go_to(void **state)
{
	struct bench *d = *state;
	struct cli_approve a = {.machine = "m-1", .bmc = true};
	OWN_JSON o = NULL;
	char *tls;

	bench_must(d, &d->host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/m-1",
		   "{'spec': {'managementPolicy': 'Observe', 'bmc': {'address': "
		   "'https://10.0.9.1/redfish/v1', 'tls': "
		   "{'trustOnFirstUse': null, 'caSecretRef': {'name': 'their-ca', 'key': "
		   "'their.crt'}}}}}");
	bench_status(d, OBJECT_MACHINE, "m-1",
		     "{'trustedBMC': {'address': 'https://10.0.8.1/redfish/v1', 'tls': "
		     "{'trustOnFirstUse': true}}}");
	assert_int_equal(cli_do_approve(&c, &a), 0);
	assert_said("- https://10.0.8.1/redfish/v1 trustOnFirstUse");
	assert_said("+ https://10.0.9.1/redfish/v1 caSecretRef their-ca");
	/* The BMC has a different address: the new approval keeps nothing of the earlier one. */
	bench_must(d, &d->host, "PATCH", "/apis/" OBJECT_API_VERSION "/machines/m-1",
		   "{'spec': {'bmc': {'tls': {'caSecretRef': {'name': 'ca', 'key': null}}}}}");
	assert_int_equal(cli_do_approve(&c, &a), 0);
	o = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_string_equal(json_str_at(o, "spec", "approval", "action"), "TrustBMC");
	assert_string_equal(json_str_at(o, "spec", "approval", "bmc", "address"),
			    "https://10.0.9.1/redfish/v1");
	tls = json_text_sorted(json_at(o, "spec", "approval", "bmc", "tls"));
	assert_string_equal(tls, "{\"caSecretRef\":{\"name\":\"ca\"}}");
	free(tls);
	/* Trusting a BMC approves nothing else. */
	assert_string_equal(json_str_at(o, "spec", "managementPolicy"), "Observe");
}

static void approve_names_the_claim_that_is_served(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = NULL;
	struct cli_approve a = {.machine = "m-1", .adopt = "h100-1"};

	put_claim(d, "h100-1", "m-1");
	assert_int_equal(cli_do_approve(&c, &a), 0);
	o = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_string_equal(json_str_at(o, "spec", "approval", "action"), "Adopt");
	assert_string_equal(json_str_at(o, "spec", "approval", "claim"), "h100-1");
	assert_string_not_equal(json_str_at(o, "spec", "approval", "id"), "");
	/* m-1 is free: drover manages it, and nothing is waived. */
	assert_string_equal(waivers_of(d), "");
	bench_status(d, OBJECT_MACHINE, "m-1", "{'state': 'known'}");
	a.reason = "was ours";
	assert_int_equal(cli_do_approve(&c, &a), 0);
	assert_string_equal(waivers_of(d),
			    "Adoption eui.1 - 42 was ours; Adoption eui.2 - 42 was ours; ");
}

static void approve_writes_nothing_for_a_claim_that_cannot_be_served(void **state)
{
	struct bench *d = *state;
	OWN_JSON before = bench_get(d, OBJECT_MACHINE, "m-1");
	OWN_JSON after = NULL;
	struct cli_approve a = {.machine = "m-1", .adopt = "no-such"};

	verb_errors_begin();
	assert_int_equal(cli_do_approve(&c, &a), 1);
	verb_errors_end("there is no NodeClaim no-such; nothing was changed. Create it first");
	put_claim(d, "h100-1", "m-2");
	a.adopt = "h100-1";
	verb_errors_begin();
	assert_int_equal(cli_do_approve(&c, &a), 1);
	verb_errors_end("spec.machineRef.name is m-2, not m-1");
	put_claim(d, "h100-2", "m-1");
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/nodeclaims/h100-2", NULL);
	a.adopt = "h100-2";
	verb_errors_begin();
	assert_int_equal(cli_do_approve(&c, &a), 1);
	verb_errors_end("NodeClaim h100-2 is being deleted");
	after = bench_get(d, OBJECT_MACHINE, "m-1");
	assert_true(json_equal(before, after));
}

static void a_drain_is_made_of_what_was_said(void **state)
{
	struct bench *d = *state;
	const char *names[] = {"m-1"};
	struct cli_drain want = {.names = names,
				 .nnames = 1,
				 .reason = "PSU",
				 .then = "Hold",
				 .on_deadline = "Escalate",
				 .deadline = loop_wall(d->l) + 7200000,
				 .concurrent = 3,
				 .split = true};
	json_t *o;

	serves(d);
	assert_int_equal(cli_do_drain(&c, &want), 0);
	o = only_drain(d);
	assert_string_equal(json_str_at(o, "spec", "then"), "Hold");
	assert_string_equal(json_str_at(o, "spec", "onDeadline"), "Escalate");
	assert_string_equal(json_str_at(o, "spec", "gangs"), "Split");
	assert_int_equal(json_int_at(o, "spec", "concurrent"), 3);
	assert_non_null(json_str_at(o, "spec", "deadline"));
	assert_int_equal(cli_do_cancel(&c, json_str_at(o, "metadata", "name")), 0);
	json_decref(o);
	o = only_drain(d);
	assert_true(json_true_at(o, "spec", "cancelled"));
	json_decref(o);
}

static void a_drain_by_label_names_no_machine(void **state)
{
	struct bench *d = *state;
	struct cli_drain want = {
		.selector = "rack=r1,gen in (a,b),!old", .reason = "PSU", .concurrent = 1};
	OWN_JSON o = NULL;

	assert_int_equal(cli_do_drain(&c, &want), 0);
	o = only_drain(d);
	assert_int_equal(json_array_size(json_at(o, "spec", "machineSelector", "matchExpressions")),
			 3);
	want.selector = "rack>3";
	assert_int_equal(cli_do_drain(&c, &want), 1);
	want.selector = "rack in (";
	assert_int_equal(cli_do_drain(&c, &want), 1);
}

static void a_drain_that_is_waited_for_says_how_it_ended(void **state)
{
	struct bench *d = *state;
	const char *names[] = {"m-1"};
	struct cli_drain want = {
		.names = names, .nnames = 1, .reason = "PSU", .concurrent = 1, .wait = true};

	(void)d;
	/* m-1 is not in service, so its drain is done at once. */
	assert_int_equal(cli_do_drain(&c, &want), 0);
	assert_said("m-1 Done\n");
	assert_said("Succeeded");
	assert_int_equal(cli_do_follow(&c, "no-such"), 1);
}

static void a_drain_that_means_nobody_warns_and_is_not_waited_for(void **state)
{
	struct bench *d = *state;
	struct cli_drain want = {
		.selector = "rack in (no-such)", .reason = "PSU", .concurrent = 1, .wait = true};
	int64_t from = loop_now(d->l);

	verb_errors_begin();
	assert_int_equal(cli_do_drain(&c, &want), 1);
	verb_errors_end("no machine matches rack in (no-such): the Drain ends at once as Partial");
	assert_said("Partial");
	assert_true(loop_now(d->l) - from < 10000);
	want.wait = false;
	want.not_before = loop_wall(d->l) + 3600000;
	verb_errors_begin();
	assert_int_equal(cli_do_drain(&c, &want), 0);
	verb_errors_end("selects its machines when it begins");
	bench_patch(d, OBJECT_MACHINE, "m-1", "{'metadata': {'labels': {'rack': 'r1'}}}");
	want.selector = "rack=r1";
	verb_errors_begin();
	assert_int_equal(cli_do_drain(&c, &want), 0);
	verb_errors_end(NULL);
}

/* Statuses that the Drain gets one after the other while its progress is shown */
static const char *const progress[] = {
	"{'phase': 'Draining', 'startTime': '2025-11-24T16:00:00Z', 'targets': ["
	"{'machine': 'm-1', 'phase': 'Evicting', 'podsLeft': 3, 'blockedBy': 'pdb default/web'},"
	"{'machine': 'm-2', 'phase': 'Pending'}]}",
	"{'targets': [{'machine': 'm-1', 'phase': 'Evicting', 'podsLeft': 1},"
	"{'machine': 'm-2', 'phase': 'Pending'}]}",
	"{'targets': [{'machine': 'm-1', 'phase': 'Leaving'},"
	"{'machine': 'm-2', 'phase': 'Pending'}]}",
	"{'targets': [{'machine': 'm-1', 'phase': 'Done'},"
	"{'machine': 'm-2', 'phase': 'Escalating', 'podsLeft': 2}]}",
	"{'phase': 'Succeeded', 'completionTime': '2025-11-24T16:10:00Z', 'targets': ["
	"{'machine': 'm-1', 'phase': 'Done'}, {'machine': 'm-2', 'phase': 'Done'}]}",
};

static struct {
	struct loop_timer timer;
	char drain[254];
	size_t at;
} going;

static void on_made(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	(void)d;
	if (kind == OBJECT_DRAIN && object)
		str_copy(going.drain, sizeof(going.drain), name);
}

static void on_progress(json_t *o, const struct err *e, void *arg)
{
	(void)o;
	(void)arg;
	assert_null(e);
	loop_timer_start(&going.timer, 5000);
}

static void go_on(void *arg)
{
	struct bench *d = arg;
	char *text;
	json_t *patch;

	if (going.at == sizeof(progress) / sizeof(progress[0]))
		return;
	if (!going.drain[0]) { /* The Drain is not created yet: try again later. */
		loop_timer_start(&going.timer, 1000);
		return;
	}
	text = arena_printf(d->a, "{'status': %s}", progress[going.at++]);
	for (char *q = text; *q; q++)
		if (*q == '\'')
			*q = '"';
	patch = json_parse(text, strlen(text), &d->e);
	assert_non_null(patch);
	kube_patch(d->c.host, &object_resources[OBJECT_DRAIN], NULL, going.drain, "status",
		   KUBE_PATCH_MERGE, patch, on_progress, NULL);
	json_decref(patch);
}

static void begin_progress(struct bench *d)
{
	memset(&going, 0, sizeof(going));
	d->on_change = on_made;
	loop_timer_init(&going.timer, d->g, go_on, d);
	loop_timer_start(&going.timer, 1000);
}

static void a_drain_that_is_waited_for_shows_how_far_it_is(void **state)
{
	struct bench *d = *state;
	const char *names[] = {"m-1"}, *end;
	struct cli_drain want = {
		.names = names, .nnames = 1, .reason = "PSU", .concurrent = 1, .wait = true};

	begin_progress(d);
	assert_int_equal(cli_do_drain(&c, &want), 0);
	loop_timer_stop(&going.timer);
	assert_said("m-1 Evicting pods=3 blocked by pdb default/web\n"
		    "m-2 Pending\n"
		    "m-1 Evicting pods=1\n"
		    "m-1 Leaving\n"
		    "m-1 Done\n"
		    "m-2 Escalating pods=2\n"
		    "m-2 Done\n");
	end = arena_printf(d->a, "drain %s Succeeded\n", going.drain);
	assert_true(str_ends(said, end));
	assert_null(strchr(said, '\033'));
}

static void on_a_terminal_it_is_drawn_anew_with_each_change(void **state)
{
	struct bench *d = *state;
	const char *names[] = {"m-1"}, *at;
	struct cli_drain want = {
		.names = names, .nnames = 1, .reason = "PSU", .concurrent = 1, .wait = true};
	unsigned n = 0;

	c.tty = true;
	begin_progress(d);
	assert_int_equal(cli_do_drain(&c, &want), 0);
	loop_timer_stop(&going.timer);
	fflush(c.out);
	/* Each redraw moves the cursor up by four lines: header, two rows, summary. */
	for (at = said; (at = strstr(at, "\033[4A\033[J")); at++)
		n++;
	assert_int_equal(n, 4);
	assert_said("    3  pdb default/web\n");
	assert_said("Draining: 0 of 2 done\n");
	assert_said("Draining: 1 of 2 done\n");
	assert_said("Succeeded: 2 of 2 done\n");
}

static void a_time_is_from_now_on_or_a_date(void **state)
{
	struct bench *d = *state;
	const char *names[] = {"m-1"};
	struct cli_drain want = {.names = names, .nnames = 1, .reason = "PSU", .concurrent = 1};
	int64_t now = loop_wall(d->l), due;
	json_t *o;

	assert_int_equal(cli_time(now, NULL), 0);
	assert_int_equal(cli_time(now, "2h"), now + 7200000);
	assert_int_equal(cli_time(now, "90m"), now + 5400000);
	assert_true(cli_time(now, "2026-12-01T04:00:00Z") == 1796097600000);
	assert_int_equal(cli_time(now, "0s"), -1);
	assert_int_equal(cli_time(now, "tomorrow"), -1);
	assert_int_equal(cli_time(now, ""), -1);
	want.not_before = cli_time(now, "2h");
	want.deadline = cli_time(now, "2020-01-01T00:00:00Z");
	/* A Drain with a deadline in the past would end at once and do nothing. */
	assert_int_equal(cli_do_drain(&c, &want), 2);
	want.deadline = cli_time(now, "2026-12-01T04:00:00Z");
	assert_int_equal(cli_do_drain(&c, &want), 0);
	o = only_drain(d);
	assert_string_equal(json_str_at(o, "spec", "deadline"), "2026-12-01T04:00:00Z");
	assert_true(str_to_time(json_str_at(o, "spec", "notBefore"), &due));
	assert_int_equal(due / 1000, now / 1000 + 7200);
	json_decref(o);
}

static void a_terminal_is_drawn_over(void **state)
{
	struct bench *d = *state;

	c.tty = true;
	bench_put(d, "{'kind': 'Drain', 'metadata': {'name': 'psu'}, 'spec': {'reason': 'x', "
		     "'machineNames': ['m-1', 'm-9'], 'notBefore': '2020-01-01T00:00:00Z'}}");
	bench_run(d, 2000);
	assert_int_equal(cli_do_follow(&c, "psu"), 1); /* Machine m-9 does not exist. */
	assert_said("BLOCKED BY");
	assert_said("the Machine does not exist");
	assert_said("Partial: 1 of 2 done");
	assert_said("1 of 2 machines done; 1 failed; Machine m-9 does not exist\n");
}

static void programs_read_json(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = NULL;
	struct err e;

	(void)d;
	c.json = true;
	assert_int_equal(cli_do_retry(&c, "m-1"), 0);
	fflush(c.out);
	o = json_parse(said, said_len, &e);
	assert_non_null(o);
	assert_string_equal(json_str_at(o, "object", "kind"), "Machine");
	assert_non_null(json_at(o, "wrote", "metadata", "annotations"));
	assert_true(str_starts(json_str_at(o, "kubectl"), "kubectl patch machine m-1"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(retry_writes_a_new_value_each_time),
		T(retry_says_when_it_cannot_help),
		T(retry_says_what_it_does),
		T(release_lets_go_of_what_a_person_holds_and_of_nothing_else),
		T(a_change_names_its_user_on_the_object),
		T(quarantine_marks_a_machine_and_release_takes_the_mark_away),
		T(who_serves_is_drained_before_quarantine_or_retirement),
		T(who_serves_nobody_is_retired_at_once),
		T(who_is_retired_unwiped_is_recorded),
		T(a_known_machine_is_waived_only_if_it_was_used),
		T(who_is_retired_after_its_wipe_needs_no_waiver),
		T(confirm_off_names_the_operation_and_wants_a_yes),
		T(confirm_off_is_refused_while_the_bmc_answers_on),
		T(resume_writes_the_time_on_a_pool_or_a_provider),
		T(pause_stops_and_resume_ends_that_alone),
		T(a_paused_machine_is_only_observed),
		T(all_are_paused_at_once_and_resumed),
		T(reset_asks_in_the_callers_name),
		T(a_decision_has_the_callers_name_and_is_made_once),
		T(only_a_claim_that_waits_can_be_decided),
		T(a_claim_to_decide_is_named_with_its_type),
		T(approve_burst_names_work_that_waits),
		T(approve_takes_over_the_drives_that_were_seen),
		T(approve_accounts_for_drives_that_the_bmc_alone_knows),
		T(approve_takes_from_the_bmc_what_tells_the_machine_apart),
		T(a_verb_reads_again_what_changed_while_it_ran),
		T(approve_names_the_bmc_that_the_password_may_go_to),
		T(approve_names_the_claim_that_is_served),
		T(approve_writes_nothing_for_a_claim_that_cannot_be_served),
		T(a_drain_is_made_of_what_was_said),
		T(a_drain_by_label_names_no_machine),
		T(a_drain_that_is_waited_for_says_how_it_ended),
		T(a_drain_that_means_nobody_warns_and_is_not_waited_for),
		T(a_drain_that_is_waited_for_shows_how_far_it_is),
		T(on_a_terminal_it_is_drawn_anew_with_each_change),
		T(a_time_is_from_now_on_or_a_date),
		T(a_terminal_is_drawn_over),
		T(programs_read_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
