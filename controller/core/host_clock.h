#ifndef CONTROLLER_CORE_HOST_CLOCK_H
#define CONTROLLER_CORE_HOST_CLOCK_H

#include "controller/core/context.h"

/*
 * host_clock: compares this replica's wall clock with that of the host's API server, as reported in
 * the Date header of each reply.
 *
 * Deadlines are stored in objects. A replica whose clock is a day ahead would pass all of them when
 * it becomes leader, and a replica whose clock is behind would write times that are past for the
 * next leader. So while the two clocks differ by more than a minute, drover decides nothing about
 * machines, Drains or sleeping tenants and starts no act; it cannot know which clock is wrong. The
 * difference is reported by the metric drover_clock_ahead_seconds, in the log, and by the event
 * ClockDisagrees on the Lease. A server that sends no Date is not compared.
 *
 * On the loop thread.
 * Tests: tests/world/test_clock.c
 */
struct host_clock;
struct host_clock *host_clock_new(struct context *c);
void host_clock_free(struct host_clock *h);

/* Returns by how many ms this replica's clock is ahead of the API server's clock, to within a
 * second or two; 0 if the server's clock is unknown. */
int64_t host_clock_ahead(const struct context *c);
bool host_clock_agrees(const struct context *c);

#endif
