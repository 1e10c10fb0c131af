#ifndef CONTROLLER_DRAIN_EVICT_H
#define CONTROLLER_DRAIN_EVICT_H

#include "controller/drain/leave.h"
#include "controller/tenant/tenant.h"

/*
 * evict: evicts the pods of one Node, at most ten at a time.
 *
 * The Eviction API respects PodDisruptionBudgets and grace periods. A refused eviction is repeated
 * after the Retry-After of the answer, or after 5 s, doubling to 30 s. A forced deletion has a
 * grace period of at most 30 s and an event that reports what had blocked the pod. Each request
 * carries the pod's UID. Pods of DaemonSets and static pods are ignored.
 * Tests: tests/world/test_drain.c
 */
struct evict;
struct evict *evict_new(const struct leave_of *s);
/* Frees ev and drops pending calls; requests that were already sent may still take effect. */
void evict_free(struct evict *ev);
const struct tenant *evict_tenant(const struct evict *ev);

struct evict_look {
	/* number of pods that still exist on the Node */
	size_t left;
	/* what blocks the first blocked pod: "pdb ns/name" or "pod ns/name: text"; NULL: no pod is
	 * blocked */
	const char *blocked_by;
};
/* Sends the requests that are due and returns what is left. policy NULL: evicts the pods. Otherwise
 * deletes them by force; policy is the reason given in events. */
struct evict_look evict_turn(struct evict *ev, const char *policy);
/* Returns the time since evict_new(), in ms. */
int64_t evict_age(const struct evict *ev);

#endif
