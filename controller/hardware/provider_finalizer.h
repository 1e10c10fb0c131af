#ifndef CONTROLLER_HARDWARE_PROVIDER_FINALIZER_H
#define CONTROLLER_HARDWARE_PROVIDER_FINALIZER_H

#include "controller/core/context.h"

/*
 * provider_finalizer: prevents the deletion of a Provider that Machines refer to.
 *
 * Without the Provider, drover reaches neither the BMCs nor the ports of its Machines, so the
 * machines could not be drained, isolated or wiped. A Provider has drover's finalizer while a
 * Machine refers to it; its deletion waits until none does (event ProviderInUse).
 *
 * On the loop thread; only the leader writes.
 * Tests: tests/world/test_rest.c
 */
struct provider_finalizer;
struct provider_finalizer *provider_finalizer_new(struct context *c);
void provider_finalizer_free(struct provider_finalizer *h);
/* Schedules a scan within a second. Call when Providers or Machines have changed, or when this
 * replica became the leader. */
void provider_finalizer_kick(struct provider_finalizer *h);

#endif
