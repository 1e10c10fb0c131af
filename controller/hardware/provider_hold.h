#ifndef CONTROLLER_HARDWARE_PROVIDER_HOLD_H
#define CONTROLLER_HARDWARE_PROVIDER_HOLD_H

#include "controller/core/context.h"

/*
 * provider_hold: keeps a Provider that Machines name.
 *
 * Without it drover reaches neither their BMCs nor their ports: they could not be drained, cut off
 * or wiped. So it has our finalizer as long as a Machine names it, and a deletion waits for them
 * (event ProviderInUse).
 *
 * On the loop thread; only the leader writes.
 * Tests: tests/world/test_rest.c
 */
struct provider_hold;
struct provider_hold *provider_hold_new(struct context *c);
void provider_hold_free(struct provider_hold *h);
/* Providers or Machines have changed, or this replica leads now: looks within a second. */
void provider_hold_kick(struct provider_hold *h);

#endif
