/*
 * explain: builds the explanations of `drover why` for machines and claims, as JSON and from
 * objects alone. explain_ask.c reads the objects; explain_print.c prints the explanation as text.
 */
#include <stdio.h>
#include <string.h>

#include "controller/explain/answer.h"
#include "controller/explain/explain.h"
#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "api/reasons.h"
#include "base/str.h"
#include "controller/explain/waits.h"
#include "controller/rules/machine.h"

/* --- machines --------------------------------------------------------------------------------- */

/* What a machine waits for, where the reason of the last error is more precise than
 * status.operation.waitingFor. */
static const struct {
	enum reason reason;
	enum wait wait;
} waits[] = {
	{REASON_BmcAuthFailed, WAIT_SECRET},	 {REASON_SecretNotFound, WAIT_SECRET},
	{REASON_BmcPasswordChange, WAIT_SECRET}, {REASON_BmcAddressInvalid, WAIT_BMC_ADDRESS},
	{REASON_NotApproved, WAIT_APPROVAL},	 {REASON_BmcNotTrusted, WAIT_APPROVAL},
	{REASON_EvictionBlocked, WAIT_PODS},	 {REASON_CheckpointPending, WAIT_CHECKPOINT},
	{REASON_TenantUnreachable, WAIT_TENANT},
};

/* Returns what the operation waits for, as text for the operator; NULL: nothing. */
static const char *waits_for(const struct machine_operation *op)
{
	static const enum wait of_kind[] = {WAIT_HARDWARE, WAIT_RATE, WAIT_BUDGET, WAIT_OPERATOR};
	enum reason reason = reason_find(op->last_error.reason);

	if (op->waiting_for < WAITING_DEVICE || op->waiting_for > WAITING_APPROVAL)
		return NULL;
	if (op->waiting_for == WAITING_DEVICE || op->waiting_for == WAITING_APPROVAL)
		for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
			if (waits[i].reason == reason)
				return wait_info[waits[i].wait].text;
	return wait_info[of_kind[op->waiting_for]].text;
}

static void operation(json_t *o, const struct machine *m)
{
	const struct machine_operation *op = m->status.operation;
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));
	const struct machine_state_info *info =
		s == MACHINE_STATE_NONE ? NULL : &machine_state_info[s];

	bool quarantined = s == MACHINE_QUARANTINED && m->status.quarantine;

	/* Add nothing about an operation that has ended: status.operation describes such an
	 * operation if the state has no time limit and there is no error. */
	if (!op || !info || (!info->limit_s && str_empty(op->last_error.reason)))
		return;
	answer_put(o, "step", op->step);
	if (op->attempt > 1)
		json_object_set_new(o, "attempt", json_integer(op->attempt));
	answer_put(o, "waitingFor", waits_for(op));
	if (op->progress) {
		json_object_set_new(o, "progress",
				    json_pack("{s:s, s:I, s:I}", "phase",
					      str_or(op->progress->phase, "busy"), "doneBytes",
					      (json_int_t)op->progress->done_bytes, "totalBytes",
					      (json_int_t)op->progress->total_bytes));
		answer_time(json_object_get(o, "progress"), "expectedEnd",
			    op->progress->expected_end);
	}
	answer_time(o, "nextTry", op->next_attempt);
	if (!quarantined || !str_eq(op->last_error.reason, m->status.quarantine->reason))
		answer_error(o, "lastError", op->last_error.reason, op->last_error.message,
			     /* If the quarantine has the same reason, its text shows this error
			      * already, so the error is left out. */
			     op->last_error.time);
	if (op->deadline && info->limit_s) {
		answer_time(o, "deadline", op->deadline);
		answer_put(o, "then",
			   machine_state_info[machine_state_after(s, m->spec.elastic)].name);
	}
}

/* True if the list of remedies `helps` already contains `drover approve NAME --wipe`. */
static bool has_wipe_remedy(const json_t *o, const char *name)
{
	OWN(arena) a = arena_new();
	const char *wanted = arena_printf(a, "drover approve %s --wipe", name);
	json_t *x;
	size_t i;

	json_array_foreach (json_object_get(o, "helps"), i, x)
		if (strstr(json_string_value(x), wanted))
			return true;
	return false;
}

