/*
 * requests: compares each request annotation of a Machine with the last value acted on, and acts on
 * new values. Separate from the steps, because a request may come in any state.
 */
#include <string.h>

#include "controller/steps/requests.h"
#include "api/annotations.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/drain/drains.h"
#include "controller/life/act.h"
#include "controller/life/bmc.h"
#include "controller/life/consent.h"
#include "controller/life/journal.h"
#include "controller/life/listing.h"
#include "controller/rules/machine.h"
#include "providers/provider.h"

/* --- retry ------------------------------------------------------------------------------------ */

static void forget_backoffs(struct life *l)
{
	life_act_retry(l);
	/* Send an act again at once if it was accepted but had no effect. */
	if (!l->act.in_progress)
		life_act_unsent(l);
	life_observation_retry(l);
	life_listing_retry(l);
	l->boot.retry = l->agent && agent_session_has_other_protocol(l->agent);
	l->attached.again |=
		!str_empty(l->m->status.bmc.refused_secret_version) ||
		(l->observation.error && l->observation.error->code == PROVIDER_PASSWORD_CHANGE);
}

/* Sends the event that shows the operator that drover carries out the retry, and what it does.
 * ended: the retry ends a quarantine. */
static void tell_retried(const struct life *l, bool ended)
{
	const struct machine_operation *op = l->m->status.operation;
	char text[200];

	if (ended)
		str_copy(text, sizeof(text), "an operator ended the quarantine with a retry");
	else if (!str_empty(l->m->status.bmc.refused_secret_version))
		str_copy(text, sizeof(text),
			 "an operator requested a retry: drover tries the refused login once more");
	else if (op && op->next_attempt > loop_wall(l->c->loop))
		str_format(text, sizeof(text),
			   "an operator requested a retry: drover tries step %.60s again at once, "
			   "after attempt %lld",
			   str_or(op->step, "-"), (long long)op->attempt);
	else
		str_copy(text, sizeof(text),
			 "an operator requested a retry, but drover was not waiting to retry a "
			 "step");
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Normal", "Retried", text);
}

bool request_ensure_retried(struct life *l, enum life_decision *d)
{
	const struct machine_status *st = &l->m->status;
	const struct machine_quarantine *q = st->quarantine;
	const char *v = request_new(l->m, REQUEST_RETRY, st->requests.retry);
	bool again = l->state == MACHINE_QUARANTINED && q && q->exit == EXIT_AUTO;
	json_t *s;

	if (!v || (again && !life_ensure_unpaused(l)))
		return true;
	log_info("an operator requested a retry", LOG_S("machine", l->name), LOG_S("request", v));
	tell_retried(l, again);
	forget_backoffs(l);
	l->boot.over_tls = false;
	s = json_pack("{s:{s:s}, s:{s:n, s:n, s:n}, s:{s:n}}", "requests", "retry", v, "bmc",
		      "refusedSecretVersion", "mediaOver", "drivesNotListed", "operation",
		      "nextAttempt");
	if (again) {
		json_object_set_new(s, "quarantine", json_pack("{s:n}", "nextAttempt"));
		*d = life_goto(l, MACHINE_STOPPING, s, REASON_NONE, NULL);
	} else {
		life_write(l, s, NULL);
	}
	return false;
}

/* --- quarantine or retirement ----------------------------------------------------------------- */

enum drain_then request_end_state(const struct life *l, const char **text)
{
	const struct machine *m = l->m;
	const char *asked = labels_get(&m->meta.annotations, REQUEST_QUARANTINE);
	const struct machine_leave *lv = m->status.leave;
	const char *by = lv ? str_or(lv->then_by, lv->drain) : NULL;
	enum drain_then then = leave_then(m);
	const struct drain *d;
	bool escalate;

	*text = str_or(asked, "");
	if (then != DRAIN_QUARANTINE && then != DRAIN_RETIRE) {
		d = drains_wants(l->c, l->name, &escalate);
		by = d ? d->meta.name : NULL;
		then = d ? (enum drain_then)d->spec.then : DRAIN_RELEASE;
	}
	d = by ? CTX_GET(l->c, OBJECT_DRAIN, drain, by) : NULL;
	if (!asked && (d || by))
		*text = d ? str_or(d->spec.reason, by) : by;
	if (then == DRAIN_RETIRE)
		return DRAIN_RETIRE;
	return asked || then == DRAIN_QUARANTINE ? DRAIN_QUARANTINE : DRAIN_RELEASE;
}
