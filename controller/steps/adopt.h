#ifndef CONTROLLER_STEPS_ADOPT_H
#define CONTROLLER_STEPS_ADOPT_H

#include "controller/life/journal.h"

/*
 * adopt: known to serving without touching the machine, by spec.approval {action: Adopt, claim}: a
 * server that ran before drover, or whose status was lost.
 *
 * Proved before: the claim is there and names this machine, its tenant has a Node of the claim's
 * name with the system UUID that the BMC says and a boot id, the machine is on, and its port is in
 * that tenant's segment, where there is a fabric. Until then it waits and says for what; nothing is
 * switched.
 *
 * Also while it serves, when the claim that it serves came back with another UID
 * (life_claim_look()): then it takes the UID over, in the same tenancy.
 * Tests: tests/world/test_verbs.c
 */
/* an approval to adopt that was not acted on yet */
bool adopt_wanted(const struct life *l);
/* Consent is given, the BMC was just read. */
enum life_decision adopt(struct life *l);
/* In serving and draining: true when the claim that is served is gone. One that came back with
 * another UID is not: it is adopted, or a person is asked for. */
bool adopt_unless_gone(struct life *l, enum life_decision *d);

#endif
