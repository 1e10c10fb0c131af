/* Tests the explanations of `drover why`, for objects that the tests write and for a whole
 * simulated world. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "api/machine_states.h"
#include "api/reasons.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "controller/explain/explain.h"
#include "cli/explain_print.h"
#include "cli/explain_ask.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

#define NOW 1790000000000

static const char *at(int64_t ms)
{
	static char t[8][STR_TIME_SIZE];
	static unsigned i;

	return str_time(t[i++ % 8], NOW + ms);
}

static void *decoded(enum object_kind_id kind, json_t *o, struct arena *a)
{
	struct err e;
	void *out;

	assert_non_null(o);
	assert_ok(object_decode(&object_kinds[kind], o, a, &out, &e), &e);
	json_decref(o);
	return out;
}

static struct machine *machine(json_t *status, struct arena *a)
{
	return decoded(OBJECT_MACHINE,
		       json_pack("{s:{s:s, s:s}, s:{s:{s:s}}, s:o}", "metadata", "name", "gpu-1",
				 "uid", "u", "spec", "providerRef", "name", "rack", "status",
				 status),
		       a);
}

static char *printed(const json_t *answer)
{
	struct buf b;
	char *text;

	buf_init(&b, 1 << 20);
	explain_print(answer, NOW, &b);
	text = strndup(b.data, b.len);
	buf_done(&b);
	return text;
}

static bool helps(const json_t *answer, const char *part)
{
	json_t *x;
	size_t i;

	json_array_foreach (json_object_get(answer, "helps"), i, x)
		if (strstr(json_string_value(x), part))
			return true;
	return false;
}

static void a_machine_that_is_wiped_says_how_far_it_is(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m = machine(
		json_pack("{s:s, s:{s:s, s:s, s:{s:s, s:I, s:I, s:I, s:s}}}", "state", "wiping",
			  "operation", "step", "order wipe", "waitingFor", "Device", "progress",
			  "phase", "overwrite", "doneBytes", (json_int_t)12500000000, "totalBytes",
			  (json_int_t)50000000000, "bytesPerSecond", (json_int_t)2500000000,
			  "expectedEnd", at(15000)),
		a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);
	char *text = printed(answer);

	(void)state;
	assert_non_null(strstr(text, "overwrite, 12.5 of 50.0 GB, done in 15s"));
	assert_string_equal(json_str_at(answer, "progress", "expectedEnd"), at(15000));
	free(text);
	json_object_set_new(json_at(answer, "progress"), "expectedEnd", json_string(at(-3000)));
	text = printed(answer);
	assert_non_null(strstr(text, "of 50.0 GB, done any moment"));
	free(text);
}

static void a_message_of_two_conditions_is_printed_once(void **state)
{
	OWN_JSON answer = json_pack(
		"{s:s, s:s, s:[{s:s,s:s,s:s,s:s},{s:s,s:s,s:s,s:s},{s:s,s:s,s:s,s:s}]}", "kind",
		"NodeClaim", "name", "c", "conditions", "type", "Launched", "status", "False",
		"reason", "Waiting", "message", "waits", "type", "Drifted", "status", "True",
		"reason", "Drifted", "message", "other", "type", "Ready", "status", "False",
		"reason", "NotReady", "message", "waits");
	char *text = printed(answer);

	(void)state;
	assert_string_equal(text, "NodeClaim c\n  Launched      False: Waiting: waits\n");
	free(text);
}

static void a_machine_under_way_says_since_when_for_what_and_when_next(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m = machine(
		json_pack("{s:s, s:s, s:{s:s, s:s, s:i, s:s, s:s, s:s, s:{s:s, s:s, s:s}}, s:{s:s, "
			  "s:s}}",
			  "state", "stopping", "stateSince", at(-125000), "operation", "id", "op-1",
			  "step", "power-off", "attempt", 3, "waitingFor", "Device", "nextAttempt",
			  at(20000), "deadline", at(90000), "lastError", "reason", "BmcUnreachable",
			  "message", "connection refused", "time", at(-5000), "power", "state",
			  "On", "observedTime", at(-61000)),
		a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);
	char *text = printed(answer);

	(void)state;
	assert_string_equal(
		text, "Machine gpu-1\n"
		      "  state         stopping, for 2m5s\n"
		      "  meaning       drover is switching it off and waits for proof that it is "
		      "off\n"
		      "  step          power-off, attempt 3\n"
		      "  waits for     hardware or another system\n"
		      "  next try      in 20s\n"
		      "  deadline      in 1m30s, then isolating\n"
		      "  last error    BmcUnreachable: connection refused, 5s ago\n"
		      "  power         On, read 1m1s ago\n"
		      "  what helps    check the BMC at spec.bmc.address; drover tries again by "
		      "itself, or at once with drover retry gpu-1\n"
		      "  what helps    if you see that the machine is off: drover confirm-off "
		      "gpu-1\n");
	free(text);
}

/* A BMC that cannot be asked: drover confirm-off is offered only while the power matters, and not
 * again after it was given. */
static void a_confirmation_is_offered_only_where_it_counts(void **state)
{
	static const struct {
		const char *state, *reason, *power, *confirmed;
		bool offered;
	} cases[] = {
		{"stopping", "BmcUnreachable", "On", "", true},
		{"isolating", "BmcAuthFailed", "Unknown", "", true},
		{"leaving", "BmcProtocolError", "On", "op-0", true},
		{"stopping", "BmcUnreachable", "On", "op-1", false},
		{"stopping", "BmcUnreachable", "Off", "", false},
		{"stopping", "NetworkNotConfirmed", "On", "", false},
		{"booting", "BmcUnreachable", "On", "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWN(arena) a = arena_new();
		OWN_JSON answer = explain_machine(
			machine(json_pack("{s:s, s:{s:s, s:s, s:{s:s, s:s}}, s:{s:s, s:s}}",
					  "state", cases[i].state, "operation", "id", "op-1",
					  "waitingFor", "Device", "lastError", "reason",
					  cases[i].reason, "message", "m", "power", "state",
					  cases[i].power, "confirmedBy", cases[i].confirmed),
				a),
			NULL, NOW);
		OWN_JSON helps = json_incref(json_object_get(answer, "helps"));
		char *text = json_text(helps);

		assert_int_equal(strstr(text, "drover confirm-off gpu-1") != NULL,
				 cases[i].offered);
		free(text);
	}
}

/* drover confirm-off is not offered while the BMC reports On, because a confirmation has no effect
 * then. */
static void what_stays_on_is_not_confirmed_off(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	for (int on = 0; on < 2; on++) {
		struct machine *m = machine(
			json_pack("{s:s, s:{s:s, s:s, s:{s:s, s:s}}, s:{s:s}}", "state", "stopping",
				  "operation", "step", "power-off", "waitingFor", "Device",
				  "lastError", "reason", "PowerNotConfirmed", "message", "x",
				  "power", "state", on ? "On" : "Off"),
			a);
		OWN_JSON answer = explain_machine(m, NULL, NOW);

		assert_int_equal(helps(answer, "drover confirm-off gpu-1"), !on);
		assert_int_equal(helps(answer, "its BMC reports On: switch the machine off"), on);
		assert_string_equal(answer_command(answer, a), "drover retry gpu-1");
	}
}

/* A failure or drain of an earlier claim is not shown once the machine has recovered. */
static void a_machine_that_recovered_shows_no_failure_and_no_drain(void **state)
{
	static const struct {
		const char *state;
		bool failure, leave;
	} rows[] = {{"free", false, false},
		    {"serving", false, true},
		    {"quarantined", true, false},
		    {"retired", true, false},
		    {"stopping", true, true}};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine *m =
			machine(json_pack("{s:s, s:[{s:s, s:s, s:s}], s:{s:s, s:s}}", "state",
					  rows[i].state, "failures", "time", at(-60000), "reason",
					  "JoinTimeout", "message", "x", "leave", "reason", "Empty",
					  "then", "Release"),
				a);
		OWN_JSON answer = explain_machine(m, NULL, NOW);

		assert_int_equal(json_object_get(answer, "lastFailure") != NULL, rows[i].failure);
		assert_int_equal(json_object_get(answer, "leave") != NULL, rows[i].leave);
	}
}

