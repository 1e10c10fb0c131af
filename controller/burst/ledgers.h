#ifndef CONTROLLER_BURST_LEDGERS_H
#define CONTROLLER_BURST_LEDGERS_H

#include "controller/core/context.h"

/*
 * ledgers: executes the reset of a BurstLedger that an administrator requests in its spec.reset. (A
 * BurstLedger records the cost of a BurstPolicy's launches.) A reset removes the rows of ended
 * launches and adds an entry to status.resets. Running launches are unaffected.
 *
 * burst/settle.h adds the rows. Only the leader writes. On the loop thread.
 * Tests: tests/world/test_burst_ledger.c
 */
struct ledgers;
struct ledgers *ledgers_new(struct context *c);
void ledgers_free(struct ledgers *s);
/* Schedules a check of the BurstLedger of that name for the next loop turn. */
void ledgers_kick(struct ledgers *s, const char *name);

#endif
