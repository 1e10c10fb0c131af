#ifndef CONTROLLER_DRAIN_TARGETS_H
#define CONTROLLER_DRAIN_TARGETS_H

#include "controller/core/context.h"

/*
 * targets: the phase of each target of one Drain, from the status of its Machines, and who leaves
 * together (drain/gangs.h). Reads the caches, and does nothing else. For drain/drains.c;
 * drain_holds() for steps/leave_reason.c as well.
 * Tests: tests/unit/controller/drain/test_drains.c, tests/world/test_drain.c
 */
struct tenants;
enum drain_step {
	DRAIN_STEP_PENDING,
	DRAIN_STEP_EVICTING,
	DRAIN_STEP_ESCALATING,
	DRAIN_STEP_LEAVING,
	DRAIN_STEP_WIPING,
	/* from here on: ended */
	DRAIN_STEP_DONE,
	DRAIN_STEP_STOPPED,
	DRAIN_STEP_FAILED,
	DRAIN_STEP_CANCELLED,
	DRAIN_STEPS
};
extern const char *const drain_step_names[DRAIN_STEPS];
enum drain_step drain_step_of(const struct drain_target *t);

/* cancelled or deleted */
bool drain_withdrawn(const struct drain *d);
/* Past its deadline, which a clock that is put forward does not bring nearer. */
bool drain_late(const struct context *c, const struct drain *d);
/* This machine serves on, out of use, as long as the Drain stands. */
bool drain_holds(const struct drain *d, const struct machine *m);

/* One condition; its strings and a longer list go into the arena. */
void drain_condition(const struct drain *d, struct drain_status *s, struct arena *a, int64_t now,
		     const char *type, int status, const char *reason, const char *message);
/* One look: *s (its lists may be changed) becomes what it is by now, the next targets have their
 * turn. */
void drains_advance(const struct context *c, const struct tenants *tenants, const struct drain *d,
		    struct drain_status *s, struct arena *a, int64_t now);

#endif
