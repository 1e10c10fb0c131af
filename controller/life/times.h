#ifndef CONTROLLER_LIFE_TIMES_H
#define CONTROLLER_LIFE_TIMES_H

#include "controller/life/life.h"

/*
 * times: corrects times in a Machine's status that lie too far in the future.
 *
 * A clock that was ahead (of this or an earlier leader) may have left deadlines a year away. After
 * the correction no state takes longer than its limit from now on, nothing began later than now,
 * and no retry waits longer than the longest back-off.
 * Tests: tests/world/test_clock.c
 */

/* True if all times are plausible. False while corrected times are being written. */
bool life_ensure_times_near(struct life *l);

#endif
