#ifndef CONTROLLER_GAUGES_USE_H
#define CONTROLLER_GAUGES_USE_H

#include "controller/core/context.h"

/*
 * gauges_use: gauges about the use of GPUs (gauges_gpus.h) and about obstructions, for /metrics:
 * the longest stay of a machine in each state, the longest wait of a pod of each tenant,
 * unreachable BMCs, and tripped circuit breakers (which pause new claims of a pool or Provider).
 *
 * Scans all machines, claims and pods at each scrape; on the loop thread.
 * Tests: tests/unit/controller/core/test_counters.c
 */
struct gauges_use;
struct tenants;
struct gauges_use *gauges_use_new(const struct context *c, const struct tenants *tenants);
void gauges_use_free(struct gauges_use *u);
void gauges_use_read(struct gauges_use *u);

#endif