static void quarantine(json_t *o, const struct machine *m)
{
	const struct machine_quarantine *q = m->status.quarantine;
	int64_t due = quarantine_due(m);

	if (!machine_is_in(m, MACHINE_QUARANTINED) || !q)
		return;
	answer_error(o, "quarantine", str_or(q->reason, "Unknown"), q->message, q->since);
	json_object_del(o, "nextTry");
	answer_put(o, "waitingFor", wait_info[due ? WAIT_NEXT_TRY : WAIT_OPERATOR].text);
	answer_time(o, "nextTry", due);
	answer_help_with(o, q->reason, m->meta.name);
	if (!str_eq(q->reason, "QuarantinedByOperator") &&
	    (due || !has_wipe_remedy(o, m->meta.name)))
		answer_help(o,
			    due ? "to try again now: drover retry %s"
				: "if nothing on the machine is needed: drover approve %s --wipe",
			    m->meta.name);
}

/* Adds to the explanation how the wait of a draining machine for its pods will end. Uses only the
 * drain in progress (lv and its Drain d), not what other Drains could do. */
static void help_draining(json_t *o, const struct machine *m, const struct machine_leave *lv,
			  const struct drain *d)
{
	OWN(arena) a = arena_new();
	char t[STR_TIME_SIZE];
	bool asked = str_eq(lv->reason, LEAVE_DRAIN);
	const char *end = !asked || lv->deadline_by	      ? "drover deletes remaining pods"
			  : !d				      ? "onDeadline of its Drain applies"
			  : d->spec.on_deadline == DRAIN_STOP ? "the machine stays in service"
							      : "drover deletes remaining pods";

	if (m->status.operation && str_eq(m->status.operation->step, "escalate"))
		answer_help(o,
			    lv->then == DRAIN_HOLD
				    ? "wait: the deadline has passed and drover is deleting the "
				      "remaining pods; 30 s after the first deletion, drover holds "
				      "the machine, even if pods remain"
			    : m->spec.elastic
				    ? "wait: the deadline has passed and drover is deleting the "
				      "remaining pods; 30 s after the first deletion, drover "
				      "terminates the instance, even if pods remain"
				    : "wait: the deadline has passed and drover is deleting the "
				      "remaining pods; 30 s after the first deletion, drover "
				      "switches the machine off, even if pods remain",
			    "");
	else if (lv->deadline)
		answer_help(o,
			    arena_printf(a, "wait: at the deadline, %s, %s%s%s",
					 str_time(t, lv->deadline), end,
					 asked && lv->drain
						 ? "; to cancel the drain: drover cancel "
						 : "",
					 asked && lv->drain ? lv->drain : ""),
			    "");
	/* A drain that waits for a checkpoint is left out, because the checkpoint has its own
	 * timeout. */
	else if (!str_starts(str_or(lv->blocked_by, ""), "checkpoint "))
		answer_help(o,
			    arena_printf(
				    a,
				    "this drain has no deadline and waits until its pods are gone; "
				    "to set a deadline: drover drain %s --reason %s --deadline 10m "
				    "--on-deadline Escalate%s%s",
				    m->meta.name,
				    answer_quoted(
					    str_or(d ? d->spec.reason : lv->drain, lv->reason), a),
				    lv->drain ? "; to cancel the drain: drover cancel " : "",
				    str_or(lv->drain, "")),
			    "");
}

/* Adds what the operator can do about the reason of the last error. For EvictionBlocked it depends
 * on what blocks the eviction. */
static void help_operation(json_t *o, const struct machine *m)
{
	const char *reason = m->status.operation->last_error.reason,
		   *blocked = m->status.leave ? str_or(m->status.leave->blocked_by, "") : "";

	if (reason_find(reason) == REASON_PowerNotConfirmed && str_eq(m->status.power.state, "On"))
		answer_help(o,
			    "its BMC reports On: switch the machine off at its power button, or "
			    "repair the BMC; drover asks the BMC again by itself, or at once with "
			    "drover retry %s",
			    m->meta.name);
	else if (reason_find(reason) != REASON_EvictionBlocked || !str_starts(blocked, "pod "))
		answer_help_with(o, reason, m->meta.name);
	else if (str_ends(blocked, ": stuck terminating"))
		answer_help(
			o,
			"the pod does not terminate: check its finalizers and the kubelet of its "
			"Node",
			"");
	else
		answer_help(
			o,
			"find out what refuses the eviction in the tenant's cluster, for example "
			"an admission webhook",
			"");
}

