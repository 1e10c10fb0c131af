#ifndef PLANNER_SUPPLY_RESERVE_H
#define PLANNER_SUPPLY_RESERVE_H

#include "planner/bins.h"
#include "planner/supply/supply.h"

/*
 * reserve: room on new machines for waiting pods of which only a few may share a node (spread over
 * nodes, or kept apart from each other).
 *
 * Each such pod needs a node of its own, so these pods determine how many machines are needed. If
 * pods ahead of them in the queue fill a machine, one more machine is opened. So a new machine in a
 * pool that saves machines (supply_pool.least_nodes) has reserved room for one pod of each such
 * party (planning.h). The reserved room is never the reason why a pod gets nothing:
 * reserve_release() makes it available to all pods of the tenant. And if pods of a tenant wait for
 * machines in the end, the plan is made again without reserved room for the tenant, since pods
 * behind them in the queue may have got what was reserved (planning.unreserved).
 * Tests: tests/unit/planner/test_expander.c
 */
/* Lets new machines reserve room for the pods of the party. */
void reserve_want(struct planning *p, struct plan_tenant *t, struct party *of);
/* Drops all parties of the tenant but the RESERVE_MOST largest, because the largest determines how
 * many machines are needed. Call once all waiting pods are counted. */
void reserve_begin(struct planning *p, struct plan_tenant *t);
#define RESERVE_MOST 16
/* Returns the number of parties for whose pods a machine that is opened for the cell would reserve
 * room. */
size_t reserve_wants(const struct plan_cell *c);
/* Reserves room in the bin (candidate node, bins.h) that was just opened for a pod of cell *c, as
 * far as the bin has any. */
void reserve_room(struct planning *p, const struct plan_cell *c, size_t bin);
/* Finds a bin in which room is reserved for the pods of the cell, and makes that room available.
 * *at: the bin's index. False: no such bin admits a pod of the cell. If the cell has topology
 * constraints, topology_begin() must have returned true before. */
bool reserve_find(struct planning *p, struct plan_cell *c, size_t *at);
/* Makes all reserved room of the tenant available. False: nothing was reserved. */
bool reserve_release(struct plan_tenant *t);

#endif