static void an_attempt_that_is_due_is_made_now(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m = machine(json_pack("{s:s, s:{s:s, s:s, s:s}}", "state", "stopping",
					      "operation", "step", "power-off", "waitingFor",
					      "Device", "nextAttempt", at(-9000)),
				    a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);
	char *text = printed(answer);

	(void)state;
	assert_non_null(strstr(text, "  next try      now\n"));
	free(text);
}

static void a_wait_names_what_is_waited_for(void **state)
{
	static const struct {
		const char *kind, *reason, *waits;
	} cases[] = {
		{"Device", "BmcUnreachable", "hardware or another system"},
		{"Device", "CheckpointPending", "its work to be saved (checkpoint)"},
		{"Rate", "PowerOnPaced", "drover's own rate limit"},
		{"Device", "EvictionBlocked", "its pods to leave"},
		{"Budget", "EvictionBlocked", "a PodDisruptionBudget"},
		{"Device", "TenantUnreachable", "the tenant's API server"},
		{"Approval", "NotApproved", "approval"},
		{"Approval", "BmcAuthFailed", "a corrected Secret"},
		{"Approval", "SecretNotFound", "a corrected Secret"},
		{"Approval", "BmcPasswordChange", "a corrected Secret"},
		{"Device", "BmcAddressInvalid", "a corrected BMC address"},
		{"Approval", "PowerStateUnexpected", "an operator"},
	};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWN_JSON answer = explain_machine(
			machine(json_pack("{s:s, s:{s:s, s:{s:s, s:s}}}", "state", "stopping",
					  "operation", "waitingFor", cases[i].kind, "lastError",
					  "reason", cases[i].reason, "message", "m"),
				a),
			NULL, NOW);

		assert_string_equal(json_str_at(answer, "waitingFor"), cases[i].waits);
	}
}

static void a_machine_at_rest_says_nothing_of_what_is_long_done(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m = machine(json_pack("{s:s, s:s, s:{s:s, s:s, s:i}}", "state", "free",
					      "stateSince", at(-1000), "operation", "step",
					      "eject-media", "waitingFor", "Device", "fence", 3),
				    a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);
	char *text = printed(answer);

	(void)state;
	assert_string_equal(text, "Machine gpu-1\n  state         free, for 1s\n"
				  "  meaning       clean and ready for the next claim\n");
	free(text);
}

static struct machine *quarantined(const char *reason, const char *exit_, int attempts,
				   struct arena *a)
{
	return machine(json_pack("{s:s, s:s, s:{s:s, s:s, s:s, s:i}, s:{s:s, s:{s:s, s:s}}}",
				 "state", "quarantined", "stateSince", at(-60000), "quarantine",
				 "reason", reason, "message", "m", "exit", exit_, "attempts",
				 attempts, "operation", "waitingFor", "Approval", "lastError",
				 "reason", reason, "message", "m"),
		       a);
}

static void each_state_says_what_it_means(void **state)
{
	(void)state;
	for (int i = 0; i < MACHINE_STATES; i++) {
		OWN(arena) a = arena_new();
		OWN_JSON answer = explain_machine(
			machine(json_pack("{s:s, s:s}", "state", machine_state_info[i].name,
					  "stateSince", at(-1000)),
				a),
			NULL, NOW);
		char *text = printed(answer);

		assert_non_null(json_str_at(answer, "doing"));
		assert_non_null(strstr(text, json_str_at(answer, "doing")));
		free(text);
	}
}

