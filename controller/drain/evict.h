#ifndef CONTROLLER_DRAIN_EVICT_H
#define CONTROLLER_DRAIN_EVICT_H

#include "controller/drain/leave.h"
#include "controller/tenant/tenant.h"

/*
 * evict: evicts the pods of one Node, at most ten at a time.
 *
 * The Eviction API respects PodDisruptionBudgets and grace periods. A refused eviction is repeated
 * after the Retry-After of the answer, or after 5 s, doubling to 30 s. A forced deletion has a
 * grace period of at most 30 s and an event that says what had blocked the pod. Each request
 * carries the pod's UID. Pods of DaemonSets and static pods do not count.
 * Tests: tests/world/test_drain.c
 */
struct evict;
struct evict *evict_new(const struct leave_of *s);
/* Pending calls are dropped; their requests may still take effect. */
void evict_free(struct evict *ev);
const struct tenant *evict_tenant(const struct evict *ev);

struct evict_look {
	/* number of pods that still exist */
	size_t left;
	/* what blocks the first of them: "pdb ns/name" or "pod ns/name: text"; NULL: nothing */
	const char *blocked_by;
};
/* Sends the requests that are due. policy NULL: evict; else force, with policy as the reason in
 * events. */
struct evict_look evict_turn(struct evict *ev, const char *policy);
/* Returns the ms since evict_new(). */
int64_t evict_age(const struct evict *ev);

#endif
