#ifndef CONTROLLER_STEPS_ADOPT_H
#define CONTROLLER_STEPS_ADOPT_H

#include "controller/life/journal.h"

/*
 * adopt: takes a machine from known to serving without touching it, because of spec.approval
 * {action: Adopt, claim}. Meant for a server that ran before drover, or whose status was lost.
 *
 * Drover first proves that the claim exists, names this machine and is not being deleted; that the
 * claim's tenant has a Node of the claim's name with a boot id and with the machine's identity
 * (identity_node(): system UUID, or providerID if the UUID is not usable or byte-swapped); that the
 * machine is on; and, if there is a fabric, that the machine's port is in that tenant's segment.
 * Until all of this is proved, the machine waits, and status shows what is missing. Adoption
 * switches neither the power nor the port.
 *
 * Also used while the machine serves or drains, if its claim was replaced by one with the same name
 * and a different UID (life_claim_check()). The machine is then bound to the new UID, in the same
 * tenancy.
 * Tests: tests/world/test_verbs.c
 */
/* True if there is an operator's approval to adopt that drover has not acted on yet. */
bool adopt_wanted(const struct life *l);
/* Adopts the machine if everything is proved; otherwise waits. Returns the decision. The caller
 * must have checked consent and read the BMC. */
enum life_decision adopt(struct life *l);
/* Call in serving and draining if the claim of this machine is not in the cache. True if the claim
 * is deleted. False if the claim exists or this is not known yet. If a claim of the same name has a
 * different UID, also adopts that claim (sets *d) or asks an operator to approve it. */
bool adopt_unless_gone(struct life *l, enum life_decision *d);

#endif
