#ifndef CONTROLLER_GAUGES_USE_H
#define CONTROLLER_GAUGES_USE_H

#include "controller/core/context.h"

/*
 * gauges_use: gauges about the use of GPUs (gauges_gpus.h) and about obstructions, for /metrics:
 * the longest stay of a machine in each state, the longest wait of a pod of each tenant,
 * unreachable BMCs, and tripped circuit breakers (which pause new claims of a pool or Provider).
 *
 * On the loop thread.
 * Tests: tests/unit/controller/core/test_counters.c
 */
struct gauges_use;
struct tenant;
struct tenants;
struct gauges_use *gauges_use_new(const struct context *c, const struct tenants *tenants);
void gauges_use_free(struct gauges_use *u);
/* A count: begin, then each tenant, then each Machine, which may be in several loop turns. The
 * gauges change at the end. */
void gauges_use_begin(struct gauges_use *u);
void gauges_use_tenant(struct gauges_use *u, const struct tenant *t);
void gauges_use_machine(struct gauges_use *u, const struct machine *m);
void gauges_use_show(struct gauges_use *u);

#endif
