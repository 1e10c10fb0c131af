#ifndef CONTROLLER_LIFE_TIMES_H
#define CONTROLLER_LIFE_TIMES_H

#include "controller/life/life.h"

/*
 * times: what stands in a Machine as time, brought back to where it can be.
 *
 * A clock that was ahead, this one's before it was put right or that of a leader before, leaves
 * deadlines that are a year away. No state takes longer than its limit from now on, nothing began
 * later than now, and nothing waits longer for its next try than the longest back-off.
 * Tests: tests/world/test_clock.c
 */

/* False: it is being written. */
bool life_ensure_times_near(struct life *l);

#endif
