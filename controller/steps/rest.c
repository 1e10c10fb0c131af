/*
 * rest: the states in which nothing is under way: known, free,
 * quarantined, retired; and the gate through which a machine is offered (S1).
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
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/life/port.h"
#include "controller/life/power.h"
#include "controller/life/tenancy.h"
#include "controller/rules/identity.h"
#include "controller/rules/machine.h"
#include "controller/steps/adopt.h"
#include "controller/steps/requests.h"
#include "controller/steps/steps.h"
#include "controller/steps/warm.h"
#include "controller/tenant/tenant.h"

/* Out of use until a person lets it go on: the annotation stands as long as it is. */
static void take_out(struct life *l, const char *text)
{
	const char *release = labels_get(&l->m->meta.annotations, REQUEST_RELEASE);
	char message[400], since[STR_TIME_SIZE];
	json_t *x;

	if (!labels_get(&l->m->meta.annotations, REQUEST_QUARANTINE)) {
		request_annotate(l, REQUEST_QUARANTINE, text[0] ? text : "by a Drain");
		return;
	}
	str_copy(message, sizeof(message), text);
	str_clean(message);
	x = json_pack("{s:{s:s, s:s, s:s, s:s, s:n, s:n}, s:b, s:n}", "quarantine", "reason",
		      "QuarantinedByOperator", "message", message, "exit", "operator", "since",
		      str_time(since, loop_wall(l->c->loop)), "nextAttempt", "attempts", "clean", 0,
		      "leave");
	/* A request from before is none to end this. */
	if (release && request_new(l->m, REQUEST_RELEASE, NULL))
		json_object_set_new(x, "requests", json_pack("{s:s}", "release", release));
	if (l->state == MACHINE_QUARANTINED) {
		life_write(l, x, NULL);
		return;
	}
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Normal", "QuarantinedByOperator", message);
	life_goto(l, MACHINE_QUARANTINED, x, REASON_NONE, NULL);
}

/* What a person, or a Drain, wants to become of it is done; true: something was started. */
static bool meet_fate(struct life *l)
{
	const char *text;

	switch (request_fate(l, &text)) {
	case DRAIN_RETIRE:
		life_write(l, NULL, json_pack("{s:s}", "managementPolicy", "Retire"));
		return true;
	case DRAIN_QUARANTINE:
		take_out(l, text);
		return true;
	case DRAIN_RELEASE:
	case DRAIN_HOLD:
		return false;
	}
	return false;
}

/* To be retired, or its object is being deleted, which means the same. */
static bool unwanted(struct life *l)
{
	return l->m->spec.management_policy == MACHINE_RETIRE ||
	       (l->m->meta.deletion_timestamp && life_may_leave(l));
}

void step_known(struct life *l)
{
	const struct provider_object *p = life_provider(l);
	const char *approved = life_approved_wipe(l), *seg, *text;
	OWN(arena) a = arena_new();
	char node[256];
	bool kept_apart;

	if (unwanted(l)) {
		life_goto(l, MACHINE_RETIRED, NULL, REASON_NONE, NULL);
		return;
	}
	if (request_fate(l, &text) == DRAIN_RETIRE) {
		(void)meet_fate(l);
		return;
	}
	if (!life_seen(l, l->c->o.poll_ms * 5) || !life_consented(l))
		return;
	if (adopt_wanted(l)) {
		adopt(l);
		return;
	}
	if (approved) {
		life_goto(l, MACHINE_STOPPING, json_pack("{s:s}", "approvalID", approved),
			  REASON_NONE, NULL);
		return;
	}
	/* A tenant's, whose record here was lost: what is on its drives is not ours to wipe either. */
	if (tenants_may_run(l->parts->tenants, l->seen.uuid, identity_provider_id(l->m, a), node,
			    sizeof(node))) {
		life_wait(
			l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			"nothing is known of the machine, and Node %s of a tenant may be this one; "
			"`drover approve --wipe %s` if it holds nothing",
			node, l->name);
		return;
	}
	if (l->seen.power != PROVIDER_POWER_OFF) {
		if (!life_place_seen(l, l->c->o.poll_ms * 10))
			return;
		seg = l->place.known ? l->place.segment : "";
		kept_apart = l->place.proof != FABRIC_PROOF_NONE &&
			     (str_eq(seg, p->spec.network.segments.quarantine) ||
			      str_eq(seg, p->spec.network.segments.provisioning));
		if (!kept_apart) {
			life_wait(
				l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
				"the machine is on and nothing is known of it; `drover approve --wipe %s` if it holds nothing",
				l->name);
			return;
		}
	}
	life_goto(l, MACHINE_STOPPING, NULL, REASON_NONE, NULL);
}

