/*
 * life_rest: the states in which nothing is under way: known, free,
 * quarantined, retired; and the gate through which a machine is offered (S1).
 */
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "controller/keys.h"
#include "controller/life.h"
#include "controller/life_wipe.h"
#include "controller/tenant.h"

#define QUARANTINE_FIRST_MS (10 * 60 * 1000)
#define QUARANTINE_CAP_MS (6 * 3600 * 1000)

struct twin {
	const struct life *l;
	const char *found, *what;
};

static bool is_twin(const struct kube_entry *en, void *arg)
{
	struct twin *t = arg;
	const struct machine *a = t->l->m, *b = en->object;

	if (str_eq(a->meta.name, b->meta.name) || b->spec.management_policy == MACHINE_RETIRE)
		return true;
	if (a->spec.identity && b->spec.identity && a->spec.identity->system_uuid &&
	    b->spec.identity->system_uuid &&
	    strcasecmp(a->spec.identity->system_uuid, b->spec.identity->system_uuid) == 0)
		t->what = "spec.identity.systemUUID";
	else if (a->spec.bmc && b->spec.bmc && str_eq(a->spec.bmc->address, b->spec.bmc->address))
		t->what = "spec.bmc.address";
	else
		return true;
	t->found = b->meta.name;
	return false;
}

/* May drover act on this machine at all?  False: it waits, and says for what. */
static bool consented(struct life *l)
{
	struct twin t = {.l = l};
	struct err e;

	if (l->m->spec.management_policy != MACHINE_MANAGE)
		return false;
	if (life_identity(l, &e) < 0) {
		life_wait(l, WAITING_APPROVAL,
			  e.kind == ERR_NOT_FOUND ? "NotApproved" : "IdentityMismatch", "%s",
			  e.text);
		return false;
	}
	kube_cache_each(l->c->cache[OBJECT_MACHINE], is_twin, &t);
	if (t.found) {
		life_wait(l, WAITING_APPROVAL, "DuplicateIdentity", "%s is that of machine %s too",
			  t.what, t.found);
		return false;
	}
	return true;
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
	const char *approved = life_approved_wipe(l), *seg;
	char node[256];
	bool kept_apart;

	if (unwanted(l)) {
		life_goto(l, MACHINE_RETIRED, NULL, NULL, NULL);
		return;
	}
	if (!life_seen(l, l->c->o.poll_ms * 5) || !consented(l))
		return;
	if (approved) {
		life_goto(l, MACHINE_STOPPING, json_pack("{s:s}", "approvalID", approved), NULL,
			  NULL);
		return;
	}
	if (l->seen.power != PROVIDER_POWER_OFF) {
		if (!life_place_seen(l, l->c->o.poll_ms * 10))
			return;
		seg = l->place.known ? l->place.segment : "";
		kept_apart = l->place.proof != FABRIC_PROOF_NONE &&
			     (str_eq(seg, p->spec.network.segments.quarantine) ||
			      str_eq(seg, p->spec.network.segments.provisioning));
		if (!kept_apart || tenant_find_uuid(l->c, l->seen.uuid, node, sizeof(node))) {
			life_wait(
				l, WAITING_APPROVAL, "PowerStateUnexpected",
				"the machine is on and nothing is known of it; `drover approve --wipe %s` if it holds nothing",
				l->name);
			return;
		}
	}
	life_goto(l, MACHINE_STOPPING, NULL, NULL, NULL);
}

void step_free(struct life *l)
{
	const struct node_claim *n;
	struct err e;
	json_t *x;

	if (unwanted(l)) {
		life_goto(l, MACHINE_RETIRED, json_pack("{s:b}", "clean", 0), NULL, NULL);
		return;
	}
	if (life_approved_wipe(l)) {
		life_goto(l, MACHINE_STOPPING,
			  json_pack("{s:s, s:b}", "approvalID", life_approved_wipe(l), "clean", 0),
			  NULL, NULL);
		return;
	}
	n = life_claim_wanting(l);
	if (!n) {
		(void)life_seen(l, l->c->o.idle_poll_ms);
		return;
	}
	if (!life_seen(l, l->c->o.poll_ms * 5) || !consented(l))
		return;
	if (l->seen.power != PROVIDER_POWER_OFF) {
		life_wait(
			l, WAITING_APPROVAL, "PowerStateUnexpected",
			"recorded free and off, but the BMC says it is not off; `drover approve --wipe %s`",
			l->name);
		return;
	}
	if (life_clean(l, &n->spec.wipe, &e) < 0) {
		life_goto(l, MACHINE_STOPPING, json_pack("{s:b}", "clean", 0), "EraseUnverified",
			  "%s", e.text);
		return;
	}
	x = json_pack("{s:{s:s, s:s}, s:n}", "claimRef", "name", n->meta.name, "uid", n->meta.uid,
		      "agent");
	life_goto(l, MACHINE_CLAIMED, x, NULL, NULL);
}

int64_t life_quarantine_wait(const struct machine *m)
{
	int64_t wait = QUARANTINE_FIRST_MS,
		attempts = m->status.quarantine ? m->status.quarantine->attempts : 0;

	for (int64_t i = 0; i < attempts && wait < QUARANTINE_CAP_MS; i++)
		wait *= 2;
	return wait < QUARANTINE_CAP_MS ? wait : QUARANTINE_CAP_MS;
}

int64_t life_quarantine_due(const struct machine *m)
{
	const struct machine_quarantine *q = m->status.quarantine;

	return q && q->exit == EXIT_AUTO ? m->status.state_since + life_quarantine_wait(m) : 0;
}

void step_quarantined(struct life *l)
{
	const struct machine_quarantine *q = l->m->status.quarantine;
	const char *approved = life_approved_wipe(l);
	int64_t now = loop_wall(l->c->loop), attempts = q ? q->attempts : 0,
		due = life_quarantine_due(l->m);
	json_t *next;

	agents_close(l->seat);
	if (unwanted(l) && !l->m->status.claim_ref) {
		life_goto(l, MACHINE_RETIRED, json_pack("{s:n}", "quarantine"), NULL, NULL);
		return;
	}
	if (approved) {
		life_goto(l, MACHINE_STOPPING,
			  json_pack("{s:s, s:n}", "approvalID", approved, "quarantine"), NULL,
			  NULL);
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
	life_goto(l, MACHINE_STOPPING, next, NULL, NULL);
}

void step_retired(struct life *l)
{
	if (l->m->meta.deletion_timestamp)
		life_finalizer(l, false);
	else if (l->m->spec.management_policy != MACHINE_RETIRE)
		life_goto(l, MACHINE_KNOWN, NULL, NULL, NULL);
}

void step_gone(struct life *l)
{
	agents_close(l->seat);
}
