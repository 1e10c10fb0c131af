#ifndef CONTROLLER_DRAIN_EVICT_H
#define CONTROLLER_DRAIN_EVICT_H

#include "controller/drain/leave.h"
#include "controller/tenant/tenant.h"

/*
 * evict: evicts the pods of one Node, at most ten at a time.
 *
 * The Eviction API respects PodDisruptionBudgets and grace periods. A refused eviction is repeated
 * after a back-off that begins at 5 s and doubles, or after the Retry-After of the answer if that
 * is longer, but after at most 30 s. A forced deletion has a grace period of at most 30 s and an
 * event that reports what had blocked the pod. Each request carries the pod's UID. Pods of
 * DaemonSets and static pods are ignored.
 * Tests: tests/world/test_drain.c
 */
struct evict;
struct evict *evict_new(const struct leave_of *s);
/* Frees ev and drops pending calls; requests that were already sent may still take effect. */
void evict_free(struct evict *ev);
const struct tenant *evict_tenant(const struct evict *ev);

struct evict_look {
	/* number of pods that still exist on the Node, without DaemonSet and static pods; one more
	 * if the tenant has too many pods for drover to read them all */
	size_t left;
	/* what blocks the first blocked pod (by namespace and name): "pdb ns/name" or "pod ns/name:
	 * text"; NULL: no pod is blocked */
	const char *blocked_by;
};
/* Sends the requests that are due, and returns how many pods are left and what blocks them. policy
 * NULL: evicts the pods. Otherwise deletes them by force; policy is the reason given in events. */
struct evict_look evict_turn(struct evict *ev, const char *policy);
/* Returns the time since evict_new(), in ms. */
int64_t evict_age(const struct evict *ev);

#endif