static void a_cloud_instance_is_terminated_and_not_wiped(void **state)
{
	static const struct {
		const char *state, *doing, *then;
	} of[] = {
		{"claimed", "assigned to a claim; drover is launching its instance", "stopping"},
		{"serving", "in service for its tenant", NULL},
		{"stopping",
		 "drover is terminating its instance and waits until the cloud reports that it is "
		 "gone",
		 "quarantined"},
		{"leaving",
		 "released to the cloud, not wiped by drover; drover is deleting its volume "
		 "attachments, Node and bootstrap token",
		 "quarantined"},
		{"quarantined", "its instance is not proved terminated, so it may still be billed",
		 NULL},
		{"gone", "released to the cloud, not wiped by drover", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		OWN(arena) a = arena_new();
		OWN_JSON answer = explain_machine(
			decoded(OBJECT_MACHINE,
				json_pack("{s:{s:s, s:s}, s:{s:{s:s}, s:{s:{s:s, s:s}}}, s:{s:s, "
					  "s:{s:s, s:s, s:s}}}",
					  "metadata", "name", "b-1", "uid", "u", "spec",
					  "providerRef", "name", "sky", "elastic", "claim", "name",
					  "b-1", "uid", "c", "status", "state", of[i].state,
					  "operation", "id", "op", "step", "x", "deadline",
					  at(90000)),
				a),
			NULL, NOW);

		assert_string_equal(json_str_at(answer, "doing"), of[i].doing);
		assert_string_equal(str_or(json_str_at(answer, "then"), ""),
				    str_or(of[i].then, ""));
	}
}

/* Each reason is tested as the last error of a waiting operation, and as the reason of a
 * quarantine. */
static void each_reason_says_what_helps(void **state)
{
	(void)state;
	for (int i = REASON_NONE + 1; i < REASONS; i++) {
		OWN(arena) a = arena_new();
		const char *name = reason_info[i].name, *remedy = reason_info[i].helps;
		const char *part = arena_printf(a, "%.*s", (int)strcspn(remedy, "%"), remedy);
		OWN_JSON waits = explain_machine(
			machine(json_pack("{s:s, s:{s:s, s:{s:s, s:s}}}", "state", "stopping",
					  "operation", "waitingFor", "Device", "lastError",
					  "reason", name, "message", "what it is"),
				a),
			NULL, NOW);
		OWN_JSON kept = explain_machine(quarantined(name, "operator", 1, a), NULL, NOW);
		char *text = printed(waits);

		assert_string_equal(json_str_at(waits, "lastError", "reason"), name);
		assert_non_null(json_str_at(waits, "waitingFor"));
		assert_true(*remedy && helps(waits, part));
		assert_non_null(strstr(text, "what it is"));
		assert_string_equal(json_str_at(kept, "quarantine", "reason"), name);
		assert_true(helps(kept, part));
		free(text);
	}
}

static void a_machine_that_leaves_says_until_when_its_tenant_is_waited_for(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON answer = explain_machine(
		machine(json_pack("{s:s, s:s}", "state", "leaving", "stateSince", at(-30000)), a),
		NULL, NOW);
	OWN_JSON held_up = explain_machine(
		machine(json_pack("{s:s, s:s, s:{s:s, s:{s:s, s:s}}}", "state", "leaving",
				  "stateSince", at(-30000), "operation", "waitingFor", "Device",
				  "lastError", "reason", "TenantUnreachable", "message", "m"),
			a),
		NULL, NOW);

	(void)state;
	assert_non_null(strstr(json_str_at(answer, "waitingFor"), at(90000)));
	assert_non_null(strstr(json_str_at(answer, "waitingFor"), "cleans up"));
	assert_string_equal(json_str_at(held_up, "waitingFor"), json_str_at(answer, "waitingFor"));
}

static void nodes_that_are_not_deleted_yet_are_named(void **state)
{
	struct virtual_cluster_debt debts[] = {{.node_name = "h-1", .since = NOW},
					       {.node_name = "h-2", .since = NOW},
					       {.node_name = "h-3", .since = NOW},
					       {.node_name = "h-4", .since = NOW}};
	const struct virtual_cluster vc = {.meta.name = "team-a", .status.debts = {debts, 4}};
	OWN_JSON answer = explain_virtual_cluster(&vc);
	const char *owed = json_str_at(answer, "owed");

	(void)state;
	assert_non_null(owed);
	assert_true(str_starts(owed, "4 Nodes "));
	assert_non_null(strstr(owed, "h-1 (since "));
	assert_non_null(strstr(owed, "h-3 (since "));
	assert_null(strstr(owed, "h-4"));
	assert_true(str_ends(owed, " and others"));
}

/* The time limit of the state is later than the time at which drover stops waiting for the tenant,
 * and the deadline of the Drain is over: only the time that counts is shown. */
static void a_machine_that_leaves_shows_one_time(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m =
		machine(json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:s}}", "state",
				  "leaving", "stateSince", at(-30000), "operation", "step",
				  "delete", "deadline", at(570000), "leave", "reason", "Drain",
				  "drain", "d-1", "then", "Release", "deadline", at(-60000)),
			a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);
	OWN_JSON later = explain_machine(m, NULL, NOW + 91000);
	char *text = printed(answer);

	(void)state;
	assert_null(json_object_get(answer, "deadline"));
	assert_null(strstr(text, "deadline"));
	assert_non_null(strstr(text, "  leaving       Drain d-1, then Release\n"));
	assert_string_equal(json_str_at(later, "deadline"), at(570000));
	assert_null(json_object_get(later, "waitingFor"));
	free(text);
}

static void a_drain_that_was_cancelled_is_said_to_be(void **state)
{
	const struct drain d = {.meta.name = "d-1", .spec.reason = "fan", .spec.cancelled = true};
	OWN(arena) a = arena_new();
	json_t *lv = json_pack("{s:s, s:s, s:s, s:s, s:i}", "reason", "Drain", "drain", "d-1",
			       "then", "Release", "deadline", at(60000), "podsLeft", 2);
	OWN_JSON stays = explain_machine(
		machine(json_pack("{s:s, s:O}", "state", "draining", "leave", lv), a), &d, NOW);
	OWN_JSON left = explain_machine(
		machine(json_pack("{s:s, s:o}", "state", "wiping", "leave", lv), a), &d, NOW);
	char *text = printed(stays), *late = printed(left);

	(void)state;
	assert_non_null(strstr(text, "  leaving       Drain d-1 (fan), cancelled: the machine "
				     "returns to service\n"));
	assert_null(strstr(text, "drover cancel"));
	assert_null(strstr(text, "deadline"));
	assert_non_null(strstr(late, "Drain d-1 (fan), cancelled after the machine had left, then "
				     "Release\n"));
	free(text);
	free(late);
}

static const char *kept_by(const char *nodes, const char *reason, const char *schedule,
			   int64_t hours, struct arena *a)
{
	const struct node_claim n = {.meta.name = "gpus-1"};
	const char *reasons[] = {reason};
	struct node_pool_budget b = {.nodes = nodes,
				     .reasons = {reasons, reason ? 1 : 0},
				     .schedule = schedule,
				     .duration = hours * 3600 * 1000};
	const struct node_pool p = {
		.meta.name = "gpus", .spec.disruption.budgets = {&b, 1}, .status.nodes = 4};
	OWN_JSON answer = json_object();

	explain_serving(answer, &n, &p, NOW);
	return arena_strdup(a, str_or(json_str_at(answer, "budget"), ""));
}

static void a_budget_of_none_says_until_when_it_keeps_empty_nodes(void **state)
{
	OWN(arena) a = arena_new();
	const char *text;

	(void)state;
	assert_string_equal(kept_by("1", NULL, NULL, 0, a), "");
	assert_string_equal(kept_by("0", "Underutilized", NULL, 0, a), "");
	text = kept_by("0", NULL, NULL, 0, a);
	assert_non_null(
		strstr(text, "drover releases no empty Node of pool gpus in the next 8 days"));
	assert_non_null(strstr(text, "spec.disruption.budgets"));
	/* NOW is 14:13:20 UTC, within the schedule's eight hours. */
	text = kept_by("0", "Empty", "0 9 * * *", 8, a);
	assert_non_null(strstr(text, "of pool gpus before 2026-09-21T17:00:00Z"));
	assert_string_equal(kept_by("0", NULL, "0 9 * * *", 4, a), "");
}

