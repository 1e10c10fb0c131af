/*
 * ask: sends requests to API servers, one at a time, and evaluates answers that several steps need.
 * Tests: tests/world/test_review.c, tests/world/test_leave.c
 */
#include "controller/life/ask.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/core/spans.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/tenant/tenant.h"

#define AGAIN_MS 1000

#define CLAIM_REPLACED 410 /* err.code that marks a claim with the same name and a different UID */

enum life_asked life_asked(const struct life *l, const char *about)
{
	if (!str_eq(l->question.answer.about, about))
		return ASK_NONE;
	return l->question.answer.ok ? ASK_OK : ASK_FAILED;
}

const struct err *life_answer_error(const struct life *l)
{
	static const struct err none;

	return l->question.answer.err ? l->question.answer.err : &none;
}

void life_asking(struct life *l, const char *about, struct tenant *t)
{
	str_copy(l->question.asking, sizeof(l->question.asking), about);
	l->question.answer.about[0] = '\0';
	l->question.to = t;
	l->question.state = l->state;
	l->question.fence = life_fence(l);
}

/* kube_call_check callback: returns 0 if the cache still shows the state, fence and claim for which
 * the request was made. Otherwise returns -1 with *e. */
static int still_asked(void *arg, struct err *e)
{
	const uint32_t coming = 1u << MACHINE_IMAGING | 1u << MACHINE_ATTACHING |
				1u << MACHINE_BOOTING | 1u << MACHINE_JOINING |
				1u << MACHINE_GATING;
	const struct life *l = arg;
	const struct machine *m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
	const struct machine_operation *op = m ? m->status.operation : NULL;
	const struct object_ref *r = m ? m->status.claim_ref : NULL;
	const struct node_claim *n =
		r ? CTX_GET(l->c, OBJECT_NODE_CLAIM, node_claim, r->name) : NULL;

	/* check the Lease here: the client of the host cluster checks it by itself, but a tenant's
	 * client does not */
	if (ctx_may_change(l->c, e) < 0)
		return -1;
	if (!m || !op || machine_state_find(str_or(m->status.state, "")) != l->question.state)
		return err_set(e, ERR_UNAVAILABLE, 0, "the machine is no longer in state %s",
			       machine_state_info[l->question.state].name);
	if (op->fence != l->question.fence)
		return err_set(e, ERR_UNAVAILABLE, 0, "another leader has taken over the machine");
	if (coming & 1u << l->question.state &&
	    (!n || /* mutant: line-not-asked-again */ n->meta.deletion_timestamp))
		return err_set(e, ERR_UNAVAILABLE, 0, "the claim was withdrawn");
	return 0;
}

void life_ask_tenant(struct life *l, struct kube_call *call)
{
	l->question.call = call;
	kube_call_check(call, still_asked, l);
	spans_call(l->c, call, OBJECT_MACHINE, l->name);
}

void life_answered(struct life *l, bool ok, const struct err *e)
{
	l->question.call = NULL;
	l->question.to = NULL;
	l->question.answer.ok = ok;
	if (e)
		err_save(&l->question.answer.err, e);
	str_copy(l->question.answer.about, sizeof(l->question.answer.about), l->question.asking);
}

static void answered(struct life *l, const struct err *e)
{
	life_answered(l, !e, e);
	life_kick(l);
}

void life_answer(json_t *o, const struct err *e, void *life)
{
	(void)o;
	answered(life, e);
}

void life_ask_forget(struct life *l)
{
	l->question.answer.about[0] = '\0';
}

void life_ask_again(struct life *l)
{
	life_ask_forget(l);
	loop_timer_start(&l->timer, AGAIN_MS);
}

void life_hang_up(struct life *l, const struct tenant *t)
{
	if (l->work.of && l->work.uses(l->work.of, t))
		life_drop_work(l);
	if (!l->question.call || l->question.to != t)
		return;
	kube_call_cancel(l->question.call);
	l->question.call = NULL;
	l->question.to = NULL;
	life_ask_forget(l);
	life_kick(l);
}

/* --- the claim -------------------------------------------------------------------------------- */

/* kube_done callback: records ASK_OK if the claim just read from the API server still has the UID
 * in status.claimRef and is not being deleted (invariant S7). Otherwise records ASK_FAILED. */
static void on_claim_read(json_t *o, const struct err *e, void *arg)
{
	struct life *l = arg;
	struct err mine;
	const struct object_ref *r;

	l->m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
	r = l->m ? l->m->status.claim_ref : NULL;
	if (!e && (!r || !str_eq(json_str_at(o, "metadata", "uid"), r->uid))) {
		err_note(&mine, ERR_NOT_FOUND,
			 r && !json_at(o, "metadata", "deletionTimestamp") ? CLAIM_REPLACED : 0,
			 "the claim was replaced by a different one of the same name");
		e = &mine;
	} else if (!e && json_at(o, "metadata", "deletionTimestamp")) {
		err_note(&mine, ERR_CONFLICT, 0, "the claim was withdrawn");
		e = &mine;
	}
	answered(l, e);
}

void life_ask_claim(struct life *l, const char *about)
{
	life_asking(l, about, NULL);
	l->question.call = kube_get(l->c->host, &object_resources[OBJECT_NODE_CLAIM], NULL,
				    l->m->status.claim_ref->name, on_claim_read, l);
}

enum life_claim_is life_claim_check(struct life *l)
{
	if (!l->m->status.claim_ref)
		return LIFE_CLAIM_GONE;
	switch (life_asked(l, "gone")) {
	case ASK_NONE:
		life_ask_claim(l, "gone");
		return LIFE_CLAIM_ASKED;
	case ASK_OK:
		life_wait(
			l, WAITING_APPROVAL, REASON_ClaimUnreadable,
			"NodeClaim %s exists but drover cannot read it; an event of the NodeClaim "
			"names the field",
			l->m->status.claim_ref->name);
		life_ask_again(l);
		return LIFE_CLAIM_THERE;
	case ASK_FAILED:
		if (life_answer_error(l)->code == CLAIM_REPLACED)
			return LIFE_CLAIM_REPLACED;
		if (life_answer_error(l)->kind == ERR_NOT_FOUND)
			return LIFE_CLAIM_GONE;
		life_ask_again(l);
		return LIFE_CLAIM_ASKED;
	}
	return LIFE_CLAIM_ASKED;
}

bool life_ensure_claim_proved_gone(struct life *l)
{
	enum life_claim_is is = life_claim_check(l);

	return is == LIFE_CLAIM_GONE || is == LIFE_CLAIM_REPLACED;
}
