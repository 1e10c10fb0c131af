#ifndef CONTROLLER_GAUGES_H
#define CONTROLLER_GAUGES_H

#include "controller/core/context.h"

/*
 * gauges: current numbers of machines, tenants and other objects for /metrics (docs/metrics.md).
 * Tests: tests/unit/controller/core/test_counters.c, tests/unit/controller/test_endpoints.c
 */
struct gauges;
struct tenants;
struct gauges *gauges_new(const struct context *c, const struct tenants *tenants);
void gauges_free(struct gauges *f);
/* Computes the gauges from the objects in the caches. Call at each scrape. Only the leader with
 * synced caches has gauges of the fleet; on any other replica they have no series, so that a sum
 * over replicas counts each machine once. */
void gauges_read(struct gauges *f);

#endif
