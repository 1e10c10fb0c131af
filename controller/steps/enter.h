#ifndef CONTROLLER_STEPS_ENTER_H
#define CONTROLLER_STEPS_ENTER_H

#include "controller/life/journal.h"

/*
 * enter: the only module that changes status.state, called only by the tick (steps/tick.c).
 * Tests: tests/unit/controller/steps/test_enter.c, tests/world/test_crash.c,
 * tests/world/test_restore.c
 */

/* Writes what this turn decided, at its end. d: return value of the step, which must agree with
 * l->journal.decided. */
void decision_enact(struct life *l, enum life_decision d);

#endif
