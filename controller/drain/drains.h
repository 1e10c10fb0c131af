#ifndef CONTROLLER_DRAIN_DRAINS_H
#define CONTROLLER_DRAIN_DRAINS_H

#include "controller/core/context.h"

/*
 * drains: handles Drain objects. Resolves the targets of each Drain once, at its start; starts up
 * to spec.concurrent of them; follows them; reports the result; deletes the Drain after its ttl.
 *
 * spec.concurrent limits the machines that are leaving but that their tenant has not lost yet
 * (Evicting, Escalating, Leaving). Machines of one gang start together, even above the limit
 * (drain/gangs.h), unless spec.gangs is Split. After a deadline with Escalate, all start.
 *
 * This module never touches a machine. A machine's own step calls drains_wants() and acts on the
 * result (steps/leave_reason.h); its progress is in the Machine's status, from which the phase of
 * the target is derived:
 *
 *   Pending     waits for its turn
 *   Evicting    started: steps/leave_reason.c makes the machine drain
 *   Escalating  past the deadline, onDeadline Escalate: no longer waits for pods
 *   Leaving     stopping, isolating, leaving
 *   Wiping      dirty to verifying
 *   Done        free, quarantined (then: Quarantine), retired, or held, as asked; or the
 *               machine served no claim
 *   Stopped     past the deadline, onDeadline Stop: the machine continues to serve
 *   Failed      in quarantine for another reason, which the Machine reports
 *   Cancelled   spec.cancelled was set before it had left
 *
 * The phase of the Drain is Succeeded if all targets are Done. It is Partial if some ended
 * otherwise, or if not all named targets existed at its start (condition Resolved False names one).
 * A selector that matches no Machine also ends as Partial, at once and without any effect; machines
 * labelled later are not included. A deleted Drain counts as cancelled. A Drain with then: Hold
 * holds its machines as long as it exists and is not cancelled (its ttl waits), or until an
 * operator releases the machine, which removes status.hold.
 *
 * The Drain is the journal: a phase is written before a machine acts on it, so that a new leader
 * can continue.
 */
struct drains;
struct tenants;
struct drains *drains_new(struct context *c, const struct tenants *tenants);
void drains_free(struct drains *d);
/* Reconciles this Drain soon; name NULL: all Drains. */
void drains_kick(struct drains *d, const char *name);
/* Reconciles the Drains that have this machine as a target. */
void drains_machine(struct drains *d, const char *machine);

/* Returns the Drain that wants this machine out of service now: its target is Evicting or
 * Escalating, or the Drain holds it. NULL: none. *escalate: that Drain is past its deadline and
 * escalates. Of several Drains one that escalates comes first, then the oldest, then those that
 * merely hold the machine. While the machine is free, only a Drain with then: Quarantine or Retire
 * that is not completed counts. */
const struct drain *drains_wants(const struct context *c, const char *machine, bool *escalate);

/* Combined demands of all Drains that have the machine as a started target. */
struct drains_together {
	/* earliest time at which one of them escalates, wall ms; 0: none */
	int64_t deadline;
	/* Drain with that deadline */
	const struct drain *hurried;
	/* Drain whose `then` applies: Retire wins over Quarantine, Quarantine over Release; NULL:
	 * none */
	const struct drain *after;
};
struct drains_together drains_together(const struct context *c, const char *machine);

/* True if a Drain or an annotation will take this machine out of use: the planner must not count on
 * it. */
bool drains_take_out(const struct context *c, const struct machine *m);

#endif
