#ifndef CONTROLLER_CLAIMS_USABLE_H
#define CONTROLLER_CLAIMS_USABLE_H

#include "controller/core/context.h"

/*
 * usable: whether the machines of a Provider can be used, as reported by its condition Ready.
 * Tests: tests/unit/controller/claims/test_supply_status.c
 */
struct drivers;
struct fleet;
#define USABLE_STARTING "Starting" /* Reason while nothing is known yet of the Provider */
/* Returns the reason why the Provider's machines cannot be used; NULL: they can be used. *message:
 * the cause as text, or "". The text is valid until the Provider, its driver or the cloud's list of
 * instances changes. */
const char *usable_not(const struct context *c, const struct drivers *drivers,
		       const struct fleet *fleet, const char *provider, const char **message);

#endif
