#ifndef CONTROLLER_DRAIN_TARGETS_H
#define CONTROLLER_DRAIN_TARGETS_H

#include "controller/core/context.h"

/*
 * targets: computes the phase of each target (machine) of one Drain from the status of its Machine,
 * and which targets start next. Only reads the caches. Used by drain/drains.c; steps/leave_reason.c
 * also uses drain_holds().
 * Tests: tests/unit/controller/drain/test_drains.c, tests/world/test_drain.c
 */
struct tenants;
enum drain_step {
	DRAIN_STEP_PENDING,
	DRAIN_STEP_EVICTING,
	DRAIN_STEP_ESCALATING,
	DRAIN_STEP_LEAVING,
	DRAIN_STEP_WIPING,
	/* the steps from DRAIN_STEP_DONE on are final */
	DRAIN_STEP_DONE,
	DRAIN_STEP_STOPPED,
	DRAIN_STEP_FAILED,
	DRAIN_STEP_CANCELLED,
	DRAIN_STEPS
};
extern const char *const drain_step_names[DRAIN_STEPS];
enum drain_step drain_step_of(const struct drain_target *t);

/* True if the Drain is cancelled or being deleted. */
bool drain_withdrawn(const struct drain *d);
/* True if the Drain is past its deadline. A forward jump of the wall clock does not bring the
 * deadline nearer. */
bool drain_late(const struct context *c, const struct drain *d);
/* True if the Drain (then: Hold) holds this machine: the machine is out of use, its Node still
 * exists, and both stay so while the Drain exists. */
bool drain_holds(const struct drain *d, const struct machine *m);

/* Sets the conditions Ready and Stalled in *s from s->phase. `reason` and `message` are not copied
 * and must live as long as the arena. If the list of conditions grows, the new list is allocated in
 * the arena. */
void drain_ready(const struct drain *d, struct drain_status *s, struct arena *a, int64_t now,
		 const char *reason, const char *message);
/* Updates *s to the current state of the targets, and starts the targets whose turn has come. The
 * lists in *s must be writable. */
void drains_advance(const struct context *c, const struct tenants *tenants, const struct drain *d,
		    struct drain_status *s, struct arena *a, int64_t now);

#endif
