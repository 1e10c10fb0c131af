#ifndef CONTROLLER_CORE_HOST_CLOCK_H
#define CONTROLLER_CORE_HOST_CLOCK_H

#include "controller/core/context.h"

/*
 * host_clock: this replica's wall clock beside that of the host's API server, as each of its
 * answers says (Date).
 *
 * Deadlines stand in objects. A replica whose clock is a day ahead would pass all of them when it
 * begins to lead, and one whose clock is behind would write down times that are past for whoever
 * leads next. So where the two clocks disagree by more than a minute nothing of a machine, a Drain
 * or a sleep is decided, and no act is begun, until they agree again; which of them is wrong nobody
 * can know. It is said by the metric drover_clock_ahead_seconds, in the log, and by the event
 * ClockDisagrees on the Lease. A server that says no date is not compared with.
 *
 * On the loop thread.
 * Tests: tests/world/test_clock.c
 */
struct host_clock;
struct host_clock *host_clock_new(struct context *c);
void host_clock_free(struct host_clock *h);

/* By how many ms our clock is ahead of the server's, but for a second or two; 0: not known. */
int64_t host_clock_ahead(const struct context *c);
bool host_clock_agrees(const struct context *c);

#endif
