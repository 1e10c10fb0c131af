#ifndef CONTROLLER_HARDWARE_PROVIDER_HOLD_H
#define CONTROLLER_HARDWARE_PROVIDER_HOLD_H

#include "controller/core/context.h"

/*
 * provider_hold: prevents the deletion of a Provider that Machines refer to.
 *
 * Without the Provider, drover reaches neither the BMCs nor the ports of its Machines, so the
 * machines could not be drained, isolated or wiped. A Provider has drover's finalizer while a
 * Machine refers to it; its deletion waits until none does (event ProviderInUse).
 *
 * On the loop thread; only the leader writes.
 * Tests: tests/world/test_rest.c
 */
struct provider_hold;
struct provider_hold *provider_hold_new(struct context *c);
void provider_hold_free(struct provider_hold *h);
/* Schedules a scan within a second. Call when Providers or Machines have changed, or when this
 * replica became the leader. */
void provider_hold_kick(struct provider_hold *h);

#endif
