#ifndef CONTROLLER_DRAIN_GANGS_H
#define CONTROLLER_DRAIN_GANGS_H

#include "base/arena.h"
#include "controller/core/context.h"
#include "controller/tenant/tenant.h"

/*
 * gangs: finds the targets of one Drain that have to leave together because they serve the same
 * gang.
 *
 * The pods on a target's Node decide: two targets leave together when pods of one gang run on both
 * (docs/pods.md defines a gang). If a target has no pods and still waits for its turn, its claim's
 * spec.gang counts instead, because the pods may still arrive or be created again. spec.gang never
 * changes, so it is out of date once other pods run there. Targets linked through a third one also
 * leave together. For a tenant that cannot be reached, the pods that were read last count. Only
 * reads the caches.
 * Tests: tests/unit/controller/drain/test_drains.c, tests/world/test_drain_gangs.c
 */
struct drain_gang {
	/* index of the first target that leaves together with this one, itself included; equal for
	 * all targets that leave together */
	size_t first;
	/* name of the gang that links the target to another one; NULL: it leaves alone */
	const char *name;
};
/* Returns one element per target, in the arena. waits: per target, true if it waits for its
 * turn. */
const struct drain_gang *drain_gangs(const struct context *c, const struct tenants *ts,
				     const struct drain_status *s, const bool *waits,
				     struct arena *a);

#endif
