#ifndef CONTROLLER_CLAIMS_STOPS_H
#define CONTROLLER_CLAIMS_STOPS_H

#include "controller/core/context.h"
#include "planner/world.h"

/*
 * stops: tells the planner what it may not use now (struct world_stop, planner/supply/stops.h):
 * scopes paused by the circuit breaker (breaker.h), pools and tenants whose claims fail in a row
 * (failing.h), Providers that are not Ready (usable.h), and instance types of which a cloud has
 * none.
 *
 * A scope in which the circuit breaker allows a trial is no stop: the plan may place claims in it,
 * and the provisioner sends only one of them. While the trial is in progress, the scope is a stop
 * again.
 * Tests: tests/unit/controller/claims/test_provisioner.c, tests/world/test_breaker.c,
 * tests/world/test_elastic.c
 */
struct drivers;
struct failing;
struct fleet;
struct breaker;
struct stops_from {
	struct context *c;
	const struct failing *failing;
	/* Drivers of the Providers; NULL: do not check whether Providers are Ready */
	const struct drivers *drivers;
	/* The elastic Providers; NULL: none */
	const struct fleet *fleet;
};
/* Writes all stops to the planner's world w. l: present snapshot of the circuit breakers. Returns
 * the Unix ms at which the first stop may end; 0: there is no stop. */
int64_t stops_put(const struct stops_from *from, struct breaker *l, struct world *w);

#endif