static void a_pod_shows_the_decisions_on_itself_alone(void **state)
{
	struct burst_policy_decision v[] = {
		{.tenant = "team-a", .work = "default/p", .reason = "NoOffer"},
		{.tenant = "team-a", .work = "default/q", .reason = "OverBudget"},
		{.tenant = "team-b", .work = "default/p", .reason = "Chosen"}};
	const struct burst_policy p = {.meta.name = "research", .status.decisions = {v, 3}};
	OWN_JSON pod = json_object();
	OWN_JSON policy = json_object();
	const json_t *found;

	(void)state;
	explain_burst_decisions(pod, &p, "team-a", "default/p");
	found = json_object_get(pod, "decisions");
	assert_int_equal(json_array_size(found), 1);
	assert_string_equal(json_str_at(json_array_get(found, 0), "reason"), "NoOffer");
	explain_burst_decisions(policy, &p, NULL, NULL);
	assert_int_equal(json_array_size(json_object_get(policy, "decisions")), 3);
}

static void quarantine_says_who_ends_it_and_when(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON person = explain_machine(quarantined("DriveFailed", "operator", 0, a), NULL, NOW);
	OWN_JSON itself =
		explain_machine(quarantined("PowerNotConfirmed", "auto", 1, a), NULL, NOW);

	(void)state;
	assert_string_equal(json_str_at(person, "waitingFor"), "an operator");
	assert_null(json_object_get(person, "nextTry"));
	/* The error is shown only once, as the reason of the quarantine. */
	assert_null(json_object_get(person, "lastError"));
	assert_true(helps(person, "it was not wiped; then drover approve gpu-1 --wipe"));
	/* The remedy is listed once. */
	assert_int_equal(json_array_size(json_object_get(person, "helps")), 1);
	assert_string_equal(json_str_at(itself, "waitingFor"), "its next try");
	/* The quarantine began a minute ago; the second attempt follows 20 min after its
	 * beginning. */
	assert_string_equal(json_str_at(itself, "nextTry"), at(19 * 60000));
	assert_true(helps(itself, "to try again now: drover retry gpu-1"));
}

static void a_condition_that_is_false_brings_its_remedy_once(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m = machine(json_pack("{s:s, s:{s:{s:s, s:s}}, s:[{s:s, s:s, s:s, s:s}]}",
					      "state", "known", "operation", "lastError", "reason",
					      "NotApproved", "message", "spec.identity is empty",
					      "conditions", "type", "Managed", "status", "False",
					      "reason", "NotApproved", "message", "x"),
				    a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(answer, "helps")), 1);
	assert_true(helps(answer, "drover approve gpu-1"));
}

static void a_tenant_that_sleeps_is_told_with_its_machine(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m =
		machine(json_pack("{s:s, s:s, s:{s:s}}", "state", "serving", "stateSince",
				  at(-600000), "hold", "since", at(-300000)),
			a);
	json_t *o = json_pack(
		"{s:{s:s}, s:{s:{s:s}, s:s, s:{s:s}}, s:{s:s, s:[{s:s, s:s, s:s, s:s}]}}",
		"metadata", "name", "team-a", "spec", "kubeconfigSecretRef", "name", "k",
		"joinEndpoint", "10.0.0.1:6443", "quota", "nvidia.com/gpu", "8", "status",
		"asleepSince", at(-120000), "conditions", "type", "Asleep", "status", "True",
		"reason", "Paused", "message", "StatefulSet x/y is paused; its machines go back");
	OWN_JSON answer = explain_machine(m, NULL, NOW);
	OWN_JSON awake = explain_machine(m, NULL, NOW);
	char *text;

	(void)state;
	json_incref(o);
	explain_tenant(answer, decoded(OBJECT_VIRTUAL_CLUSTER, o, a), m);
	text = printed(answer);
	assert_non_null(strstr(
		text,
		"  tenant sleeps for 2m: StatefulSet x/y is paused; its machines go back; this "
		"machine is held, so it stays with the tenant\n"));
	assert_true(helps(answer, "vcluster resume"));
	free(text);
	json_object_del(json_object_get(o, "status"), "asleepSince");
	explain_tenant(awake, decoded(OBJECT_VIRTUAL_CLUSTER, o, a), m);
	assert_null(json_object_get(awake, "tenantAsleep"));
}

static struct drain *drain(const char *on_deadline, const char *deadline, struct arena *a)
{
	return decoded(OBJECT_DRAIN,
		       json_pack("{s:{s:s}, s:{s:s, s:[s], s:s*, s:s*}}", "metadata", "name", "d-1",
				 "spec", "reason", "fan", "machineNames", "gpu-1", "onDeadline",
				 on_deadline, "deadline", deadline),
		       a);
}

/* The remedy depends on the drain in progress, so it names no deadline that does not exist. */
static void a_drain_says_what_ends_its_wait(void **state)
{
	static const struct {
		const char *reason, *on_deadline;
		int64_t deadline, of_drain;
		const char *row, *helps;
	} cases[] = {
		{"Drain", "Stop", 0, 0,
		 "leaving       Drain d-1 (fan), then Quarantine; no deadline\n",
		 "this drain has no deadline and waits until its pods are gone; to set a deadline: "
		 "drover drain gpu-1 --reason 'fan' --deadline 10m --on-deadline Escalate; to "
		 "cancel the drain: drover cancel d-1"},
		{"Drain", "Stop", 90000, 90000, "deadline in 1m30s\n",
		 "the machine stays in service"},
		{"Drain", "Escalate", 90000, 90000, "deadline in 1m30s\n",
		 "drover deletes remaining pods"},
		{"ClaimDeleted", "Stop", 90000, 90000, "ClaimDeleted",
		 "drover deletes remaining pods"},
	};
	OWN(arena) a = arena_new();
	struct machine *m;
	json_t *lv;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lv = json_pack("{s:s, s:s, s:s, s:i, s:s}", "reason", cases[i].reason, "drain",
			       "d-1", "then", "Quarantine", "podsLeft", 3, "blockedBy",
			       "pdb x/web");
		if (cases[i].deadline)
			json_object_set_new(lv, "deadline", json_string(at(cases[i].deadline)));
		m = machine(json_pack("{s:s, s:o, s:{s:s, s:{s:s, s:s}}}", "state", "draining",
				      "leave", lv, "operation", "waitingFor", "Budget", "lastError",
				      "reason", "EvictionBlocked", "message", "pdb x/web"),
			    a);
		OWN_JSON answer =
			explain_machine(m,
					drain(cases[i].on_deadline,
					      cases[i].of_drain ? at(cases[i].of_drain) : NULL, a),
					NOW);
		char *text = printed(answer);

		assert_non_null(strstr(text, cases[i].row));
		assert_non_null(strstr(text, "pods left     3, blocked by pdb x/web\n"));
		assert_true(helps(answer, cases[i].helps));
		assert_true(helps(answer, "check the pod's PodDisruptionBudget"));
		assert_int_equal(json_array_size(json_object_get(answer, "helps")), 2);
		free(text);
	}
}

