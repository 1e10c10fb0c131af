/*
 * rest: the states in which nothing is in progress: known, free, quarantined and retired. Also the
 * checks before a machine is offered to claims (safety invariant S1 of docs/architecture.md).
 * Tests: tests/world/test_verbs.c, tests/world/test_bmc.c
 */
#include <string.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/life/agent_boot.h"
#include "controller/life/bmc.h"
#include "controller/life/boot_marks.h"
#include "controller/life/clean_proof.h"
#include "controller/life/consent.h"
#include "controller/life/identity.h"
#include "controller/life/journal.h"
#include "controller/life/log_out.h"
#include "controller/life/life.h"
#include "controller/life/port.h"
#include "controller/life/power.h"
#include "controller/life/takeover.h"
#include "controller/life/tenancy.h"
#include "controller/rules/identity.h"
#include "controller/rules/machine.h"
#include "controller/steps/adopt.h"
#include "controller/steps/requests.h"
#include "controller/steps/steps.h"
#include "controller/steps/warm.h"
#include "controller/tenant/tenant.h"

/* Quarantines the machine until an operator releases it. First sets the annotation
 * REQUEST_QUARANTINE if it is missing. The annotation stays until the release. */
static enum life_decision take_out(struct life *l, const char *text)
{
	const char *release = labels_get(&l->m->meta.annotations, REQUEST_RELEASE);
	char message[400], since[STR_TIME_SIZE];
	json_t *x;

	if (!labels_get(&l->m->meta.annotations, REQUEST_QUARANTINE)) {
		life_annotate(l, REQUEST_QUARANTINE, text[0] ? text : "by a Drain");
		return LIFE_STAY;
	}
	str_copy(message, sizeof(message), text);
	str_clean(message);
	x = json_pack("{s:{s:s, s:s, s:s, s:s, s:n, s:n}, s:b, s:n}", "quarantine", "reason",
		      "QuarantinedByOperator", "message", message, "exit", "operator", "since",
		      str_time(since, loop_wall(l->c->loop)), "nextAttempt", "attempts", "clean", 0,
		      "leave");
	/* Record a release request from before the quarantine as handled, so that it does not end
	 * the quarantine. */
	if (release && request_new(l->m, REQUEST_RELEASE, NULL))
		json_object_set_new(x, "requests", json_pack("{s:s}", "release", release));
	if (l->state == MACHINE_QUARANTINED) {
		life_write(l, x, NULL);
		return LIFE_STAY;
	}
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Normal", "QuarantinedByOperator", message);
	return life_goto(l, MACHINE_QUARANTINED, x, REASON_NONE, NULL);
}

/* True if no operator or Drain wants the machine to be retired or quarantined. Otherwise starts the
 * retirement or quarantine and returns false; *d is the decision. */
static bool ensure_end_state(struct life *l, enum life_decision *d)
{
	const char *text;

	switch (request_end_state(l, &text)) {
	case DRAIN_RETIRE:
		/* the machine retires later, because it must be wiped first */
		if (l->m->spec.management_policy == MACHINE_RETIRE)
			return true;
		life_write(l, NULL, json_pack("{s:s}", "managementPolicy", "Retire"));
		return false;
	case DRAIN_QUARANTINE:
		*d = take_out(l, text);
		return false;
	case DRAIN_RELEASE:
	case DRAIN_HOLD:
		return true;
	}
	return true;
}

/* Sends an event, once in each state, if the machine stays only because it was not wiped. The
 * condition Managed shows the same. */
static void report_unwiped(struct life *l)
{
	OWN(arena) a = arena_new();
	const char *text = machine_wipe_required(l->m, a);

	if (!text || l->unwiped_told)
		return;
	l->unwiped_told = true;
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", reason_name(REASON_WipeRequired),
		  text);
}

/* True if the machine may retire now. spec.managementPolicy must be Retire, or the object is being
 * deleted and drover may act on the deletion. A wipe after the last tenancy must be proved, or an
 * administrator lets the machine go without one (spec.waivers). */
