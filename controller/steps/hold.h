#ifndef CONTROLLER_STEPS_HOLD_H
#define CONTROLLER_STEPS_HOLD_H

#include "controller/life/life.h"
#include "controller/tenant/tenant.h"

/*
 * hold: a Node that is out of use while its machine serves on.
 *
 *   a person cordons      status.hold {since}; ends when a person uncordons
 *   Drain, then: Hold     status.hold {drain, since}, once drained; ends with the Drain, or when a
 *                         person uncordons
 *   drover release        ends both; the Node is uncordoned
 *
 * Marks that a withdrawn drain left behind are taken away here.
 * Tests: tests/world/test_hold.c
 */

/* To people, that a hold began or ended, and by whom. */
void hold_tell(const struct life *l, bool held, const char *why);
/* In serving: status.hold and the marks on the Node fit each other. False: not yet, and something
 * was started. */
bool life_ensure_hold_settled(struct life *l, const struct node_claim *n);

#endif
