/*
 * power: sends power requests to the BMC, and handles an operator's confirmation that the machine
 * is off.
 * Tests: tests/world/test_bmc.c, tests/world/test_verbs.c
 */
#include <stdio.h>
#include <string.h>

#include "controller/life/power.h"
#include "api/annotations.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/act.h"
#include "controller/life/bmc.h"
#include "controller/life/bmc_open.h"
#include "controller/life/boot_marks.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/power_turn.h"
#include "controller/life/queue_wait.h"
#include "controller/life/takeover.h"
#include "controller/rules/identity.h"

/* Number of consecutive failed reads of the BMC after which an operator's confirmation of off is
 * accepted. */
#define DEAD_READS 3
/* Time in which a power request is not repeated. */
#define POWER_PATIENCE_MS 60000

/* Voids the operator's confirmation of off by giving the operation a new id. */
static void void_confirmation(struct life *l)
{
	uint8_t raw[16];
	char id[33];

	loop_random_bytes(l->c->loop, raw, sizeof(raw));
	str_hex(id, raw, sizeof(raw));
	ctx_event(
		l->c, OBJECT_MACHINE, &l->m->meta, "Warning", "OffNotConfirmed",
		"the BMC reports On; the operator's confirmation that the machine is off is void");
	life_write(l,
		   json_pack("{s:{s:n}, s:{s:s}}", "power", "confirmedBy", "operation", "id", id),
		   NULL);
}

bool life_ensure_off_confirmed(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	const char *id = op ? op->id : NULL;
	enum reason why;
	char text[400], note[900];
	bool shut = !life_bmc_is_open(l, &why, text) && why != REASON_NONE,
	     error = l->observation.error,
	     dead = shut || (error && l->observation.backoff.failures >= DEAD_READS);

	if (str_empty(id) || !str_eq(labels_get(&l->m->meta.annotations, REQUEST_CONFIRM_OFF), id))
		return false;
	if (!shut) /* also read the BMC: it may answer again, and contradict the operator */
		(void)life_ensure_observed(l, l->c->o.poll_ms * 5);
	if (!dead && (error || !l->observation.known))
		return false;
	/* mutant: confirmed-though-on */
	if (!dead && l->observation.power == PROVIDER_POWER_ON) {
		void_confirmation(l);
		return false;
	}
	if (str_eq(l->m->status.power.confirmed_by, id))
		return true;
	str_format(
		note, sizeof(note),
		"an operator confirmed that the machine is off (operation %s, state %s); its BMC "
		"reports: %s",
		id, machine_state_info[l->state].name,
		shut   ? text
		: dead ? l->observation.error->text
		       : provider_power_names[l->observation.power]);
	log_warn("off confirmed by an operator", LOG_S("machine", l->name), LOG_S("operation", id));
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", "OffConfirmed", note);
	life_write(l, json_pack("{s:{s:s}}", "power", "confirmedBy", id), NULL);
	return false;
}

/* Ends an act. A request that was withheld is not an error of the BMC. It is sent once the Lease is
 * renewed. */
static void acted(struct life *l, const struct err *e)
{
	bool unsent = e && l->power.unsent;

	life_queue_left(l);
	life_acted(l, unsent ? NULL : e);
	if (unsent)
		life_act_unsent(l);
}

static void on_powered(const struct provider_observation *o, const char *handle,
		       const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)o;
	(void)handle;
	l->power.ended_at = loop_now(l->c->loop);
	acted(l, e);
}

void life_bmc_acted(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *life)
{
	(void)o;
	(void)handle;
	acted(life, e);
}

/* Called immediately before the request is sent (invariant S7), because queueing and login may have
 * taken a while. True if the request may be sent. */
static bool may_act(void *arg)
{
	struct life *l = arg;

	l->power.unsent = /* mutant: act-not-asked-again */ !life_ensure_may_act(l, l->act.step);
	return !l->power.unsent;
}

