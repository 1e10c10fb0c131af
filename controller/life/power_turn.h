#ifndef CONTROLLER_LIFE_POWER_TURN_H
#define CONTROLLER_LIFE_POWER_TURN_H

#include "controller/life/life.h"

/*
 * power_turn: a machine waits for its turn to be switched on (hardware/power_pacing.h).
 *
 * A wait of more than 5 s stands in the journal: waitingFor Rate, begun at lastError.time.  The state's
 * deadline does not pass meanwhile, and is moved by as much before the machine is switched on.
 * Tests: tests/world/test_pace.c
 */

/* May power-on go out?  patience_ms: as of life_act(); what is asked for already needs no turn. */
bool life_paced(struct life *l, int64_t patience_ms);

#endif
