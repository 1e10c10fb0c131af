#ifndef CONTROLLER_LIFE_ASK_H
#define CONTROLLER_LIFE_ASK_H

#include "controller/life/life.h"

/*
 * ask: sends requests of a step to an API server, one at a time. The step starts the call in
 * l->question.call and evaluates the answer in a later turn. A change of state drops the answer.
 * Tests: tests/world/test_review.c, tests/world/test_leave.c
 */

enum life_asked { ASK_NONE, ASK_OK, ASK_FAILED };
enum life_asked life_asked(const struct life *l, const char *about);

/* Prepares a request named `about`. The caller then starts the call and sets l->question.call. t:
 * tenant whose client is used; NULL: the host cluster. */
void life_asking(struct life *l, const char *about, struct tenant *t);
/* Sets l->question.call to `call`, a request to a tenant's API server. Call right after the request
 * was started, which must follow life_asking(). If, while the request is queued, the machine
 * changes its state, another leader takes over or the claim is withdrawn, the request is not sent
 * and ends with ERR_UNAVAILABLE. */
void life_ask_tenant(struct life *l, struct kube_call *call);
/* kube_done callback for requests whose result object is not needed: records success or error as
 * the answer, and schedules a tick. life: struct life. */
void life_answer(json_t *o, const struct err *e, void *life);
/* Records the answer to the request in flight, for callers with a kube_done callback of their own.
 * ok: true if the answer is good. e: error for life_answer_error(); NULL: the earlier error stays
 * there. */
void life_answered(struct life *l, bool ok, const struct err *e);
/* Returns the error of the last request that failed; its kind is ERR_NONE if none has. */
const struct err *life_answer_error(const struct life *l);
/* Drops the answer, so that the next life_asked() returns ASK_NONE. */
void life_ask_forget(struct life *l);
/* Drops the answer and schedules the next turn in one second. Use after a failed request. */
void life_ask_again(struct life *l);

/* Starts the request `about`: reads the claim named in status.claimRef from the API server, not
 * from the cache. The answer is ASK_OK if the claim still has the same UID and is not being
 * deleted. */
void life_ask_claim(struct life *l, const char *about);

/* Cancels the request in flight, and frees the working data of the step (l->work), if they use the
 * client of t, which is about to be freed. Afterwards the request counts as never made. */
void life_hang_up(struct life *l, const struct tenant *t);

/* State of the claim named in status.claimRef, as the API server reports it. A claim that is
 * missing in the cache proves nothing. */
enum life_claim_is {
	/* not known yet: the request is in flight, or must be repeated */
	LIFE_CLAIM_ASKED,
	/* exists, but cannot be decoded; life_wait() was called */
	LIFE_CLAIM_THERE,
	LIFE_CLAIM_GONE,
	/* a different claim has the name now. Claim names are random, so this happens only if a
	 * backup was restored. */
	LIFE_CLAIM_REPLACED,
};
enum life_claim_is life_claim_check(struct life *l);

/* True if the claim is proved to be deleted or replaced. Returns false while the API server is
 * being asked, and if the claim exists. */
bool life_ensure_claim_proved_gone(struct life *l);

#endif