/* Adds how an operator can replace the power reading of a BMC that drover cannot ask, while the
 * operation waits for proof that the machine is off. */
static void help_confirm_off(json_t *o, const struct machine *m)
{
	const struct machine_operation *op = m->status.operation;
	const enum machine_state s = machine_state_find(str_or(m->status.state, ""));

	if ((s == MACHINE_STOPPING || s == MACHINE_ISOLATING || s == MACHINE_LEAVING) &&
	    str_starts(str_or(op->last_error.reason, ""), "Bmc") &&
	    !str_eq(m->status.power.state, "Off") && !str_eq(m->status.power.confirmed_by, op->id))
		answer_help(o, "if you see that the machine is off: drover confirm-off %s",
			    m->meta.name);
}

static void leave(json_t *o, const struct machine *m, const struct drain *d)
{
	const struct machine_leave *lv = m->status.leave;
	/* Past draining no pod is waited for, so the deadline for pods has no meaning any more. */
	const bool evicts = machine_state_find(str_or(m->status.state, "")) <= MACHINE_DRAINING,
		   withdrawn = d && (d->spec.cancelled || d->meta.deletion_timestamp);
	json_t *j;

	if (!lv || machine_is_in(m, MACHINE_FREE) || machine_is_in(m, MACHINE_QUARANTINED) ||
	    machine_is_in(m, MACHINE_RETIRED))
		return;
	j = json_object();
	answer_put(j, "reason", lv->reason);
	answer_put(j, "drain", lv->drain);
	if (d)
		answer_put(j, "drainReason", d->spec.reason);
	if (withdrawn)
		json_object_set_new(j, "cancelled", json_true());
	if (evicts && !withdrawn) {
		answer_time(j, "deadline", lv->deadline);
		answer_put(j, "deadlineBy", lv->deadline_by);
	}
	answer_put(j, "then", drain_then_names[lv->then]);
	answer_put(j, "thenBy", lv->then_by);
	if (lv->pods_left)
		json_object_set_new(j, "podsLeft", json_integer(lv->pods_left));
	answer_put(j, "blockedBy", lv->blocked_by);
	json_object_set_new(o, "leave", j);
	if (str_eq(m->status.state, "draining") && withdrawn)
		answer_help(o, "wait: its Drain was cancelled, and the machine returns to service",
			    "");
	else if (str_eq(m->status.state, "draining") && lv->pods_left)
		help_draining(o, m, lv, d);
}

static void hold(json_t *o, const struct machine *m)
{
	const struct machine_hold *h = m->status.hold;
	json_t *j;

	if (!h)
		return;
	j = json_object();
	answer_time(j, "since", h->since);
	answer_put(j, "drain", h->drain);
	if (h->pods_left)
		json_object_set_new(j, "podsLeft", json_integer(h->pods_left));
	answer_put(j, "blockedBy", h->blocked_by);
	json_object_set_new(o, "hold", j);
	answer_help(o,
		    h->drain ? "when the maintenance is done: drover release %s"
			     : "to return it to service: drover release %s, or uncordon its Node",
		    m->meta.name);
}

