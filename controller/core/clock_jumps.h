#ifndef CONTROLLER_CORE_CLOCK_JUMPS_H
#define CONTROLLER_CORE_CLOCK_JUMPS_H

#include "controller/core/context.h"

/*
 * clock_jumps: detects jumps of the wall clock by comparing it with the monotonic clock.
 *
 * Deadlines in objects are wall times. A clock that is set forward by hours (a step of NTP, a
 * paused virtual machine) would pass all of them at once, and pods would be deleted. So a deadline
 * keeps the time that was left before the jump: code that compares a deadline with the clock
 * subtracts the jumps since the deadline was set.
 *
 *   late = loop_wall() - clock_jumps_since(c, stamp) >= deadline
 *
 * As a result, drover may act on a deadline too late, but never too early. Setting the clock back
 * cancels earlier jumps forward. Jumps are known only to the process that saw them: a new process
 * trusts its clock.
 *
 * Tests: tests/unit/controller/core/test_clock_jumps.c, tests/world/test_clock.c
 */
struct clock_jumps;
struct clock_jumps *clock_jumps_new(struct context *c);
void clock_jumps_free(struct clock_jumps *j);

/* Returns by how many ms the wall clock has jumped forward since `stamp` (wall ms, read from the
 * clock of this or another machine). Counts each jump that ended after the stamp. */
int64_t clock_jumps_since(const struct context *c, int64_t stamp);

#endif
