#ifndef CONTROLLER_LIFE_ASK_H
#define CONTROLLER_LIFE_ASK_H

#include "controller/life/life.h"

/*
 * ask: questions to API servers. A step asks through l->question.call, gets nothing yet, and sees
 * the answer in a later turn; a change of state forgets it.
 * Tests: tests/world/test_review.c, tests/world/test_leave.c
 */

enum life_asked { ASK_NONE, ASK_OK, ASK_FAILED };
enum life_asked life_asked(const struct life *l, const char *about);

/* About to set l->question.call; t NULL: the host cluster. */
void life_asking(struct life *l, const char *about, struct tenant *t);
/* The call that was just started through its client, after life_asking(). One that waits in line is
 * not sent once the machine has another state or fence, or is to leave while it was being brought:
 * it ends as ERR_UNAVAILABLE. */
void life_ask_tenant(struct life *l, struct kube_call *call);
/* kube_done of such a call */
void life_answer(json_t *o, const struct err *e, void *life);
/* For another kube_done: the answer is there, good or not; e: what to remember of it, NULL:
 * nothing. */
void life_answered(struct life *l, bool ok, const struct err *e);
/* what was answered */
void life_ask_forget(struct life *l);
/* a failed one, after a second */
void life_ask_again(struct life *l);

/* Read the claim that the lock names from the API itself: ok when it is still that one and
 * wanted. */
void life_ask_claim(struct life *l, const char *about);

/* The client of this tenant is about to be freed: calls through it are as if never asked. */
void life_hang_up(struct life *l, const struct tenant *t);

/* What the API itself says of the claim that the lock names: an entry missing in the cache is no
 * proof. */
enum life_claim_is {
	/* it is being asked, or has to be asked again */
	LIFE_CLAIM_ASKED,
	/* it is there and cannot be read: says so */
	LIFE_CLAIM_THERE,
	LIFE_CLAIM_GONE,
	/* another one has its name: a backup that was put back, as names are random */
	LIFE_CLAIM_REPLACED,
};
enum life_claim_is life_claim_look(struct life *l);

/* It is proved that it is gone, or replaced.  False: it is being asked. */
bool life_ensure_claim_proved_gone(struct life *l);

#endif
