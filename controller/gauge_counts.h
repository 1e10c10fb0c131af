#ifndef CONTROLLER_GAUGE_COUNTS_H
#define CONTROLLER_GAUGE_COUNTS_H

#include "base/map.h"
#include "base/metrics.h"

/*
 * gauge_counts: sums by label for gauges that are computed at each scrape. Once a label was shown,
 * it is shown until the process ends, with the value 0 if nothing is counted for it. Dashboards
 * would otherwise keep the last value of a series that vanishes.
 *
 * A key is one label value, or two label values separated by a slash. The second label value
 * contains no slash.
 * Tests: tests/unit/controller/core/test_counters.c
 */
#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Declares a gauge that only the leader shows (metric_transient()). Arguments as for
 * metrics_gauge(). */
struct metric *gauge_of_fleet(struct metrics *m, const char *name, const char *help,
			      const char *const *labels);
/* Returns an empty set of sums; free with map_free(). */
struct map *gauge_counts_new(void);
void gauge_counts_add(struct map *counts, const char *what, double n);
/* Sets all sums to 0. */
void gauge_counts_reset(struct map *counts);
void gauge_counts_show(struct metric *gauge, const struct map *counts);
/* Sets the gauge from sums whose key consists of two label values: the text before the last slash,
 * and the text after the last slash. */
void gauge_counts_show_pairs(struct metric *gauge, const struct map *counts);

#endif
