#ifndef CONTROLLER_GAUGES_USE_H
#define CONTROLLER_GAUGES_USE_H

#include "controller/core/context.h"

/*
 * gauges_use: how GPUs are used now and what stands still, for /metrics: GPUs by state of their
 * machine, allocated and asked for by pool and tenant, how long the slowest machine of each state
 * and the longest waiting pod of each tenant have been so, BMCs out of reach, stopped lines.
 *
 * A pass over all machines, claims and pods at each scrape; on the loop thread.
 * Tests: tests/unit/controller/core/test_counters.c
 */
struct gauges_use;
struct tenants;
struct gauges_use *gauges_use_new(const struct context *c, const struct tenants *tenants);
void gauges_use_free(struct gauges_use *u);
void gauges_use_read(struct gauges_use *u);

#endif