/* After the deadline, the answer names the next step, not the deadline that has passed. */
static void past_its_deadline_it_says_what_comes_next(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m =
		machine(json_pack("{s:s, s:{s:s, s:s, s:s, s:s, s:i, s:s}, s:{s:s, s:s}}", "state",
				  "draining", "leave", "reason", "Drain", "drain", "d-1", "then",
				  "Hold", "deadline", at(-26000), "podsLeft", 1, "blockedBy",
				  "pod x/y: stuck terminating", "operation", "step", "escalate",
				  "started", at(-25000)),
			a);
	OWN_JSON answer = explain_machine(m, drain("Escalate", at(-26000), a), NOW);

	(void)state;
	assert_true(helps(answer, "30 s after the first deletion, drover holds the machine, even "
				  "if pods remain"));
	assert_false(helps(answer, "at the deadline"));
	m->status.leave->then = DRAIN_RELEASE;
	OWN_JSON off = explain_machine(m, drain("Escalate", at(-26000), a), NOW);

	assert_true(helps(off, "30 s after the first deletion, drover switches the machine off, "
			       "even if pods remain"));
}

static void a_hold_says_what_it_left_behind(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m =
		machine(json_pack("{s:s, s:{s:s, s:s, s:i, s:s}}", "state", "serving", "hold",
				  "since", at(-120000), "drain", "d-1", "podsLeft", 2, "blockedBy",
				  "pod x/y: stuck terminating"),
			a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);
	char *text = printed(answer);

	(void)state;
	assert_non_null(strstr(text, "held          for 2m by Drain d-1\n"));
	assert_non_null(strstr(text, "pods left     2 when the hold began, blocked by pod x/y: "
				     "stuck terminating\n"));
	free(text);
}

static void a_retired_machine_says_how_it_comes_back(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON answer =
		explain_machine(machine(json_pack("{s:s}", "state", "retired"), a), NULL, NOW);

	(void)state;
	assert_true(helps(answer, "to manage it again: drover approve gpu-1"));
}

/* The remedy depends on what blocks the pod. No remedy must contradict another. */
static void what_keeps_a_pod_decides_what_helps(void **state)
{
	static const struct {
		const char *reason, *blocked, *helps, *not ;
	} cases[] = {
		{"EvictionBlocked", "pdb x/web",
		 "check the pod's PodDisruptionBudget in the tenant's cluster", "finalizers"},
		{"EvictionBlocked", "pod x/y: stuck terminating",
		 "check its finalizers and the kubelet of its Node", "PodDisruptionBudget"},
		{"EvictionBlocked", "pod x/y: admission webhook says no",
		 "find out what refuses the eviction in the tenant's cluster",
		 "PodDisruptionBudget"},
		{"CheckpointPending", "checkpoint x/y", "the wait ends at the checkpoint's timeout",
		 "this drain has no deadline"},
	};
	OWN(arena) a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine *m =
			machine(json_pack("{s:s, s:{s:s, s:s, s:i, s:s}, s:{s:s, s:{s:s, s:s}}}",
					  "state", "draining", "leave", "reason", "Drain", "drain",
					  "d-1", "podsLeft", 1, "blockedBy", cases[i].blocked,
					  "operation", "waitingFor", "Device", "lastError",
					  "reason", cases[i].reason, "message", cases[i].blocked),
				a);
		OWN_JSON answer = explain_machine(m, drain("Stop", NULL, a), NOW);

		assert_true(helps(answer, cases[i].helps));
		assert_false(helps(answer, cases[i].not ));
	}
}

/* A Drain without a deadline is in progress. A second Drain, whose onDeadline is Escalate, takes
 * precedence. */
static void the_drain_whose_deadline_counts_is_named(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m =
		machine(json_pack("{s:s, s:{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s}}", "state",
				  "draining", "leave", "reason", "Drain", "drain", "d-1", "then",
				  "Quarantine", "thenBy", "d-2", "deadline", at(11000),
				  "deadlineBy", "d-2", "podsLeft", 1, "blockedBy", "pdb x/web"),
			a);
	OWN_JSON answer = explain_machine(m, drain("Stop", NULL, a), NOW);
	char *text = printed(answer);

	(void)state;
	assert_non_null(strstr(
		text,
		"leaving       Drain d-1 (fan), then Quarantine (set by Drain d-2); deadline in "
		"11s (set by Drain d-2)\n"));
	assert_true(helps(answer, "drover deletes remaining pods"));
	assert_false(helps(answer, "stays in service"));
	free(text);
}

static void a_hold_and_a_deletion_are_told(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m = machine(
		json_pack("{s:s, s:{s:s}}", "state", "serving", "hold", "since", at(-120000)), a);
	json_t *held = explain_machine(m, NULL, NOW);
	char *text = printed(held);

	(void)state;
	assert_non_null(
		strstr(text, "held          for 2m, because an operator cordoned its Node\n"));
	assert_true(helps(held, "drover release gpu-1"));
	free(text);
	json_decref(held);
	m = machine(json_pack("{s:s, s:{s:s, s:s}}", "state", "serving", "hold", "since",
			      at(-120000), "drain", "d-1"),
		    a);
	m->meta.deletion_timestamp = NOW - 60000;
	held = explain_machine(m, NULL, NOW);
	text = printed(held);
	assert_non_null(strstr(text, "held          for 2m by Drain d-1\n"));
	assert_non_null(strstr(text, "deletion      requested 1m ago\n"));
	free(text);
	json_decref(held);
}

static void foreign_control_characters_reach_no_terminal(void **state)
{
	OWN(arena) a = arena_new();
	struct machine *m = machine(json_pack("{s:s, s:{s:{s:s, s:s}}}", "state", "known",
					      "operation", "lastError", "reason", "X", "message",
					      "\x1b[2J\nroot\x7f\xc2\x9b"
					      "2J"),
				    a);
	OWN_JSON answer = explain_machine(m, NULL, NOW);
	char *text = printed(answer);

	(void)state;
	assert_null(strchr(text, 0x1b));
	assert_null(strchr(text, 0x7f));
	assert_non_null(strstr(text, "?[2J root??2J\n"));
	free(text);
}

static void a_format_in_a_name_is_only_text(void **state)
{
	OWN(arena) a = arena_new();
	struct virtual_cluster *vc =
		decoded(OBJECT_VIRTUAL_CLUSTER,
			json_pack("{s:{s:s}, s:{s:{s:s}, s:s, s:{s:s}}}", "metadata", "name",
				  "team-a", "spec", "kubeconfigSecretRef", "name", "k",
				  "joinEndpoint", "10.0.0.1:6443", "quota", "nvidia.com/gpu", "8"),
			a);
	OWN_JSON answer = explain_pod(vc, "%n%s", "%s%s");

	(void)state;
	assert_non_null(answer);
	assert_string_equal(json_str_at(answer, "name"), "team-a/%n%s/%s%s");
}