static bool ensure_may_retire(struct life *l)
{
	if (l->m->spec.management_policy != MACHINE_RETIRE &&
	    !(l->m->meta.deletion_timestamp && life_ensure_may_leave(l)))
		return false;
	if (/* mutant: retired-unwiped */ !machine_is_unwiped(l->m))
		return true;
	report_unwiped(l);
	return false;
}

/* True if the machine certainly serves no tenant, so that its drives may be wiped. Otherwise waits
 * for an operator. Status alone does not prove this: it may have been lost or restored from a
 * backup while the machine served a tenant. A Node of a tenant, or a port in a tenant's segment,
 * reveals such a machine, even if it is off. */
static bool ensure_nobodys(struct life *l)
{
	OWN(arena) a = arena_new();
	char node[256], unread[512];

	/* mutant: known-tenants-unread */
	switch (tenants_unread(l->parts->tenants, unread, sizeof(unread))) {
	case TENANTS_READ:
		break;
	case TENANTS_STARTING:
		loop_timer_start(&l->timer, l->c->o.poll_ms);
		return false;
	case TENANTS_UNREAD:
		life_wait(l, WAITING_APPROVAL, REASON_TenantUnreachable,
			  "drover has no record of this machine, and it may belong to "
			  "VirtualCluster %s; if the machine may be wiped, run `drover approve "
			  "--wipe %s`",
			  unread, l->name);
		return false;
	}
	/* mutant: known-node */
	if (tenants_may_run(l->parts->tenants, life_uuid(l), identity_provider_id(l->m, a), node,
			    sizeof(node))) {
		life_wait(
			l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			"drover has no record of this machine, and Node %s of a tenant may run on "
			"it; if the machine may be wiped, run `drover approve --wipe %s`",
			node, l->name);
		return false;
	}
	if (!life_ensure_moves_landed(l, NULL) ||
	    !life_ensure_port_observed(l, l->c->o.poll_ms * 10))
		return false;
	/* mutant: known-port */
	if (life_in_tenants_segment(l)) {
		life_wait(l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			  "drover has no record of this machine, and its port is in %s; if the "
			  "machine may be wiped, run `drover approve --wipe %s`",
			  l->port.segment, l->name);
		return false;
	}
	if (l->observation.power == PROVIDER_POWER_OFF || life_in_drovers_segment(l))
		return true;
	life_wait(l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
		  "the machine is on and drover has no record of it; if the machine may be wiped, "
		  "run `drover approve --wipe %s`",
		  l->name);
	return false;
}

enum life_decision step_known(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const char *approved = life_approved_wipe(l), *text;

	if (ensure_may_retire(l))
		return life_goto(l, MACHINE_RETIRED, NULL, REASON_NONE, NULL);
	if (request_end_state(l, &text) == DRAIN_RETIRE && !ensure_end_state(l, &d))
		return d;
	if (!life_ensure_observed(l, l->c->o.poll_ms * 5) || !life_ensure_consented(l))
		return d;
	if (adopt_wanted(l))
		return adopt(l);
	if (approved)
		return life_goto(l, MACHINE_STOPPING, json_pack("{s:s}", "approvalID", approved),
				 REASON_NONE, NULL);
	if (!ensure_nobodys(l))
		return d;
	return life_goto(l, MACHINE_STOPPING, NULL, REASON_NONE, NULL);
}

#define CAME_ON                                                                                    \
	"status says free and off, but the machine is on: drover no longer counts it as clean, "   \
	"and wipes it once it is off; if drover may switch it off and wipe it now, run `drover "   \
	"approve --wipe %s`"

/* True if the machine is on and drover did not switch it on. False if the BMC reports the identity
 * of a different machine, as after a change of its address, because the power of that machine does
 * not count. */
static bool came_on(const struct life *l)
{
	struct err e;

	return l->observation.known && l->observation.power == PROVIDER_POWER_ON &&
	       !l->m->status.warm_for && !life_identity_differs(l, &e);
}

/* Handles a free machine that was found on, or that is not clean. Whoever switched it on may have
 * written to its drives, so drover no longer offers it. Drover does not switch it off. Once the
 * machine is off it is wiped again, unless it may serve a tenant. */
