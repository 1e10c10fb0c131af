#ifndef CONTROLLER_CORE_CLOCK_JUMPS_H
#define CONTROLLER_CORE_CLOCK_JUMPS_H

#include "controller/core/context.h"

/*
 * jumps: the wall clock beside the monotonic one.
 *
 * Deadlines stand in objects, as wall time.  A clock that is put forward by
 * hours (a step of NTP, a virtual machine that was paused) would pass them all
 * at once, and pods would be deleted for it.  So what was stamped before a jump
 * keeps the time that it had left: whoever compares a deadline with the clock
 * takes away what the clock was put forward since the deadline was made.
 *
 *	late = loop_wall() - clock_jumps_since(c, stamp) >= deadline
 *
 * Later than right is possible that way, earlier is not.  A clock that is put back again
 * takes its jump back.  It is known to this process alone: a new one believes its clock.
 *
 * Tests: tests/unit/controller/core/test_clock_jumps.c, tests/world/test_clock.c
 */
struct clock_jumps;
struct clock_jumps *clock_jumps_new(struct context *c);
void clock_jumps_free(struct clock_jumps *j);

/* By how many ms the wall clock was put forward since this moment of it, or another clock's: what is
 * stamped before the time that a jump led to counts as older than the jump. */
int64_t clock_jumps_since(const struct context *c, int64_t stamp);

#endif
