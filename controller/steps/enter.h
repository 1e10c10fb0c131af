#ifndef CONTROLLER_STEPS_ENTER_H
#define CONTROLLER_STEPS_ENTER_H

#include "controller/life/journal.h"

/*
 * enter: the only place that changes status.state; only the tick (steps/tick.c) calls it.
 * Tests: tests/unit/controller/steps/test_enter.c, tests/world/test_crash.c,
 * tests/world/test_restore.c
 */

/* At the end of a turn: do what it decided. d: what its step returned; the record must agree with
 * it. */
void decision_enact(struct life *l, enum life_decision d);

#endif
