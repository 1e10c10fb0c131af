#ifndef CONTROLLER_STEPS_ADOPT_H
#define CONTROLLER_STEPS_ADOPT_H

#include "controller/life/journal.h"

/*
 * adopt: takes a machine from known to serving without touching it, by spec.approval {action:
 * Adopt, claim}: a server that ran before drover, or whose status was lost.
 *
 * Proved first: the claim exists and names this machine; its tenant has a Node of the claim's name
 * with the system UUID that the BMC reports and a boot id; the machine is on; and, if there is a
 * fabric, its port is in that tenant's segment. Until then the machine waits and says for what;
 * nothing is switched.
 *
 * Also used while the machine serves, if its claim came back with a different UID
 * (life_claim_look()): the machine then takes over the new UID, in the same tenancy.
 * Tests: tests/world/test_verbs.c
 */
/* True if there is an approval to adopt that drover has not acted on. */
bool adopt_wanted(const struct life *l);
/* Adopts the machine if everything is proved. The caller must have checked consent and read the
 * BMC. */
enum life_decision adopt(struct life *l);
/* In serving and draining: true if the machine's claim is deleted. A claim that came back with a
 * different UID is not deleted: it is adopted, or an operator is asked to approve it. */
bool adopt_unless_gone(struct life *l, enum life_decision *d);

#endif
