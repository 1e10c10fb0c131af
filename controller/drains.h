#ifndef CONTROLLER_DRAINS_H
#define CONTROLLER_DRAINS_H

#include "controller/controller.h"

/*
 * drains: Drain objects.  Resolves whom each one means, once, at its start; lets so many at a
 * time leave; follows them; says how it ended; deletes itself after its ttl.
 *
 * It never touches a machine.  A machine asks drains_wants() and does what is said (leave.h);
 * how far it is stands in its own status, from which the target's phase is derived:
 *
 *	Pending     not yet its turn
 *	Evicting    its turn: leave.c makes the machine drain
 *	Escalating  past the deadline, onDeadline Escalate: pods are not waited for
 *	Leaving     stopping, isolating, leaving
 *	Wiping      dirty to verifying
 *	Done        free, quarantined (then: Quarantine), retired, or held, as asked; or it served nobody
 *	Stopped     past the deadline, onDeadline Stop: it serves on
 *	Failed      in quarantine for another reason: the machine says which
 *	Cancelled   spec.cancelled before it had left
 *
 * Phase of the Drain: Succeeded when all targets are Done, Partial when they ended otherwise.
 * A deleted Drain is a cancelled one; one with then: Hold holds as long as it exists and is not cancelled.
 */
struct drains;
struct drains *drains_new(struct controller *c);
void drains_free(struct drains *d);
void drains_kick(struct drains *d, const char *name); /* this Drain changed; NULL: look at all */
void drains_machine(struct drains *d, const char *machine); /* this Machine changed */

/* The Drain that wants this machine out of service now (its target is Evicting or Escalating, or it holds
 * it), with *escalate set past its deadline.  The oldest when several do; NULL: none. */
const struct drain *drains_wants(const struct controller *c, const char *machine, bool *escalate);

#endif
