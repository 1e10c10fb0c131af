#ifndef CONTROLLER_LIFE_CONSENT_H
#define CONTROLLER_LIFE_CONSENT_H

#include "controller/life/life.h"

/*
 * consent: may drover act on this machine at all?
 * Tests: tests/world/test_identity.c, tests/world/test_review.c
 */

/* Deletions may be acted on: none of our CRDs is terminating. */
bool life_may_leave(struct life *l);

/* drover may act on this machine: managed, its BMC says that it is the one approved, no other has its identity.
 * False: it waits, and says for what. */
bool life_consented(struct life *l);

/* Another Machine has its identity or its BMC: says so (life_wait) and gives true. */
bool life_is_double(struct life *l);

/* Its owner, or its provider's, wants nothing to be done: says so and gives true. */
bool life_paused(struct life *l);

/* An approval to wipe that was not acted on yet, or NULL. */
const char *life_approved_wipe(const struct life *l);

#endif
