#ifndef CONTROLLER_CLAIMS_STOPS_H
#define CONTROLLER_CLAIMS_STOPS_H

#include "controller/core/context.h"
#include "planner/world.h"

/*
 * stops: what the planner may not use now (planner/stops.h): scopes paused by the circuit breaker
 * (stop_line.h), claims that fail in a row (failing.h), Providers that are not Ready (usable.h),
 * types of which a cloud has none.
 *
 * A scope in which a trial is allowed is not given to the planner as a stop: the plan may place
 * claims there, and the provisioner sends only one of them. Afterwards the scope is a stop again.
 * Tests: tests/unit/controller/claims/test_provisioner.c, tests/world/test_stop_line.c,
 * tests/world/test_elastic.c
 */
struct drivers;
struct failing;
struct fleet;
struct stop_line;
struct stops_from {
	struct context *c;
	const struct failing *failing;
	/* NULL: Providers are not checked */
	const struct drivers *drivers;
	/* NULL: no clouds */
	const struct fleet *fleet;
};
/* Writes all stops to the world. l: the circuit breakers as they are now. Returns the Unix ms at
 * which the first stop may end; 0: there is no stop. */
int64_t stops_put(const struct stops_from *from, struct stop_line *l, struct world *w);

#endif
