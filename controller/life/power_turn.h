#ifndef CONTROLLER_LIFE_POWER_TURN_H
#define CONTROLLER_LIFE_POWER_TURN_H

#include "controller/life/life.h"

/*
 * life_pace: power-on waits its turn (hardware/power_pacing.h).
 *
 * A wait worth telling stands in the journal: waitingFor Rate, since lastError.time.  It does not eat the
 * state's deadline: that stands still meanwhile, and is moved by as much before the machine is switched on.
 * Tests: tests/world/test_pace.c
 */

/* May power-on go out?  patience_ms: as of life_act(); what is asked for already needs no turn. */
bool life_paced(struct life *l, int64_t patience_ms);

#endif