void step_free(struct life *l)
{
	const struct node_claim *n;
	struct err e;
	json_t *x;

	if (unwanted(l)) {
		if (life_warm_leaves(l))
			return;
		life_goto(l, MACHINE_RETIRED, json_pack("{s:b, s:n}", "clean", 0, "leave"),
			  REASON_NONE, NULL);
		return;
	}
	if (life_approved_wipe(l)) {
		life_goto(l, MACHINE_STOPPING,
			  json_pack("{s:s, s:b}", "approvalID", life_approved_wipe(l), "clean", 0),
			  REASON_NONE, NULL);
		return;
	}
	if (meet_fate(l))
		return;
	if (l->m->status.leave) { /* it is over */
		life_write(l, json_pack("{s:n}", "leave"), NULL);
		return;
	}
	n = life_claim_wanting(l);
	if (!n) {
		life_warm(l);
		return;
	}
	if (life_warm_ends(l) || l->acting || life_outdated(l) ||
	    !life_seen(l, l->c->o.poll_ms * 5) || !life_consented(l) || !life_can_sign(l))
		return;
	if (l->seen.power != PROVIDER_POWER_OFF && !life_warm_may_be_on(l)) {
		life_wait(
			l, WAITING_APPROVAL, REASON_PowerStateUnexpected,
			"recorded free and off, but the BMC says it is not off; `drover approve --wipe %s`",
			l->name);
		return;
	}
	if (life_clean(l, &n->spec.wipe, &e) < 0) {
		life_goto(l, MACHINE_STOPPING, json_pack("{s:b}", "clean", 0),
			  REASON_EraseUnverified, "%s", e.text);
		return;
	}
	x = json_pack("{s:{s:s, s:s}}", "claimRef", "name", n->meta.name, "uid", n->meta.uid);
	if (l->m->status.warm_for) /* its agent's session goes on */
		json_object_set_new(x, "operation",
				    json_pack("{s:s, s:I}", "id", l->m->status.operation->id,
					      "bootNumber",
					      (json_int_t)l->m->status.operation->boot_number));
	else
		json_object_set_new(x, "agent", json_null());
	life_goto(l, MACHINE_CLAIMED, x, REASON_NONE, NULL);
}

/* A person put it there: it goes on when the annotation is gone, or at a request to release. */
static void wait_for_release(struct life *l)
{
	const char *v = request_new(l->m, REQUEST_RELEASE, l->m->status.requests.release);
	json_t *x;

	if (life_paused(l))
		return;
	if (labels_get(&l->m->meta.annotations, REQUEST_QUARANTINE)) {
		if (v)
			request_annotate(l, REQUEST_QUARANTINE, NULL);
		return;
	}
	x = json_pack("{s:n}", "quarantine");
	if (v)
		json_object_set_new(x, "requests", json_pack("{s:s}", "release", v));
	life_goto(l, MACHINE_STOPPING, x, REASON_NONE, NULL);
}

/* Our agent, left behind by a wipe that failed: its power and its medium are ours to take away. */
static bool agent_taken_away(struct life *l)
{
	if (l->m->status.claim_ref || !l->m->status.operation ||
	    !life_seen(l, l->c->o.idle_poll_ms))
		return false;
	if (l->seen.power == PROVIDER_POWER_OFF)
		return life_agent_left(l) && !life_agent_off(l);
	if (!life_shows_ours(l))
		return false;
	life_power(l, false);
	return true;
}

void step_quarantined(struct life *l)
{
	const struct machine_quarantine *q = l->m->status.quarantine;
	const char *approved = life_approved_wipe(l);
	int64_t now = loop_wall(l->c->loop), attempts = q ? q->attempts : 0,
		due = quarantine_due(l->m);
	const char *text;
	json_t *next;

	agent_session_close(l->agent);
	if (unwanted(l) && !l->m->status.claim_ref) {
		life_goto(l, MACHINE_RETIRED, json_pack("{s:n, s:n}", "quarantine", "leave"),
			  REASON_NONE, NULL);
		return;
	}
	if (agent_taken_away(l))
		return;
	if (approved) {
		life_goto(l, MACHINE_STOPPING,
			  json_pack("{s:s, s:n}", "approvalID", approved, "quarantine"),
			  REASON_NONE, NULL);
		return;
	}
	/* Off is what its claim waits for, and a person saw it. */
	if (l->m->status.claim_ref && !life_paused(l) && life_off_confirmed(l)) {
		life_goto(l, MACHINE_STOPPING,
			  json_pack("{s:{s:s}}", "operation", "id", l->m->status.operation->id),
			  REASON_NONE, NULL);
		return;
	}
	if (q && str_eq(q->reason, "QuarantinedByOperator") && !l->m->status.claim_ref) {
		wait_for_release(l);
		return;
	}
	/* What comes out of it by itself would be in use again; as long as off and cut are not proved that is still to be
	 * asked for. */
	if (!l->m->status.claim_ref && request_fate(l, &text) != DRAIN_RELEASE &&
	    (due || request_fate(l, &text) == DRAIN_RETIRE)) {
		(void)meet_fate(l);
		return;
	}
	if (!life_seen(l, l->c->o.idle_poll_ms) || !due)
		return;
	if (now < due) {
		loop_timer_start(&l->timer, due - now);
		return;
	}
	if (life_paused(l))
		return;
	/* The count stays until a passed wipe: each further try waits twice as long. */
	next = json_pack("{s:{s:n, s:I, s:s, s:s, s:s}}", "quarantine", "nextAttempt", "attempts",
			 (json_int_t)(attempts + 1), "reason", str_or(q->reason, "Unknown"),
			 "message", str_or(q->message, ""), "exit", "auto");
	life_goto(l, MACHINE_STOPPING, next, REASON_NONE, NULL);
}

void step_retired(struct life *l)
{
	if (l->m->meta.deletion_timestamp)
		life_finalizer(l, false);
	else if (l->m->spec.management_policy != MACHINE_RETIRE)
		life_goto(l, MACHINE_KNOWN, NULL, REASON_NONE, NULL);
}

void step_gone(struct life *l)
{
	agent_session_close(l->agent);
}
