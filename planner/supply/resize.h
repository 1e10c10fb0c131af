#ifndef PLANNER_SUPPLY_RESIZE_H
#define PLANNER_SUPPLY_RESIZE_H

#include "planner/planning.h"

/*
 * resize: gives each new claim the smallest machine that its pods need.
 *
 * A pool that saves machines (supply_pool.least_nodes) opens a claim on a machine that is large
 * enough for all waiting pods that may share it. Which of them come is known only after all pods
 * are placed. Then each such claim moves to the first offer of its pool (supply.h) that is large
 * enough for its pods, if that offer has a free machine that suits the pods as well: with equal
 * topology domains, and no more of any resource than the present machine, so that limits and quotas
 * still hold.
 *
 * Claims of gangs are not moved, because gangs choose machines by location, nor claims with pods
 * that have preferences. The machine that a claim leaves is free for the next plan.
 * Tests: tests/unit/planner/test_expander.c
 */
struct resize;
/* Begins the pass. Call once all pods are placed. */
struct resize *resize_new(struct planning *p);
/* Moves the next claim. False: no claim is left. */
bool resize_next(struct resize *r);

#endif
