#ifndef PLANNER_STAND_IN_H
#define PLANNER_STAND_IN_H

#include "planner/plan.h"

/*
 * stand_in: finds a replacement machine for a claim before the claim's own machine is given back: a
 * free machine of the claim's pool and type, within limits and quota in addition to what the tenant
 * has. Machines of elastic Providers (clouds) are not considered.
 *
 * Pure like plan_make(); meanwhile no plan may be made of the world. The queue is ignored: call
 * only while no pod waits and nothing is reserved.
 * Tests: tests/unit/planner/test_stand_in.c
 */
/* Writes to *out a claim on a replacement machine for the named claim. False: no machine found, or
 * no such claim. Names in *out belong to the world; its requirements and labels are in the arena;
 * it has no pods. */
bool plan_stand_in(struct world *w, const char *claim, struct arena *a, struct plan_claim *out);

#endif
