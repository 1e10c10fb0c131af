#ifndef CONTROLLER_LIFE_PORT_H
#define CONTROLLER_LIFE_PORT_H

#include "controller/life/life.h"

/*
 * port: observes the machine's switch port and moves it between segments (isolated networks).
 * Tests: tests/world/test_leave.c, tests/world/test_restore.c
 */

/* True if the last observation of the port at the fabric is at most max_age_ms old and began after
 * the last act had ended. The age counts as in life_ensure_observed() (bmc.h). Otherwise starts an
 * observation and returns false. */
bool life_ensure_port_observed(struct life *l, int64_t max_age_ms);

/* True if the port is in `segment`, proved as far as the fabric can prove it, and status.network
 * records that. Otherwise starts what is missing: an observation, a move of the port, or a write of
 * status. */
bool life_ensure_placed(struct life *l, const char *segment);

/* Forgets when the present state first wanted an observation of the port. Call on a change of
 * state. */
void life_port_over(struct life *l);
/* True if the last observation showed the port in a segment of a tenant, proved or not. */
bool life_in_tenants_segment(const struct life *l);
/* True if the last observation proved the port in drover's quarantine or provisioning segment,
 * where no tenant is. */
bool life_in_drovers_segment(const struct life *l);

/* Forgets the last observation, so that the fabric is read again. */
void life_port_forget(struct life *l);
/* Forgets the last observation and any request in flight. A move in flight may still take effect
 * (life_move_unheard()). Call when the fabric is freed. */
void life_port_drop(struct life *l);

#endif
