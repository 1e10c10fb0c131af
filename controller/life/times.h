#ifndef CONTROLLER_LIFE_TIMES_H
#define CONTROLLER_LIFE_TIMES_H

#include "controller/life/life.h"

/*
 * times: corrects times in a Machine's status that lie too far in the future.
 *
 * If a leader's clock was ahead, its deadlines may be a year away. After the correction no state
 * takes longer than its limit from now on, nothing began later than now, and no retry waits longer
 * than the longest back-off.
 * Tests: tests/world/test_clock.c
 */

/* True if all times in status are plausible. Otherwise writes corrected times, and returns
 * false. */
bool life_ensure_times_near(struct life *l);

#endif
