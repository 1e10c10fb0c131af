#ifndef CONTROLLER_ADOPT_H
#define CONTROLLER_ADOPT_H

#include "controller/life.h"

/*
 * adopt: known to serving without touching the machine, by spec.approval
 * {action: Adopt, claim}: a server that ran before drover, or whose status was lost.
 *
 * Proved before: the claim is there and names this machine, its tenant has a Node of the
 * claim's name with the system UUID that the BMC says and a boot id, and the machine is on.
 * Until then it waits and says for what; nothing is switched.
 * Tests: tests/world/test_verbs.c
 */
bool adopt_wanted(const struct life *l); /* an approval to adopt that was not acted on yet */
void adopt(struct life *l); /* a step of known: consent is given, the BMC was just read */

#endif
