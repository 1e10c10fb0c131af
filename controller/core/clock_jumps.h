#ifndef CONTROLLER_CORE_CLOCK_JUMPS_H
#define CONTROLLER_CORE_CLOCK_JUMPS_H

#include "controller/core/context.h"

/*
 * clock_jumps: the wall clock beside the monotonic one.
 *
 * Deadlines stand in objects, as wall time. A clock that is put forward by hours (a step of NTP, a
 * virtual machine that was paused) would pass all of them at once, and pods would be deleted for
 * it. So a deadline keeps the time that it had left before the jump: whoever compares it with the
 * clock subtracts by how much the clock was put forward since the deadline was made.
 *
 *   late = loop_wall() - clock_jumps_since(c, stamp) >= deadline
 *
 * A deadline may so be acted on too late, never too early. When the clock is put back, the jump is
 * forgotten. Jumps are known to this process alone: a new one believes its clock.
 *
 * Tests: tests/unit/controller/core/test_clock_jumps.c, tests/world/test_clock.c
 */
struct clock_jumps;
struct clock_jumps *clock_jumps_new(struct context *c);
void clock_jumps_free(struct clock_jumps *j);

/* By how many ms the wall clock was put forward since `stamp`, in wall ms of this clock or of
 * another machine's. A stamp below the time that a jump led to counts as older than the jump. */
int64_t clock_jumps_since(const struct context *c, int64_t stamp);

#endif
