/*
 * ask: questions to API servers, one at a time, and what follows from
 * answers that several steps need.
 * Tests: tests/world/test_review.c, tests/world/test_leave.c
 */
#include "controller/life/ask.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/tenant/tenant.h"

#define AGAIN_MS 1000

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
	if (l->work.of && l->work.uses(l->work.of, t))
		life_drop_work(l);
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

	l->m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
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

enum life_claim_is life_claim_look(struct life *l)
{
	if (!l->m->status.claim_ref)
		return LIFE_CLAIM_GONE;
	switch (life_asked(l, "gone")) {
	case ASK_NONE:
		life_ask_claim(l, "gone");
		return LIFE_CLAIM_ASKED;
	case ASK_OK:
		life_wait(l, WAITING_APPROVAL, REASON_ClaimUnreadable,
			  "claim %s is there and cannot be read; its event says why",
			  l->m->status.claim_ref->name);
		life_ask_again(l);
		return LIFE_CLAIM_THERE;
	case ASK_FAILED:
		if (l->answer.err.code == CLAIM_REPLACED)
			return LIFE_CLAIM_REPLACED;
		if (l->answer.err.kind == ERR_NOT_FOUND)
			return LIFE_CLAIM_GONE;
		life_ask_again(l);
		return LIFE_CLAIM_ASKED;
	}
	return LIFE_CLAIM_ASKED;
}

bool life_claim_gone(struct life *l)
{
	enum life_claim_is is = life_claim_look(l);

	return is == LIFE_CLAIM_GONE || is == LIFE_CLAIM_REPLACED;
}
