#ifndef CONTROLLER_CORE_SWEEP_H
#define CONTROLLER_CORE_SWEEP_H

#include "base/arena.h"
#include "kube/cache.h"

/*
 * sweep: one look at each object that a cache had when it began, some in each turn of the loop, so
 * that a thousand of them do not hold it. What comes meanwhile is not looked at, and neither is
 * what has gone.
 *
 * Embedded in its owner; the arena is the owner's, and stays until the sweep is over or given up.
 * Tests: tests/unit/controller/core/test_sweep.c
 */
struct sweep {
	const struct kube_cache *cache;
	struct sweep_name {
		const char *ns, *name;
	} * v;
	size_t n, at;
};

void sweep_begin(struct sweep *s, const struct kube_cache *c, struct arena *a);
/* The next of them, so many at most.  False: none is left. */
bool sweep_go_on(struct sweep *s, size_t most, bool (*fn)(const struct kube_entry *e, void *arg),
		 void *arg);

#endif