static enum life_decision wipe_again(struct life *l)
{
	if (l->m->status.clean) {
		life_unclean(l, CAME_ON, l->name);
		return LIFE_STAY;
	}
	if (!life_ensure_observed(l, l->c->o.poll_ms * 5) || !life_ensure_consented(l) ||
	    !life_ensure_unpaused(l))
		return LIFE_STAY;
	if (l->observation.power != PROVIDER_POWER_OFF && !life_warm_may_be_on(l))
		return life_wait(l, WAITING_APPROVAL, REASON_PowerStateUnexpected, CAME_ON,
				 l->name);
	if (!ensure_nobodys(l))
		return LIFE_STAY;
	log_info("machine is wiped again", LOG_S("machine", l->name));
	return life_goto(l, MACHINE_STOPPING, NULL, REASON_NONE, NULL);
}

enum life_decision step_free(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const struct node_claim *n;
	struct err e;
	json_t *x;

	if (ensure_may_retire(l)) {
		if (!life_ensure_warm_left(l))
			return d;
		return life_goto(l, MACHINE_RETIRED, json_pack("{s:b, s:n}", "clean", 0, "leave"),
				 REASON_NONE, NULL);
	}
	if (life_approved_wipe(l))
		return life_goto(
			l, MACHINE_STOPPING,
			json_pack("{s:s, s:b}", "approvalID", life_approved_wipe(l), "clean", 0),
			REASON_NONE, NULL);
	if (!ensure_end_state(l, &d))
		return d;
	if (l->m->status.leave) { /* the machine no longer leaves a tenant, so clear status.leave */
		life_write(l, json_pack("{s:n}", "leave"), NULL);
		return d;
	}
	if (!l->m->status.clean || /* mutant: free-on */ came_on(l))
		return wipe_again(l);
	n = life_claim_wanting(l);
	if (!n)
		return life_warm(l);
	if (!life_ensure_warm_ended(l) || l->act.in_progress)
		return d;
	if (life_outdated(l))
		return life_begin_again(l);
	if (!life_ensure_observed(l, l->c->o.poll_ms * 5) || !life_ensure_consented(l) ||
	    !life_ensure_signable(l))
		return d;
	if (l->observation.power != PROVIDER_POWER_OFF && !life_warm_may_be_on(l))
		return life_wait(
			l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			"status says free and off, but the BMC does not report the machine off; "
			"to wipe the machine, run `drover approve --wipe %s`",
			l->name);
	if (life_clean(l, &n->spec.wipe, &e) < 0)
		return life_goto(l, MACHINE_STOPPING, json_pack("{s:b}", "clean", 0),
				 REASON_EraseUnverified, "%s", e.text);
	x = json_pack("{s:{s:s, s:s}}", "claimRef", "name", n->meta.name, "uid", n->meta.uid);
	/* keep id and boot number: the session of the warm machine's agent continues */
	if (l->m->status.warm_for)
		json_object_set_new(x, "operation",
				    json_pack("{s:s, s:I}", "id", l->m->status.operation->id,
					      "bootNumber",
					      (json_int_t)l->m->status.operation->boot_number));
	else
		json_object_set_new(x, "agent", json_null());
	return life_goto(l, MACHINE_CLAIMED, x, REASON_NONE, NULL);
}

/* Returns the decision for a machine that an operator has quarantined. The quarantine ends when the
 * annotation REQUEST_QUARANTINE is removed. A request to release makes drover remove that
 * annotation. */
static enum life_decision wait_for_release(struct life *l)
{
	const char *v = request_new(l->m, REQUEST_RELEASE, l->m->status.requests.release);
	json_t *x;

	if (!life_ensure_unpaused(l))
		return LIFE_STAY;
	if (labels_get(&l->m->meta.annotations, REQUEST_QUARANTINE)) {
		if (v)
			life_annotate(l, REQUEST_QUARANTINE, NULL);
		return LIFE_STAY;
	}
	x = json_pack("{s:n}", "quarantine");
	if (v)
		json_object_set_new(x, "requests", json_pack("{s:s}", "release", v));
	return life_goto(l, MACHINE_STOPPING, x, REASON_NONE, NULL);
}

