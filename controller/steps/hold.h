#ifndef CONTROLLER_STEPS_HOLD_H
#define CONTROLLER_STEPS_HOLD_H

#include "controller/life/life.h"
#include "controller/tenant/tenant.h"

/*
 * hold: a held Node gets no new pods, while its machine keeps serving the pods that it has.
 *
 *   user cordons the Node    status.hold {since}; ends when the Node is uncordoned
 *   Drain with then: Hold    status.hold {drain, since}, once drained; ends with the Drain, or when
 *                            the Node is uncordoned
 *   drover release           ends both; the Node is uncordoned
 *
 * Marks that a withdrawn drain left on the Node are removed here.
 * Tests: tests/world/test_hold.c
 */

/* Sends an event and logs that a hold began (held is true) or ended (held is false). why: the
 * cause, for both texts. */
void hold_report(const struct life *l, bool held, const char *why);
/* In serving: true if status.hold matches the marks (cordon, draining taint) on the Node of claim
 * n. Otherwise starts the write that is missing, and returns false. */
bool life_ensure_hold_settled(struct life *l, const struct node_claim *n);

#endif
