#ifndef CONTROLLER_GAUGES_GPUS_H
#define CONTROLLER_GAUGES_GPUS_H

#include "controller/core/context.h"

/*
 * gauges_gpus: counts each GPU of the fleet once, by pool, tenant and state (gpu_tally.h).
 *
 * The fleet is all machines that are neither retired nor gone. The GPUs of a machine that serves
 * are divided by the requests of the pods on its Node (rules/gpu_use.h); they are `unknown` while
 * its tenant's Nodes or pods are not read. On the loop thread.
 * Tests: tests/unit/controller/test_gauges_gpus.c
 */
struct gauges_gpus;
struct tenant;
struct tenants;
struct gauges_gpus *gauges_gpus_new(const struct context *c, const struct tenants *tenants);
void gauges_gpus_free(struct gauges_gpus *g);
/* A count: begin, then each tenant, then each Machine, which may be in several loop turns. The
 * gauge changes at the end. */
void gauges_gpus_begin(struct gauges_gpus *g);
void gauges_gpus_tenant(struct gauges_gpus *g, const struct tenant *t);
void gauges_gpus_machine(struct gauges_gpus *g, const struct machine *m);
void gauges_gpus_show(struct gauges_gpus *g);

#endif
