#ifndef PLANNER_REPLACEMENT_H
#define PLANNER_REPLACEMENT_H

#include "planner/plan.h"

/*
 * replacement: finds a replacement machine for a claim before the claim's own machine is given
 * back. The replacement is a free machine of the claim's pool and type, which limits and quota
 * admit in addition to the tenant's present machines. Machines of elastic Providers (clouds) are
 * not considered.
 *
 * The result is a pure function of the world; during the call no plan of the world may be in
 * progress. The queue is ignored, so call only while no pod waits and nothing is reserved.
 * Tests: tests/unit/planner/test_replacement.c
 */
/* Writes to *out a claim on a replacement machine for the named claim. False: no machine was found,
 * or no such claim exists. Names in *out belong to the world; the requirements and labels in *out
 * are in the arena; out->pods is empty. */
bool plan_replacement(struct world *w, const char *claim, struct arena *a, struct plan_claim *out);

#endif
