#ifndef CONTROLLER_GAUGE_COUNTS_H
#define CONTROLLER_GAUGE_COUNTS_H

#include "base/map.h"
#include "base/metrics.h"

/*
 * gauge_counts: sums by label for gauges that are computed at each scrape. A label once shown is
 * shown as 0 from then on until the process ends, because dashboards keep the last value of a
 * series that vanishes.
 *
 * A key is one label value, or two separated by a slash; the second contains no slash.
 * Tests: tests/unit/controller/core/test_counters.c
 */
#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Returns an empty set of sums; free with map_free(). */
struct map *gauge_counts_new(void);
void gauge_counts_add(struct map *counts, const char *what, double n);
/* Sets all sums to 0. */
void gauge_counts_reset(struct map *counts);
void gauge_counts_show(struct metric *gauge, const struct map *counts);
/* Shows sums whose key is two label values: the text before the last slash, and the text after
 * it. */
void gauge_counts_show_pairs(struct metric *gauge, const struct map *counts);

#endif
