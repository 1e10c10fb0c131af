#ifndef CONTROLLER_LIFE_ASK_H
#define CONTROLLER_LIFE_ASK_H

#include "controller/life/life.h"

/*
 * ask: sends one request at a time to an API server for a step. The step starts the call in
 * l->question.call and sees the answer in a later turn. A change of state drops the answer.
 * Tests: tests/world/test_review.c, tests/world/test_leave.c
 */

enum life_asked { ASK_NONE, ASK_OK, ASK_FAILED };
enum life_asked life_asked(const struct life *l, const char *about);

/* Prepares a request named `about`; the caller then sets l->question.call. t: tenant whose client
 * is used; NULL: the host cluster. */
void life_asking(struct life *l, const char *about, struct tenant *t);
/* Sets l->question.call to `call`, a request to a tenant that was just started after life_asking().
 * If the request is still queued when the machine has left this state, another leader has taken
 * over, or the claim has been withdrawn, it is not sent and ends with ERR_UNAVAILABLE. */
void life_ask_tenant(struct life *l, struct kube_call *call);
/* kube_done callback for requests whose result object is not needed. */
void life_answer(json_t *o, const struct err *e, void *life);
/* Records the answer, for callers with their own kube_done. ok: the answer is good. e: error to
 * store in question.answer.err; NULL leaves it unchanged. */
void life_answered(struct life *l, bool ok, const struct err *e);
/* Drops the answer, so that the next life_asked() returns ASK_NONE. */
void life_ask_forget(struct life *l);
/* Drops the answer and schedules the next turn in one second. Use after a failed request. */
void life_ask_again(struct life *l);

/* Reads the claim named in status.claimRef from the API server, not from the cache. The answer is
 * ok if the claim still has the same UID and is not being deleted. */
void life_ask_claim(struct life *l, const char *about);

/* Cancels a request through the client of t, which is about to be freed, as if the request had
 * never been made. */
void life_hang_up(struct life *l, const struct tenant *t);

/* What the API server says about the claim named in status.claimRef. An entry missing in the cache
 * proves nothing. */
enum life_claim_is {
	/* the request is in flight, or must be repeated */
	LIFE_CLAIM_ASKED,
	/* the claim exists but cannot be decoded; life_wait() was called */
	LIFE_CLAIM_THERE,
	LIFE_CLAIM_GONE,
	/* a different claim has the name: a restored backup, because claim names are random */
	LIFE_CLAIM_REPLACED,
};
enum life_claim_is life_claim_look(struct life *l);

/* True if the claim is proved to be deleted or replaced. False while the API server is being
 * asked. */
bool life_ensure_claim_proved_gone(struct life *l);

#endif