json_t *explain_machine(const struct machine *m, const struct drain *d, int64_t now)
{
	const struct machine_operation *op = m->status.operation;
	json_t *o = json_object();

	answer_put(o, "kind", "Machine");
	answer_put(o, "name", m->meta.name);
	answer_put(o, "state", str_or(m->status.state, "known"));
	answer_time(o, "since", m->status.state_since);
	if (m->status.claim_ref)
		answer_put(o, "claim", m->status.claim_ref->name);
	if (m->status.warm_for)
		answer_put(o, "warmFor", m->status.warm_for->name);
	answer_put(o, "tenant", m->status.tenant.name);
	answer_put(o, "power", m->status.power.state);
	answer_time(o, "powerSeen", m->status.power.observed_time);
	answer_put(o, "network", m->status.network.segment);
	answer_time(o, "deletingSince", m->meta.deletion_timestamp);
	leave(o, m, d);
	hold(o, m);
	operation(o, m);
	explain_activity(o, m, now);
	answer_conditions(o, &m->status.conditions);
	quarantine(o, m);
	if (op) {
		help_operation(o, m);
		help_confirm_off(o, m);
	}
	for (size_t i = 0; i < m->status.conditions.n; i++)
		if (m->status.conditions.v[i].status == CONDITION_FALSE)
			answer_help_with(o, m->status.conditions.v[i].reason, m->meta.name);
	if (machine_is_in(m, MACHINE_RETIRED))
		answer_help(o, "to manage it again: drover approve %s", m->meta.name);
	/* Leave out a machine that has recovered: the failure of an earlier claim does not explain
	 * its state. */
	if (m->status.failures.n && !machine_is_in(m, MACHINE_FREE) &&
	    !machine_is_in(m, MACHINE_SERVING)) {
		const struct machine_failure *f = &m->status.failures.v[m->status.failures.n - 1];

		answer_error(o, "lastFailure", f->reason, f->message, f->time);
	}
	if (op && op->deadline && now > op->deadline && !json_object_get(o, "helps"))
		answer_help(
			o,
			"check that drover has a leader: kubectl get lease drover-controller -n "
			"drover-system",
			m->meta.name);
	explain_slow(o, m, now);
	return o;
}

/* --- claims ----------------------------------------------------------------------------------- */

/* Adds the approval of a claim that has no machine because it waits for one or was denied. Returns
 * true if it did. */
static bool explain_approval(json_t *o, const struct node_claim *n)
{
	const struct condition *c = condition_get(&n->status.conditions, APPROVED_CONDITION);

	if (!c || c->status == CONDITION_TRUE || n->status.machine_ref ||
	    n->meta.deletion_timestamp)
		return false;
	answer_error(o, "approval", c->reason, c->message, c->last_transition_time);
	if (c->status == CONDITION_FALSE) {
		answer_help(o, "to plan its pods anew at once: kubectl delete nodeclaim %s",
			    n->meta.name);
		return true;
	}
	answer_put(o, "waitingFor", wait_info[WAIT_APPROVAL].text);
	answer_help(o, "drover approve claim/%s", n->meta.name);
	answer_help(o, "to deny it: drover deny claim/%s --reason TEXT", n->meta.name);
	return true;
}

json_t *explain_claim(const struct node_claim *n, const struct machine *m, const struct drain *d,
		      int64_t now)
{
	const struct condition *ready = condition_get(&n->status.conditions, "Ready");
	json_t *o = json_object();
	bool failed = str_eq(n->status.phase, "Failed");

	answer_put(o, "kind", "NodeClaim");
	answer_put(o, "name", n->meta.name);
	answer_put(o, "state", str_or(n->status.phase, "Pending"));
	answer_time(o, "since", ready ? ready->last_transition_time : n->meta.creation_timestamp);
	answer_put(o, "tenant", n->spec.virtual_cluster_ref.name);
	answer_put(o, "pool", n->spec.node_pool_ref.name);
	answer_time(o, "deletingSince", n->meta.deletion_timestamp);
	if (failed && ready)
		answer_error(o, "lastError", ready->reason, ready->message,
			     ready->last_transition_time);
	answer_conditions(o, &n->status.conditions);
	if (m)
		json_object_set_new(o, "machine", explain_machine(m, d, now));
	else if (!explain_approval(o, n) && !failed)
		answer_put(
			o, "waitingFor",
			"its machine to accept the claim; after 30 s drover deletes the claim and "
			"plans again, unless the claim is for a machine to be adopted (drover "
			"approve --adopt)");
	if (failed)
		answer_help(
			o,
			"no action needed, drover creates a new claim; after three failed claims "
			"drover first waits at least 10 min",
			"");
	return o;
}
