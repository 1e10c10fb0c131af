#include "controller/life/stale_reason.h"
#include "api/reasons.h"
#include "base/str.h"
#include "controller/life/journal.h"

#define BACKOFF_MAX_MS (5 * 60 * 1000)

json_t *life_quarantine_reason(const json_t *quarantine)
{
	json_t *since = json_object_get(quarantine, "since");
	json_t *o = json_pack(
		"{s:n, s:s, s:{s:s, s:s}}", "nextAttempt", "waitingFor",
		str_eq(json_str_at(quarantine, "exit"), "auto") ? "Device" : "Approval",
		"lastError", "reason", str_or(json_str_at(quarantine, "reason"), "Unknown"),
		"message", str_or(json_str_at(quarantine, "message"), ""));

	if (since)
		json_object_set(json_object_get(o, "lastError"), "time", since);
	return o;
}

static bool of_bmc(enum reason r)
{
	return r == REASON_BmcNotTrusted || r == REASON_BmcAuthFailed ||
	       r == REASON_BmcAddressInvalid || r == REASON_BmcPasswordChange ||
	       r == REASON_BmcUnreachable || r == REASON_BmcBusy || r == REASON_BmcProtocolError ||
	       r == REASON_BmcUnsupported || r == REASON_ManagerConflict ||
	       r == REASON_ManagerRefused || r == REASON_ManagerUnreachable ||
	       r == REASON_SecretNotFound || r == REASON_ProviderNotReady;
}

static bool is_over(const struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	enum reason reason = reason_find(op->last_error.reason);
	int64_t at = l->journal.said_at;

	if (l->act.journaled || l->act.in_progress || op->next_attempt > loop_wall(l->c->loop))
		return false;
	if (of_bmc(reason) && l->observation.known && !l->observation.error &&
	    l->observation.read_at > at)
		return true;
	/* Do not clear a wait for a turn (WAITING_RATE) here: the module that reports the wait also
	 * clears it. PowerStateUnexpected stays until the machine is seen off. */
	if (machine_state_info[l->state].limit_s || op->waiting_for == WAITING_RATE ||
	    reason == REASON_PowerStateUnexpected)
		return false;
	if (at < l->act.began_at)
		at = l->act.began_at;
	if (at < l->act.ended_at)
		at = l->act.ended_at;
	return loop_now(l->c->loop) - at > 2 * BACKOFF_MAX_MS + l->c->o.idle_poll_ms;
}

static void write_told(struct life *l, json_t *told)
{
	l->journal.said_at = loop_now(l->c->loop);
	life_write(l, json_pack("{s:o}", "operation", told), NULL);
}

static bool ensure_quarantine_told(struct life *l, const struct machine_quarantine *q)
{
	const struct machine_operation *op = l->m->status.operation;
	const struct machine_error *told = &op->last_error;
	bool same = str_eq(told->reason, str_or(q->reason, "Unknown")) &&
		    str_eq(str_or(told->message, ""), str_or(q->message, ""));
	OWN_JSON as_json = NULL;

	if (same ? op->waiting_for == (q->exit == EXIT_AUTO ? WAITING_DEVICE : WAITING_APPROVAL)
		 : !str_empty(told->reason) && !is_over(l))
		return true;
	as_json = json_pack("{s:s*, s:s*, s:s}", "reason", q->reason, "message", q->message, "exit",
			    q->exit == EXIT_AUTO ? "auto" : "operator");
	life_set_time(as_json, "since", q->since);
	write_told(l, life_quarantine_reason(as_json));
	return false;
}

bool life_ensure_reason_current(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;

	/* said_at is 0 if another leader reported the reason. Set it to now, because the reason is
	 * cleared only when this process has not reported it for some time. */
	if (!l->journal.said_at)
		l->journal.said_at = loop_now(l->c->loop);
	if (l->state == MACHINE_QUARANTINED && l->m->status.quarantine)
		return ensure_quarantine_told(l, l->m->status.quarantine);
	if ((str_empty(op->last_error.reason) && op->waiting_for < 0) || !is_over(l))
		return true;
	write_told(l, json_pack("{s:n, s:n, s:n}", "waitingFor", "lastError", "nextAttempt"));
	return false;
}
