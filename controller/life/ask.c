/*
 * life_ask: questions to API servers, one at a time, and what follows from
 * answers that several steps need.
 * Tests: tests/world/test_review.c, tests/world/test_leave.c
 */
#include "api/resources.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/drain/checkpoint.h"
#include "controller/drain/evict.h"
#include "controller/life/life.h"
#include "controller/steps/adopt.h"
#include "controller/tenant/tenant.h"

#define AGAIN_MS 1000
#define REPLACED_AGAIN_MS 10000
#define CLAIM_REPLACED 410 /* err.code: there is one of that name */

enum life_asked life_asked(const struct life *l, const char *about)
{
	if (!str_eq(l->answer.about, about))
		return ASK_NONE;
	return l->answer.ok ? ASK_OK : ASK_FAILED;
}

void life_asking(struct life *l, const char *about, struct tenant *t)
{
	str_copy(l->asking, sizeof(l->asking), about);
	l->answer.about[0] = '\0';
	l->call_to = t;
}

static void answered(struct life *l, const struct err *e)
{
	l->call = NULL;
	l->call_to = NULL;
	l->answer.ok = !e;
	if (e)
		l->answer.err = *e;
	str_copy(l->answer.about, sizeof(l->answer.about), l->asking);
	life_kick(l);
}

void life_answer(json_t *o, const struct err *e, void *life)
{
	(void)o;
	answered(life, e);
}

void life_ask_again(struct life *l)
{
	l->answer.about[0] = '\0';
	loop_timer_start(&l->timer, AGAIN_MS);
}

void life_hang_up(struct life *l, const struct tenant *t)
{
	if ((l->evict && evict_tenant(l->evict) == t) ||
	    (l->checkpoint && checkpoint_tenant(l->checkpoint) == t))
		life_drain_forget(l);
	if (l->beat.call && l->beat.to == t) {
		kube_call_cancel(l->beat.call);
		l->beat.call = NULL;
		l->beat.silent = true;
	}
	if (!l->call || l->call_to != t)
		return;
	kube_call_cancel(l->call);
	l->call = NULL;
	l->call_to = NULL;
	l->answer.about[0] = '\0';
	life_kick(l);
}

/* --- the claim ----------------------------------------------------------------------------------- */

/* Read from the API and not from the cache, it is still the one that holds this machine (S7). */
static void on_claim_read(json_t *o, const struct err *e, void *arg)
{
	struct life *l = arg;
	struct err mine;
	const struct object_ref *r;

	l->m = CONTROLLER_GET(l->c, OBJECT_MACHINE, machine, l->name);
	r = l->m ? l->m->status.claim_ref : NULL;
	if (!e && (!r || !str_eq(json_str_at(o, "metadata", "uid"), r->uid))) {
		(void)!err_set(&mine, ERR_NOT_FOUND,
			       r && !json_at(o, "metadata", "deletionTimestamp") ? CLAIM_REPLACED
										 : 0,
			       "the claim is another one by now");
		e = &mine;
	} else if (!e && json_at(o, "metadata", "deletionTimestamp")) {
		(void)!err_set(&mine, ERR_CONFLICT, 0, "the claim was withdrawn");
		e = &mine;
	}
	answered(l, e);
}

void life_ask_claim(struct life *l, const char *about)
{
	life_asking(l, about, NULL);
	l->call = kube_get(l->c->host, &object_resources[OBJECT_NODE_CLAIM], NULL,
			   l->m->status.claim_ref->name, on_claim_read, l);
}

/* It has the name of the one that this machine serves, and another UID.  Names are made at random, so it is a backup that
 * was put back, and nobody wanted the work to stop: a person deletes it, or says that this is it. */
static bool is_replaced(struct life *l)
{
	if (l->answer.err.code != CLAIM_REPLACED ||
	    (l->state != MACHINE_SERVING && l->state != MACHINE_DRAINING))
		return false;
	if (adopt_wanted(l) && life_seen(l, l->c->o.poll_ms * 5))
		adopt(l);
	else if (!adopt_wanted(l))
		life_wait(
			l, WAITING_APPROVAL, "ClaimReplaced",
			"NodeClaim %s has another UID than the one that is served (a restored backup?); `drover approve %s --adopt %s` if it is the same",
			l->m->status.claim_ref->name, l->name, l->m->status.claim_ref->name);
	l->answer.about[0] = '\0';
	loop_timer_start(&l->timer, REPLACED_AGAIN_MS);
	return true;
}

bool life_claim_gone(struct life *l)
{
	if (!l->m->status.claim_ref)
		return true;
	switch (life_asked(l, "gone")) {
	case ASK_NONE:
		life_ask_claim(l, "gone");
		return false;
	case ASK_OK:
		life_wait(l, WAITING_APPROVAL, "ClaimUnreadable",
			  "claim %s is there and cannot be read; its event says why",
			  l->m->status.claim_ref->name);
		life_ask_again(l);
		return false;
	case ASK_FAILED:
		if (is_replaced(l))
			return false;
		if (l->answer.err.kind == ERR_NOT_FOUND)
			return true;
		life_ask_again(l);
		return false;
	}
	return false;
}

/* --- may anything be done? ----------------------------------------------------------------------- */

bool life_may_leave(struct life *l)
{
	if (!controller_crds_terminating(l->c))
		return true;
	life_wait(
		l, WAITING_APPROVAL, "DefinitionTerminating",
		"a CustomResourceDefinition of drover.dev is being deleted: no deletion is acted on");
	return false;
}

bool life_paused(struct life *l)
{
	const struct provider_object *p = life_provider(l);

	if (l->m->spec.management_policy != MACHINE_OBSERVE && !(p && p->spec.paused))
		return false;
	life_wait(l, WAITING_APPROVAL, "Paused", "%s",
		  p && p->spec.paused ? "the provider is paused"
				      : "spec.managementPolicy is Observe");
	return true;
}

const char *life_approved_wipe(const struct life *l)
{
	const struct machine_approval *a = l->m->spec.approval;

	return a && a->action == APPROVE_WIPE && a->id && !str_eq(a->id, l->m->status.approval_id)
		       ? a->id
		       : NULL;
}
