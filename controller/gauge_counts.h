#ifndef CONTROLLER_GAUGE_COUNTS_H
#define CONTROLLER_GAUGE_COUNTS_H

#include "base/map.h"
#include "base/metrics.h"

/*
 * gauge_counts: sums by label for gauges that are made anew at each scrape. What was shown once is
 * shown for as long as the process lives, as 0: a series that vanished would keep its last value in
 * a dashboard.
 *
 * A key is one label value, or two with a slash between them; the second has none in it.
 * Tests: tests/unit/controller/core/test_counters.c
 */
#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* map_free() ends it */
struct map *gauge_counts_new(void);
void gauge_counts_add(struct map *counts, const char *what, double n);
/* all are 0 */
void gauge_counts_reset(struct map *counts);
void gauge_counts_show(struct metric *gauge, const struct map *counts);
/* What stands before the last slash is one label, what is behind it the other. */
void gauge_counts_show_pairs(struct metric *gauge, const struct map *counts);

#endif
