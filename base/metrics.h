#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include <stddef.h>
#include "base/buf.h"
#include "base/own.h"

/*
 * metrics: counters, gauges and histograms, written as Prometheus text 0.0.4.
 *
 * A registry belongs to one loop thread.  A family is declared once with its
 * help text (also the manual); a series is found by its label values.  The
 * number of series of one family is bounded (1,000): more go to one series
 * whose label values are "other", so that a hostile name cannot eat memory.
 */
struct metrics;
struct metric;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);
DEFINE_OWN(metrics)

/* labels: names, NULL-terminated, at most 4; NULL for none. Declaring the same name again gives the
 * same family. */
struct metric *metrics_counter(struct metrics *m, const char *name, const char *help,
			       const char *const *labels);
struct metric *metrics_gauge(struct metrics *m, const char *name, const char *help,
			     const char *const *labels);
/* bounds: upper bounds in ascending order, n of them; +Inf is added. */
struct metric *metrics_histogram(struct metrics *m, const char *name, const char *help,
				 const char *const *labels, const double *bounds, size_t n);

/* values: one for each label name, in order; NULL when there are none. */
void metric_add(struct metric *f, const char *const *values, double by);
void metric_set(struct metric *f, const char *const *values, double to);
void metric_observe(struct metric *f, const char *const *values, double x);
/* counter or gauge; 0 if unseen */
double metric_get(const struct metric *f, const char *const *values);

void metrics_write(const struct metrics *m, struct buf *out);

#endif