static void a_cluster_that_takes_no_nodes_is_told_with_what_helps(void **state)
{
	OWN(arena) a = arena_new();
	struct virtual_cluster *vc =
		decoded(OBJECT_VIRTUAL_CLUSTER,
			json_pack("{s:{s:s}, s:{s:{s:s}, s:{s:s}}, s:{s:[{s:s, s:s, s:s, s:s}]}}",
				  "metadata", "name", "team-a", "spec", "kubeconfigSecretRef",
				  "name", "k", "quota", "nvidia.com/gpu", "8", "status",
				  "conditions", "type", "TakesNodes", "status", "False", "reason",
				  "NoPrivateNodes", "message", "it has neither"),
			a);
	OWN_JSON answer = explain_pod(vc, "default", "train");

	(void)state;
	assert_true(helps(answer, "enable private nodes"));
}

static void an_event(json_t *answer, const char *reason, const char *message, const char *time,
		     const char *again)
{
	OWN_JSON e =
		json_pack("{s:s, s:s, s:s, s:s}", "reportingComponent", "drover.dev/controller",
			  "reason", reason, "message", message, "eventTime", time);

	if (again)
		json_object_set_new(e, "series", json_pack("{s:s}", "lastObservedTime", again));
	explain_pod_event(answer, e);
}

static void another_ones_event(json_t *answer)
{
	OWN_JSON e = json_pack("{s:s, s:s, s:s, s:s}", "reportingComponent", "default-scheduler",
			       "reason", "FailedScheduling", "message", "0/3 nodes", "eventTime",
			       "2026-12-01T10:30:00.000000Z");

	explain_pod_event(answer, e);
}

/* Returns the answer as explain_print() prints it at time `at`; the caller frees the text. */
static char *printed_at(const json_t *answer, const char *at)
{
	struct buf out;
	int64_t now;
	char *text;

	assert_true(str_to_time(at, &now));
	buf_init(&out, 1 << 16);
	explain_print(answer, now, &out);
	text = strndup((const char *)out.data, out.len);
	buf_done(&out);
	return text;
}

static void of_a_pods_events_the_newest_of_drover_is_told(void **state)
{
	OWN_JSON answer = json_pack("{s:s, s:s}", "kind", "Pod", "name", "team-a/default/train");
	char *text;

	(void)state;
	another_ones_event(answer);
	assert_null(json_object_get(answer, "told"));
	an_event(answer, "NoCapacity", "place 5", "2026-12-01T10:10:00.000000Z", NULL);
	an_event(answer, "NoCapacity", "place 4, expected 10:20 to 10:31 UTC",
		 "2026-12-01T10:00:00.000000Z", "2026-12-01T10:15:00.000000Z");
	an_event(answer, "NoCapacity", "place 9", "2026-12-01T09:00:00.000000Z", NULL);
	another_ones_event(answer);
	text = printed_at(answer, "2026-12-01T10:17:00Z");
	assert_non_null(strstr(
		text,
		"  last event    NoCapacity: place 4, expected 10:20 to 10:31 UTC, 2m ago\n"));
	free(text);
}

/* Returns a tenant whose status has a row for each of n waiting pods; the last is default/train. */
static struct virtual_cluster *waiting(size_t n, const char *claim, struct arena *a)
{
	OWN_JSON o =
		json_pack("{s:{s:s}, s:{s:{s:s}, s:s, s:{s:s}}, s:{s:[]}}", "metadata", "name",
			  "team-a", "spec", "kubeconfigSecretRef", "name", "k", "joinEndpoint",
			  "10.0.0.1:6443", "quota", "nvidia.com/gpu", "8", "status", "waiting");

	for (size_t i = 1; i <= n; i++)
		json_array_append_new(
			json_at(o, "status", "waiting"),
			json_pack("{s:s, s:i, s:s, s:s, s:s*, s:s}", "pod",
				  i == n ? "default/train" : arena_printf(a, "default/p-%zu", i),
				  "place", (int)i, "reason", "NoCapacity", "message",
				  "pool h100: 4 machines fit", "claim", claim, "since",
				  "2026-12-01T10:10:00Z"));
	return decoded(OBJECT_VIRTUAL_CLUSTER, json_incref(o), a);
}

static void what_is_so_now_comes_before_what_was_said(void **state)
{
	OWN(arena) a = arena_new();
	struct virtual_cluster *vc = waiting(3, NULL, a);
	OWN_JSON answer = explain_pod(vc, "default", "train");
	char *text;

	(void)state;
	explain_pod_now(answer, vc, "default", "train");
	an_event(answer, "NoCapacity", "place 9: pool h100", "2026-12-01T10:05:00.000000Z", NULL);
	an_event(answer, "Nominated", "machine gpu-1", "2026-12-01T10:00:00.000000Z", NULL);
	an_event(answer, "OverBudget", "older", "2026-12-01T09:00:00.000000Z", NULL);
	text = printed_at(answer, "2026-12-01T10:17:00Z");
	assert_non_null(strstr(text, "  reason        NoCapacity, for 7m: pool h100: 4 machines "
				     "fit\n  place         3 in the queue of all tenants\n"
				     "  earlier event Nominated: machine gpu-1, 17m ago\n"));
	assert_null(strstr(text, "place 9"));
	assert_null(strstr(text, "last event"));
	free(text);
}

static const char *not_told(size_t rows, const char *phase, const char *unscheduled,
			    struct arena *a)
{
	struct virtual_cluster *vc = waiting(rows, NULL, a);
	OWN_JSON answer = explain_pod(vc, "default", "other");
	OWN_JSON pod = json_pack("{s:{s:s}}", "status", "phase", phase);

	if (unscheduled)
		json_object_set_new(json_object_get(pod, "status"), "conditions",
				    json_pack("[{s:s, s:s, s:s}]", "type", "PodScheduled", "status",
					      "False", "message", unscheduled));
	explain_pod_seen(answer, pod);
	explain_pod_now(answer, vc, "default", "other");
	assert_null(json_object_get(answer, "now"));
	return arena_strdup(a, json_str_at(answer, "waitingFor"));
}

static void of_a_pod_that_no_plan_has_it_is_said_why(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_true(str_starts(not_told(3, "Pending", NULL, a), "kube-scheduler, "));
	assert_true(str_starts(not_told(3, "Pending", "0/3", a), "drover's next plan"));
	assert_string_equal(not_told(64, "Pending", "0/3", a),
			    "at least 64 other pods of its tenant, which are before this pod in "
			    "the queue");
	assert_null(not_told(3, "Succeeded", "0/3", a));
}

