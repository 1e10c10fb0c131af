#ifndef CONTROLLER_CORE_KNOWN_SERIES_H
#define CONTROLLER_CORE_KNOWN_SERIES_H

#include "controller/core/context.h"

/*
 * known_series: creates counters with the value 0 for label values that are known beforehand, so
 * that boards show a 0 for what has not happened. Values are short closed lists (verdicts,
 * outcomes) and the names of pools, Providers and tenants. The series of an object end with the
 * object, so that names which come and go do not fill their family.
 *
 * Only a leader has these series before their first event. Also without them increase() sees the
 * first event, because counters.c shows each new series with 0 first.
 * Tests: tests/unit/controller/core/test_known_series.c
 */

/* Creates the series of closed lists, and those of each object in the caches. Call when this
 * replica begins to lead. */
void known_series_lead(struct context *c);
/* Creates the series of an object; call when one is added to a cache. Other kinds of objects have
 * none. */
void known_series_object(struct context *c, enum object_kind_id kind, const char *name);

/* Removes the series of a deleted object. Call on each replica. Events that were not scraped yet
 * are lost. */
void known_series_gone(struct context *c, enum object_kind_id kind, const char *name);

#endif