/* provider_call.fits: returns 0 if `seen`, the observation that the call itself has just read, is
 * of the approved machine; otherwise -1 with *e. The call must check that itself, because the
 * earlier observation that led to the act may be of a different BMC. */
static int fits(const struct provider_observation *seen, void *arg, struct err *e)
{
	struct life *l = arg;
	const struct machine *m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);

	if (!m)
		return err_set(e, ERR_CONFLICT, 0, "the Machine object no longer exists");
	if (identity_bmc(m->spec.identity, seen->system_uuid, seen->serial, e) < 0)
		return -1;
	/* Accept a BMC that reports no override here: some BMCs show it elsewhere than in the
	 * System resource. */
	if (str_eq(l->act.step, "power-on") && seen->boot_override != PROVIDER_OVERRIDE_NONE &&
	    seen->boot_override != l->observation.override)
		return err_set(e, ERR_UNAVAILABLE, 0,
			       "not switched on: another client changed the boot override");
	return 0;
}

/* provider_call.begun: the request has left the queue. The time in which the act is not repeated
 * starts only now. */
static void on_begun(int64_t waited_ms, void *arg)
{
	struct life *l = arg;

	l->act.began_at = loop_now(l->c->loop);
	life_queue_begun(waited_ms, l);
}

struct provider_call life_bmc_call(struct life *l)
{
	l->power.unsent = false;
	life_queue_asked(l);
	return (struct provider_call){
		.op_id = l->m->status.operation->id,
		.fence = l->m->status.operation->fence,
		.may_act = may_act,
		.fits = fits,
		.session = str_or(l->m->status.bmc.session_uri, ""),
		.awaited = machine_is_awaited(l->m),
		.begun = on_begun,
		.done = life_bmc_acted,
		.arg = l,
	};
}

enum life_turn life_bmc_act(struct life *l, const char *step, enum life_class cls,
			    int64_t patience_ms)
{
	return life_ensure_bmc_open(l, false) && life_ensure_predecessor_done(l)
		       ? life_act(l, step, cls, patience_ms)
		       : LIFE_HOLD;
}

/* Reports a power-off that the BMC accepted more than once and that had no effect: the BMC still
 * answers On after the last attempt. */
static void report_still_on(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	const struct life_acts *act = &l->act;

	if (l->observation.power != PROVIDER_POWER_ON || !op || !str_eq(op->step, "power-off") ||
	    op->attempt < 2 || !str_eq(act->step, op->step) || act->journaled || act->in_progress ||
	    !act->began_at || act->ended_at < act->began_at ||
	    l->observation.read_at < act->ended_at || writer_busy(&l->journal.write))
		return;
	life_wait(l, WAITING_DEVICE, REASON_PowerNotConfirmed,
		  "%s accepted power-off (attempt %lld) but still reports On",
		  l->m->spec.bmc ? str_or(l->m->spec.bmc->address, "its BMC") : "its BMC",
		  (long long)op->attempt);
}

void life_power(struct life *l, bool on)
{
	struct provider_call call;

	/* No machine that is recorded as clean serves a tenant. If such a machine is on, status was
	 * restored from a backup, or another client switched the machine on. It may then run a
	 * tenant's workload, so do not switch it off. */
	if (!on && l->m->status.clean && !life_booted_by_drover(l) && !l->m->status.agent) {
		life_wait(l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			  "status says clean and off, but the machine is on without drover's boot "
			  "medium; to wipe the machine, run `drover approve --wipe %s`",
			  l->name);
		return;
	}
	if (on && !(life_ensure_bmc_open(l, false) && life_ensure_predecessor_done(l) &&
		    life_ensure_power_turn(l, POWER_PATIENCE_MS)))
		return;
	if (life_bmc_act(l, on ? "power-on" : "power-off", LIFE_PROBE_FIRST, POWER_PATIENCE_MS) !=
	    LIFE_GO) {
		if (!on)
			report_still_on(l);
		return;
	}
	call = life_bmc_call(l);
	call.done = on_powered;
	provider_power(l->driver->provider, l->bmc, on, &call);
}
