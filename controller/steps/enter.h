#ifndef CONTROLLER_STEPS_ENTER_H
#define CONTROLLER_STEPS_ENTER_H

#include "controller/life/journal.h"

/*
 * enter: changes status.state. No other module does so, and only the tick (steps/tick.c) calls this
 * one.
 * Tests: tests/unit/controller/steps/test_enter.c, tests/world/test_crash.c,
 * tests/world/test_restore.c
 */

/* Writes the change of state that this turn decided, if any. Call at the end of the turn. d: return
 * value of the step, which must agree with l->journal.decided. */
void decision_enact(struct life *l, enum life_decision d);

#endif
