#ifndef CONTROLLER_DRAIN_GANGS_H
#define CONTROLLER_DRAIN_GANGS_H

#include "base/arena.h"
#include "controller/core/context.h"
#include "controller/tenant/tenant.h"

/*
 * gangs: which targets of one Drain are of use together alone.
 *
 * Two are when pods of one gang run on both (docs/pods.md says what a gang is), or when their claims name the same one; and
 * so are those that hang together by a third.  What a tenant that cannot be used said last counts.  Reads the caches, and
 * does nothing else.
 * Tests: tests/unit/controller/drain/test_drains.c, tests/world/test_drain.c
 */
struct drain_gang {
	size_t first; /* of the targets that it leaves with, itself too: the same number in all of them */
	const char
		*name; /* of the gang by which it hangs together with another; NULL: it is alone */
};
/* One for each target, in the arena. */
const struct drain_gang *drain_gangs(const struct context *c, const struct tenants *ts,
				     const struct drain_status *s, struct arena *a);

#endif
