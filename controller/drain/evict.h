#ifndef CONTROLLER_DRAIN_EVICT_H
#define CONTROLLER_DRAIN_EVICT_H

#include "controller/drain/leave.h"
#include "controller/tenant/tenant.h"

/*
 * evict: the pods of one Node are asked to go, at most ten at a time.
 *
 * The Eviction API minds PodDisruptionBudgets and grace periods. A refused pod is asked again after
 * the Retry-After of the answer, or 5 s, doubling to 30 s. By force, a pod is deleted with a grace
 * of at most 30 s, with an event that says what had kept it. Each request carries the pod's UID.
 * Pods of DaemonSets and static ones do not count.
 * Tests: tests/world/test_drain.c
 */
struct evict;
struct evict *evict_new(const struct leave_of *s);
/* calls under way are as if never made */
void evict_free(struct evict *ev);
const struct tenant *evict_tenant(const struct evict *ev);

struct evict_look {
	/* pods that have not gone */
	size_t left;
	/* what keeps the first of them: "pdb ns/name", "pod ns/name: text"; NULL: nothing */
	const char *blocked_by;
};
/* Ask whoever may be asked now. policy: NULL to evict; else why they are deleted, for the
 * events. */
struct evict_look evict_turn(struct evict *ev, const char *policy);
/* ms since the first look. */
int64_t evict_age(const struct evict *ev);

#endif
