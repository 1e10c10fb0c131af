#ifndef CONTROLLER_CLAIMS_STOPS_H
#define CONTROLLER_CLAIMS_STOPS_H

#include "controller/core/context.h"
#include "planner/world.h"

/*
 * stops: what the planner is told that it cannot have now (planner/stops.h): stopped lines
 * (stop_line.h), claims that fail in a row (failing.h), Providers that are not Ready (usable.h),
 * types of which a cloud has none.
 *
 * A trial of a stopped line is no stop: the plan may have a claim there, and the provisioner sends
 * one of these alone.  After that the line is a stop again.
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
	/* NULL: no driver is judged */
	const struct drivers *drivers;
	/* NULL: there are no clouds */
	const struct fleet *fleet;
};
/* Puts all stops into the world.  l: as things are now.  Returns at what time one of them may end,
 * Unix ms; 0: there is none. */
int64_t stops_put(const struct stops_from *from, struct stop_line *l, struct world *w);

#endif
