#ifndef CONTROLLER_CORE_SWEEP_H
#define CONTROLLER_CORE_SWEEP_H

#include "base/arena.h"
#include "kube/cache.h"

/*
 * sweep: visits each object that a cache had when the sweep began, a limited number in each loop
 * turn, so that a thousand objects do not block the loop. Objects that were added later, or that
 * are gone, are not visited.
 *
 * Embedded in its owner. The owner's arena must exist until the sweep ends or is abandoned.
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
/* Calls fn for the next objects, at most `most` of them; the sweep ends early when fn returns
 * false. Returns true if objects are left for the next call. */
bool sweep_go_on(struct sweep *s, size_t most, bool (*fn)(const struct kube_entry *e, void *arg),
		 void *arg);

#endif
