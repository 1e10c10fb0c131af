#ifndef CONTROLLER_DRAIN_GANGS_H
#define CONTROLLER_DRAIN_GANGS_H

#include "base/arena.h"
#include "controller/core/context.h"
#include "controller/tenant/tenant.h"

/*
 * gangs: finds the targets (machines) of one Drain that have to leave together because they serve
 * the same gang.
 *
 * The pods on a target's Node decide: two targets leave together if pods of one gang run on both
 * (docs/pods.md defines a gang). If a target has no pods and still waits for its turn, its claim's
 * spec.gang counts instead, because the pods may still arrive or be created again. Otherwise
 * spec.gang is ignored: it never changes, and other pods may run on the Node by now. Targets linked
 * through a third one also leave together. For a tenant that cannot be reached, the pods that were
 * read last count. Only reads the caches.
 * Tests: tests/unit/controller/drain/test_drains.c, tests/world/test_drain_gangs.c
 */
struct drain_gang {
	/* index in s->targets of the first target of this target's group. A group is a set of
	 * targets that leave together; a target that leaves alone is its own group. */
	size_t first;
	/* name of the gang that links this target to another one; NULL: the target leaves alone */
	const char *name;
};
/* Computes which targets of the Drain leave together. Returns one element per target in s->targets,
 * allocated in the arena. waits: per target, true if the target waits for its turn. */
const struct drain_gang *drain_gangs(const struct context *c, const struct tenants *ts,
				     const struct drain_status *s, const bool *waits,
				     struct arena *a);

#endif
