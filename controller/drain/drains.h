#ifndef CONTROLLER_DRAIN_DRAINS_H
#define CONTROLLER_DRAIN_DRAINS_H

#include "controller/core/context.h"

/*
 * drains: handles Drain objects. Resolves the targets of each Drain (its machines) once, at its
 * start; starts up to spec.concurrent of them; follows them; reports the result; deletes the Drain
 * after its ttl.
 *
 * spec.concurrent limits the number of machines that are leaving and still belong to their tenant
 * (Evicting, Escalating, Leaving). Machines of one gang start together, even above the limit
 * (drain/gangs.h), unless spec.gangs is Split. After a deadline with Escalate, all remaining
 * targets start.
 *
 * This module never touches a machine. A machine's own step calls drains_wants() and acts on the
 * result (steps/leave_reason.h). Its progress is in the Machine's status, from which the phase of
 * the target is derived:
 *
 *   Pending     waits for its turn
 *   Evicting    started: steps/leave_reason.c makes the machine drain
 *   Escalating  past the deadline, onDeadline Escalate: no longer waits for pods
 *   Leaving     stopping, isolating, leaving
 *   Wiping      dirty to verifying
 *   Done        free, quarantined (then: Quarantine), retired, or held, as the Drain asks; or the
 *               machine served no claim
 *   Stopped     past the deadline, onDeadline Stop: the machine continues to serve
 *   Failed      quarantined for another reason, which the Machine reports; or the Machine does
 *               not exist
 *   Cancelled   spec.cancelled was set before the machine had left
 *
 * The phase of the Drain is Succeeded if all targets are Done. It is Partial if some ended
 * otherwise, or if not all named targets existed at its start (condition Resolved False names one).
 * A selector that matches no Machine also ends as Partial, at once and without any effect; machines
 * labelled later are not included. A deleted Drain counts as cancelled. A Drain with then: Hold
 * holds its machines as long as it exists and is not cancelled (its ttl does not run meanwhile), or
 * until an operator releases the machine, which removes status.hold.
 *
 * The Drain serves as the journal: a phase is written to it before a machine acts on that phase, so
 * that a new leader can continue.
 */
struct drains;
struct tenants;
struct drains *drains_new(struct context *c, const struct tenants *tenants);
void drains_free(struct drains *d);
/* Schedules the reconciliation of Drain `name`; name NULL: of all Drains. */
void drains_kick(struct drains *d, const char *name);
/* Schedules the reconciliation of all Drains that have this machine as a target. */
void drains_machine(struct drains *d, const char *machine);

/* Returns the Drain that wants this machine out of service now: its target is Evicting or
 * Escalating, or the Drain holds the machine. NULL: none. *escalate: true if that Drain is past its
 * deadline and escalates.
 *
 * If several Drains want the machine, those that still want it to leave come before those that
 * merely hold it. Among them, Drains that escalate come first, then the oldest. If the machine is
 * already free, only a Drain counts that has yet to quarantine or retire the machine. */
const struct drain *drains_wants(const struct context *c, const char *machine, bool *escalate);

/* Combined demands of all Drains that want the machine to leave now (target Evicting or
 * Escalating). */
struct drains_together {
	/* wall ms of the earliest deadline with Escalate among these Drains; 0: none */
	int64_t deadline;
	/* Drain that has this earliest deadline; NULL: none */
	const struct drain *hurried;
	/* Drain whose `then` applies: Retire wins over Quarantine, Quarantine over Release; NULL:
	 * none */
	const struct drain *after;
};
struct drains_together drains_together(const struct context *c, const char *machine);

/* True if this machine will be quarantined or retired once it has left its tenant: by a Drain, by
 * the annotation that requests quarantine (REQUEST_QUARANTINE), or by its status.leave.then. The
 * planner must not count on the machine. */
bool drains_take_out(const struct context *c, const struct machine *m);

#endif
