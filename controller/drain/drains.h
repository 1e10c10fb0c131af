#ifndef CONTROLLER_DRAIN_DRAINS_H
#define CONTROLLER_DRAIN_DRAINS_H

#include "controller/core/context.h"

/*
 * drains: Drain objects. Resolves whom each one means, once, at its start; lets so many at a time
 * leave; follows them; says how it ended; deletes itself after its ttl.
 *
 * spec.concurrent counts machines that a tenant has not lost yet (Evicting, Escalating, Leaving).
 * Those of one gang begin together, even above it (drain/gangs.h), unless spec.gangs is Split; past
 * a deadline with Escalate all begin.
 *
 * It never touches a machine. A machine asks drains_wants() and does what is said
 * (steps/leave_reason.h); how far it is stands in its own status, from which the target's phase is
 * derived:
 *
 *   Pending     not yet its turn
 *   Evicting    its turn: steps/leave_reason.c makes the machine drain
 *   Escalating  past the deadline, onDeadline Escalate: pods are not waited for
 *   Leaving     stopping, isolating, leaving
 *   Wiping      dirty to verifying
 *   Done        free, quarantined (then: Quarantine), retired, or held, as asked; or it served nobody
 *   Stopped     past the deadline, onDeadline Stop: it serves on
 *   Failed      in quarantine for another reason: the machine says which
 *   Cancelled   spec.cancelled before it had left
 *
 * Phase of the Drain: Succeeded when all targets are Done, Partial when they ended otherwise, or
 * when not all whom it names were there at its start (condition Resolved False says whom). A
 * selector that matches nobody is such a case: it ends at once, with nothing done, and what is
 * labelled later is not meant. A deleted Drain is a cancelled one; one with then: Hold holds as
 * long as it exists and is not cancelled (its ttl waits), or until a person releases the machine,
 * which writes status.hold away.
 *
 * The Drain is the journal: a phase is written before a machine acts on it, so a new leader goes
 * on.
 */
struct drains;
struct tenants;
struct drains *drains_new(struct context *c, const struct tenants *tenants);
void drains_free(struct drains *d);
/* this Drain changed; NULL: look at all */
void drains_kick(struct drains *d, const char *name);
/* this Machine changed */
void drains_machine(struct drains *d, const char *machine);

/* The Drain that wants this machine out of service now (its target is Evicting or Escalating, or it
 * holds it), with *escalate set past its deadline. The oldest when several do; one that is past its
 * deadline and escalates goes before all others, one that merely holds it after them; NULL: none.
 * While the machine is free: only what then: Quarantine or Retire has to do yet. */
const struct drain *drains_wants(const struct context *c, const char *machine, bool *escalate);

/* What all Drains whose target it is now ask for together. */
struct drains_together {
	/* the first at which one of them escalates, wall ms; 0: none */
	int64_t deadline;
	/* whose deadline that is */
	const struct drain *hurried;
	/* whose `then` is kept: Retire goes before Quarantine, that before Release; NULL: none */
	const struct drain *after;
};
struct drains_together drains_together(const struct context *c, const char *machine);

/* This machine is to be taken out of use, by a Drain or by annotation: the planner must not count
 * on it. */
bool drains_take_out(const struct context *c, const struct machine *m);

#endif
