#ifndef CONTROLLER_GAUGES_H
#define CONTROLLER_GAUGES_H

#include "base/list.h"
#include "controller/core/context.h"

/*
 * gauges: current numbers of machines, tenants and other objects for /metrics (docs/metrics.md).
 * Tests: tests/unit/controller/core/test_counters.c, tests/unit/controller/test_endpoints.c
 */
struct gauges;
struct tenants;
struct gauges *gauges_new(const struct context *c, const struct tenants *tenants);
void gauges_free(struct gauges *f);
/* Only the leader with synced caches has gauges of the fleet; on any other replica they have no
 * series, so that a sum over replicas counts each machine once. */

/* Computes the gauges from the objects in the caches at once. For tests: a large fleet takes a
 * tenth of a second. */
void gauges_read(struct gauges *f);

/* Embedded in a caller of gauges_refresh(). */
struct gauges_wait {
	struct list link;
	void (*done)(void *arg);
	void *arg;
};
/* Computes the gauges in slices and then calls w->done(w->arg), once, in a later loop turn. A
 * caller that comes while a computation is in progress waits for the end of the same one. */
void gauges_refresh(struct gauges *f, struct gauges_wait *w);
/* Drops the call of w->done(); allowed also after gauges_free(), which drops all calls. */
void gauges_cancel(struct gauges_wait *w);

#endif
