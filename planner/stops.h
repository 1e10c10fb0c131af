#ifndef PLANNER_STOPS_H
#define PLANNER_STOPS_H

#include "planner/supply.h"

/*
 * stops: parts of the supply from which no machine can be had now (struct world_stop,
 * world_put_stops()).
 *
 * Stopped machines are not supply for the tenant, so a plan uses the next pool or type. Claims in
 * progress are not affected.
 * Tests: tests/unit/planner/test_stops.c
 */
/* Returns the first stop that excludes machines of option o (offer l, pool fp) for the tenant;
 * NULL: none. */
const struct world_stop *stops_of(const struct planning *p, const struct world_tenant *t,
				  const struct fit_pool *fp, const struct supply_line *l,
				  const struct supply_option *o);
enum plan_reason_code stops_code(const struct world_stop *s);

#endif
