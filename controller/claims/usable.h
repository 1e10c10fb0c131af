#ifndef CONTROLLER_CLAIMS_USABLE_H
#define CONTROLLER_CLAIMS_USABLE_H

#include "controller/core/context.h"

/*
 * usable: whether machines of a Provider can be driven, as its condition Ready says.
 * Tests: tests/unit/controller/claims/test_supply_status.c
 */
struct drivers;
struct fleet;
#define USABLE_STARTING "Starting" /* nothing is known yet */
/* Returns the reason why not; NULL: they can. *message: the cause in words, "" if there are none;
 * it lives until the Provider, its driver or the cloud's list changes. */
const char *usable_not(const struct context *c, const struct drivers *drivers,
		       const struct fleet *fleet, const char *provider, const char **message);

#endif
