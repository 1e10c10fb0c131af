#ifndef PLANNER_SUPPLY_STOPS_H
#define PLANNER_SUPPLY_STOPS_H

#include "planner/supply/supply.h"

/*
 * stops: excludes parts of the supply from which no machine can be had now. A stop (struct
 * world_stop, set by world_put_stops()) describes one such part.
 *
 * A plan treats stopped machines as if they did not exist for the tenant, so it uses the next pool
 * or type. Claims in progress are not affected.
 * Tests: tests/unit/planner/supply/test_stops.c
 */
/* Returns the first stop that excludes the machines of option o for the tenant; NULL: none. o must
 * belong to offer l of pool fp. */
const struct world_stop *stops_of(const struct planning *p, const struct world_tenant *t,
				  const struct fit_pool *fp, const struct supply_type_offer *l,
				  const struct supply_option *o);
enum plan_reason_code stops_code(const struct world_stop *s);

#endif
