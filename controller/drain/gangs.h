#ifndef CONTROLLER_DRAIN_GANGS_H
#define CONTROLLER_DRAIN_GANGS_H

#include "base/arena.h"
#include "controller/core/context.h"
#include "controller/tenant/tenant.h"

/*
 * gangs: which targets of one Drain are of use together alone.
 *
 * The pods on a target's Node come first: two targets leave together when pods of one gang run on
 * both (docs/pods.md says what a gang is). Only while a target has no pods and waits for its turn
 * does its claim's spec.gang count, for the pods may still come or be created anew. spec.gang never
 * changes, so once other pods run there it is out of date. Targets that hang together by a third
 * one leave together as well. Of a tenant that cannot be reached the pods that were read last
 * count. Reads the caches, and does nothing else.
 * Tests: tests/unit/controller/drain/test_drains.c, tests/world/test_drain_gangs.c
 */
struct drain_gang {
	/* of the targets that it leaves with, itself too: the same number in all of them */
	size_t first;
	/* of the gang by which it hangs together with another; NULL: it is alone */
	const char *name;
};
/* Returns one for each target, in the arena. waits: for each target, whether it waits for its
 * turn. */
const struct drain_gang *drain_gangs(const struct context *c, const struct tenants *ts,
				     const struct drain_status *s, const bool *waits,
				     struct arena *a);

#endif