static struct node_claim *claim_for(const char *name, const char *phase, const char *node,
				    const char *uid, struct arena *a)
{
	struct node_claim *n = arena_new_obj(a, struct node_claim);
	const char **pods = arena_calloc(a, 1, sizeof(*pods));

	*pods = uid;
	n->meta.name = name;
	n->status.phase = phase;
	n->status.node_name = node;
	n->spec.pods = (struct strings){pods, 1};
	return n;
}

static void a_pods_claim_is_the_one_that_brings_its_machine(void **state)
{
	OWN(arena) a = arena_new();
	OWN_JSON none = json_object();
	OWN_JSON seat = json_pack("{s:{s:s}}", "now", "claim", "c-1");
	OWN_JSON waits = json_pack("{s:{s:s}}", "now", "reason", "NoCapacity");

	(void)state;
	/* A bound pod belongs to the claim of its Node, whatever pods that claim was created
	 * for. */
	assert_true(explain_is_claim_of_pod(none, claim_for("c-1", "serving", "n-1", "x", a), "u",
					    "n-1"));
	assert_false(explain_is_claim_of_pod(none, claim_for("c-2", "serving", "n-2", "u", a), "u",
					     "n-1"));
	/* A planned pod belongs to the claim on which the plan has placed it. */
	assert_true(explain_is_claim_of_pod(seat, claim_for("c-1", "booting", NULL, "x", a), "u",
					    NULL));
	assert_false(explain_is_claim_of_pod(seat, claim_for("c-2", "booting", NULL, "u", a), "u",
					     NULL));
	assert_false(explain_is_claim_of_pod(waits, claim_for("c-2", "serving", "n", "u", a), "u",
					     NULL));
	/* A pod that is not planned yet belongs to the claim that was created for it, unless that
	 * claim has ended. */
	assert_true(explain_is_claim_of_pod(none, claim_for("c-2", "booting", NULL, "u", a), "u",
					    NULL));
	assert_false(
		explain_is_claim_of_pod(none, claim_for("c-2", "Failed", NULL, "u", a), "u", NULL));
	assert_false(explain_is_claim_of_pod(none, claim_for("c-2", "booting", NULL, "x", a), "u",
					     NULL));
	assert_false(explain_is_claim_of_pod(none, claim_for("c-2", "booting", NULL, "u", a), NULL,
					     NULL));
}

/* --- with an API server ----------------------------------------------------------------------- */

struct got {
	bool done;
	json_t *answer;
	struct err e;
};

static void on_answer(const json_t *answer, const struct err *e, void *arg)
{
	struct got *g = arg;

	g->done = true;
	g->answer = json_deep_copy(answer);
	if (e)
		g->e = *e;
}

static struct explain_question *ask(struct sim_world *w, const char *target, struct got *g)
{
	struct context *c = controller_context(w->replicas[0].controller);
	struct explain_asker with = {.host = c->host,
				     .loop = w->loop,
				     .group = c->group,
				     .http = c->http,
				     .ns = "drover-system",
				     .plain_ok = true};
	struct explain_question *q;

	*g = (struct got){0};
	q = explain_ask(&with, target, on_answer, g);
	assert_false(g->done);
	return q;
}

static json_t *asked(struct sim_world *w, const char *target, struct got *g)
{
	(void)ask(w, target, g);
	world_run(w, 5000);
	assert_true(g->done);
	return g->answer;
}

/* Drops a question about target after 0 ms, 1 ms, and so on, until it is answered in time. */
static void assert_droppable(struct sim_world *w, const char *target)
{
	struct explain_question *q;
	struct got g;

	for (int64_t ms = 0; ms < 5000; ms++) {
		q = ask(w, target, &g);
		world_run(w, ms);
		if (g.done)
			break;
		explain_ask_cancel(q);
		world_run(w, 50);
		assert_false(g.done);
	}
	assert_non_null(g.answer);
	json_decref(g.answer);
}