/* True if nothing of drover's agent is left after a failed wipe: the agent does not run, and its
 * boot medium is removed. Otherwise switches the machine off, or removes the medium, and returns
 * false. Also true, without a change, for a machine that does not run drover's agent, and while the
 * BMC cannot be read. */
static bool ensure_agent_taken_away(struct life *l)
{
	struct err e;

	if (l->m->status.claim_ref || !l->m->status.operation ||
	    !life_ensure_observed(l, l->c->o.idle_poll_ms) || life_identity(l, &e) < 0)
		return true;
	if (l->observation.power == PROVIDER_POWER_OFF)
		return !life_agent_left(l) || life_ensure_agent_gone(l);
	if (!life_booted_by_drover(l))
		return true;
	life_power(l, false);
	return false;
}

enum life_decision step_quarantined(struct life *l)
{
	enum life_decision d = LIFE_STAY;
	const struct machine_quarantine *q = l->m->status.quarantine;
	const char *approved = life_approved_wipe(l);
	int64_t now = loop_wall(l->c->loop), attempts = q ? q->attempts : 0,
		due = quarantine_due(l->m);
	const char *text;
	json_t *next;

	if (l->agent)
		agent_session_close(l->agent);
	if (ensure_may_retire(l) && !l->m->status.claim_ref)
		return life_goto(l, MACHINE_RETIRED, json_pack("{s:n, s:n}", "quarantine", "leave"),
				 REASON_NONE, NULL);
	if (!ensure_agent_taken_away(l))
		return d;
	if (approved)
		return life_goto(l, MACHINE_STOPPING,
				 json_pack("{s:s, s:n}", "approvalID", approved, "quarantine"),
				 REASON_NONE, NULL);
	/* The claim can end only once the machine is off. If an operator confirms that, go to
	 * stopping with the same operation id, because the confirmation applies to this operation
	 * only. */
	if (l->m->status.claim_ref && life_ensure_unpaused(l) && life_ensure_off_confirmed(l))
		return life_goto(
			l, MACHINE_STOPPING,
			json_pack("{s:{s:s}}", "operation", "id", l->m->status.operation->id),
			REASON_NONE, NULL);
	if (q && str_eq(q->reason, "QuarantinedByOperator") && !l->m->status.claim_ref) {
		return wait_for_release(l);
	}
	/* A machine that leaves quarantine by itself would be used again. Therefore first retire or
	 * quarantine it if an operator or a Drain wants that. Skip this while the machine has a
	 * claim, because it must first be proved off and isolated. */
	if (!l->m->status.claim_ref && (due || request_end_state(l, &text) == DRAIN_RETIRE) &&
	    !ensure_end_state(l, &d))
		return d;
	if (!life_ensure_observed(l, l->c->o.idle_poll_ms) || !due)
		return d;
	if (now < due) {
		loop_timer_start(&l->timer, due - now);
		return d;
	}
	if (!life_ensure_unpaused(l))
		return d;
	/* Keep the number of attempts until a wipe passes: each further attempt waits twice as
	 * long. */
	next = json_pack("{s:{s:n, s:I, s:s, s:s, s:s}}", "quarantine", "nextAttempt", "attempts",
			 (json_int_t)(attempts + 1), "reason", str_or(q->reason, "Unknown"),
			 "message", str_or(q->message, ""), "exit", "auto");
	return life_goto(l, MACHINE_STOPPING, next, REASON_NONE, NULL);
}

enum life_decision step_retired(struct life *l)
{
	if (!l->m->meta.deletion_timestamp && l->m->spec.management_policy != MACHINE_RETIRE)
		return life_goto(l, MACHINE_KNOWN, NULL, REASON_NONE, NULL);
	if (/* mutant: session-kept */ life_ensure_logged_out(l) && l->m->meta.deletion_timestamp)
		(void)life_ensure_finalizer(l, false);
	return LIFE_STAY;
}

enum life_decision step_gone(struct life *l)
{
	agent_session_close(l->agent);
	return LIFE_STAY;
}
