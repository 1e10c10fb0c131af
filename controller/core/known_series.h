#ifndef CONTROLLER_CORE_KNOWN_SERIES_H
#define CONTROLLER_CORE_KNOWN_SERIES_H

#include "controller/core/context.h"

/*
 * known_series: creates counters with the value 0 for all label values that are known beforehand,
 * so that increase() sees the first failure. Values are closed lists (reasons, verdicts) and the
 * names of pools, Providers and tenants.
 *
 * Only a leader has these series before their first event.
 * Tests: tests/unit/controller/core/test_known_series.c
 */

/* Creates the series of closed lists, and those of each object in the caches. Call when this
 * replica begins to lead. */
void known_series_lead(struct context *c);
/* Creates the series of an object; call when one is added to a cache. Other kinds of objects have
 * none. */
void known_series_object(struct context *c, enum object_kind_id kind, const char *name);

#endif