static void a_dropped_question_is_not_answered(void **state)
{
	struct sim_world w;

	(void)state;
	explain_ask_cancel(NULL);
	world_start(&w, 42, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_wait_state(&w.servers[0], "serving", 60);
	assert_droppable(&w, "machine/gpu-1");
	assert_droppable(&w, "team-a/default/train");
	world_stop(&w);
}

static void machines_claims_and_pods_are_found_and_what_is_not_there_is_said(void **state)
{
	struct sim_world w;
	struct got g;
	json_t *x;

	(void)state;
	world_start(&w, 41, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_wait_state(&w.servers[0], "serving", 60);
	world_run(&w, 5000);

	x = asked(&w, "gpu-1", &g);
	assert_string_equal(json_str_at(x, "kind"), "Machine");
	assert_string_equal(json_str_at(x, "state"), "serving");
	assert_string_equal(json_str_at(x, "tenant"), "team-a");
	assert_null(json_str_at(x, "node"));
	assert_null(json_str_at(x, "budget"));
	json_decref(x);
	x = asked(&w, w.servers[0].claim, &g);
	assert_string_equal(json_str_at(x, "kind"), "NodeClaim");
	assert_string_equal(json_str_at(x, "machine", "name"), "gpu-1");
	assert_string_equal(json_str_at(x, "pool"), "gpus");
	json_decref(x);
	x = asked(&w, "team-a/default/train", &g);
	assert_string_equal(json_str_at(x, "kind"), "Pod");
	assert_int_equal(json_array_size(json_object_get(x, "claims")), 1);
	assert_string_equal(json_str_at(json_array_get(json_object_get(x, "claims"), 0), "machine"),
			    "gpu-1");
	assert_false(helps(x, "kubectl describe pod")); /* The pod runs, so it needs no remedy. */
	assert_null(json_object_get(x, "told"));
	assert_string_equal(json_str_at(x, "pod", "node"), w.servers[0].claim);
	/* The tenant's API server answers, so the last contact is not shown. */
	assert_null(json_str_at(x, "lastContact"));
	json_decref(x);
	world_pod(&w, &w.tenants[0], "later"); /* No machine is free for this pod. */
	world_run(&w, 60000);
	x = asked(&w, "team-a/default/later", &g);
	assert_string_equal(json_str_at(x, "now", "reason"), "NoCapacity");
	assert_int_equal(json_int_at(json_object_get(x, "now"), "place"), 1);
	assert_true(str_starts(json_str_at(x, "now", "message"), "pool gpus: "));
	assert_int_equal(json_array_size(json_object_get(x, "claims")), 0);
	assert_null(json_object_get(x, "told"));
	assert_null(json_object_get(x, "history"));
	assert_false(helps(x, "kubectl describe pod"));
	json_decref(x);
	assert_null(asked(&w, "team-b/default/train", &g));
	assert_int_equal(g.e.kind, ERR_NOT_FOUND);
	assert_string_equal(g.e.text, "tenant team-b has no pod default/train");
	world_do(&w, &w.host, "DELETE", "/api/v1/namespaces/vc-team-b/secrets/vc-team-b", NULL);
	x = asked(&w, "team-b/default/train", &g);
	assert_non_null(strstr(json_str_at(x, "podUnknown"), "the tenant's kubeconfig: "));
	assert_true(helps(x, "kubectl describe pod -n default train"));
	json_decref(x);

	assert_null(asked(&w, "nobody", &g));
	assert_int_equal(g.e.kind, ERR_NOT_FOUND);
	assert_non_null(strstr(g.e.text, "nobody"));
	assert_null(asked(&w, "nobody/default/x", &g));
	assert_int_equal(g.e.kind, ERR_NOT_FOUND);
	assert_null(asked(&w, "../secrets", &g));
	assert_int_not_equal(g.e.kind, ERR_NONE);
	world_stop(&w);
}

static void a_gang_is_found_by_its_pods(void **state)
{
	struct sim_world w;
	struct got g;
	json_t *x;

	(void)state;
	world_start(&w, 44, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "other");
	world_gang_pod(&w, &w.tenants[0], "train-0", "train", "2");
	world_gang_pod(&w, &w.tenants[0], "train-1", "train", "2");
	world_run(&w, 60000);
	x = asked(&w, "gang/team-a/default/train", &g);
	assert_string_equal(json_str_at(x, "kind"), "Gang");
	assert_string_equal(json_str_at(x, "name"), "team-a/default/train");
	assert_int_equal(json_int_at(x, "members", "pods"), 2);
	assert_int_equal(json_int_at(x, "members", "waiting"), 2);
	assert_non_null(json_str_at(x, "now", "reason"));
	assert_string_equal(json_str_at(x, "owner"), "drover");
	json_decref(x);
	x = asked(&w, "team-a/default/train-0", &g);
	assert_non_null(json_str_at(x, "gang"));
	json_decref(x);
	assert_null(asked(&w, "gang/team-a/default/none", &g));
	assert_string_equal(g.e.text,
			    "tenant team-a has no pods of a gang none in namespace default");
	assert_droppable(&w, "gang/team-a/default/train");
	world_stop(&w);
}

static void a_serving_machine_says_what_its_claim_and_pool_say(void **state)
{
	struct sim_world w;
	struct server *b = leaving_serving(&w, 43);
	char since[STR_TIME_SIZE], end[STR_TIME_SIZE];
	struct got g;
	int64_t now = loop_wall(w.loop) / 1000 * 1000;
	json_t *x;

	(void)state;
	leaving_set_pool(&w, json_pack("{s:{s:[{s:s}]}}", "disruption", "budgets", "nodes", "0"));
	leaving_patch_node(b, "/status",
			   json_pack("{s:{s:[{s:s,s:s,s:s}]}}", "status", "conditions", "type",
				     "Ready", "status", "Unknown", "lastTransitionTime",
				     str_time(since, now)));
	world_run(&w, 5000);
	x = asked(&w, "gpu-1", &g);
	assert_non_null(strstr(json_str_at(x, "budget"), "pool gpus"));
	assert_non_null(strstr(json_str_at(x, "node"), since));
	assert_non_null(
		strstr(json_str_at(x, "node"), str_time(end, now + INT64_C(30) * 60 * 1000)));
	json_decref(x);
	leaving_patch_node(b, "/status",
			   json_pack("{s:{s:[{s:s,s:s,s:s}]}}", "status", "conditions", "type",
				     "Ready", "status", "True", "lastTransitionTime",
				     str_time(since, loop_wall(w.loop))));
	world_run(&w, 5000);
	x = asked(&w, "gpu-1", &g);
	assert_null(json_str_at(x, "node"));
	json_decref(x);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_that_is_wiped_says_how_far_it_is),
		cmocka_unit_test(of_a_pods_events_the_newest_of_drover_is_told),
		cmocka_unit_test(what_is_so_now_comes_before_what_was_said),
		cmocka_unit_test(of_a_pod_that_no_plan_has_it_is_said_why),
		cmocka_unit_test(a_pods_claim_is_the_one_that_brings_its_machine),
		cmocka_unit_test(a_machine_under_way_says_since_when_for_what_and_when_next),
		cmocka_unit_test(a_confirmation_is_offered_only_where_it_counts),
		cmocka_unit_test(what_stays_on_is_not_confirmed_off),
		cmocka_unit_test(a_machine_that_recovered_shows_no_failure_and_no_drain),
		cmocka_unit_test(an_attempt_that_is_due_is_made_now),
		cmocka_unit_test(a_wait_names_what_is_waited_for),
		cmocka_unit_test(a_machine_at_rest_says_nothing_of_what_is_long_done),
		cmocka_unit_test(each_state_says_what_it_means),
		cmocka_unit_test(a_cloud_instance_is_terminated_and_not_wiped),
		cmocka_unit_test(each_reason_says_what_helps),
		cmocka_unit_test(a_machine_that_leaves_says_until_when_its_tenant_is_waited_for),
		cmocka_unit_test(nodes_that_are_not_deleted_yet_are_named),
		cmocka_unit_test(a_machine_that_leaves_shows_one_time),
		cmocka_unit_test(a_drain_that_was_cancelled_is_said_to_be),
		cmocka_unit_test(a_budget_of_none_says_until_when_it_keeps_empty_nodes),
		cmocka_unit_test(a_pod_shows_the_decisions_on_itself_alone),
		cmocka_unit_test(quarantine_says_who_ends_it_and_when),
		cmocka_unit_test(a_condition_that_is_false_brings_its_remedy_once),
		cmocka_unit_test(a_tenant_that_sleeps_is_told_with_its_machine),
		cmocka_unit_test(a_drain_says_what_ends_its_wait),
		cmocka_unit_test(the_drain_whose_deadline_counts_is_named),
		cmocka_unit_test(past_its_deadline_it_says_what_comes_next),
		cmocka_unit_test(what_keeps_a_pod_decides_what_helps),
		cmocka_unit_test(a_retired_machine_says_how_it_comes_back),
		cmocka_unit_test(a_hold_says_what_it_left_behind),
		cmocka_unit_test(a_hold_and_a_deletion_are_told),
		cmocka_unit_test(foreign_control_characters_reach_no_terminal),
		cmocka_unit_test(a_cluster_that_takes_no_nodes_is_told_with_what_helps),
		cmocka_unit_test(a_message_of_two_conditions_is_printed_once),
		cmocka_unit_test(a_format_in_a_name_is_only_text),
		cmocka_unit_test(a_dropped_question_is_not_answered),
		cmocka_unit_test(machines_claims_and_pods_are_found_and_what_is_not_there_is_said),
		cmocka_unit_test(a_gang_is_found_by_its_pods),
		cmocka_unit_test(a_serving_machine_says_what_its_claim_and_pool_say),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
