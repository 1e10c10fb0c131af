#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/own.h"

/*
 * metrics: counters, gauges and histograms, written as Prometheus text 0.0.4 or OpenMetrics 1.0.
 *
 * A registry (struct metrics) belongs to one loop thread. A family (struct metric) is declared
 * once, with its help text; each combination of its label values is a series. One family has at
 * most 1,000 series, or as many as metric_limit() sets: further combinations are counted in one
 * series whose label values are "other", so that hostile names cannot exhaust memory.
 */
struct metrics;
struct metric;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);
DEFINE_OWN(metrics)

/* Sets the clock (Unix ms) for the times at which series were created and traced values observed.
 * Without a clock these times are not written. */
void metrics_clock(struct metrics *m, int64_t (*wall)(void *arg), void *arg);

/* Declare a family of counters or gauges and return it. A counter's name ends with "_total".
 * labels: names of the labels, NULL-terminated, at most 4; NULL: none. Declaring the same name
 * again returns the same family. */
struct metric *metrics_counter(struct metrics *m, const char *name, const char *help,
			       const char *const *labels);
struct metric *metrics_gauge(struct metrics *m, const char *name, const char *help,
			     const char *const *labels);
/* Declares a family of histograms. bounds: n upper bounds in ascending order; +Inf is added. */
struct metric *metrics_histogram(struct metrics *m, const char *name, const char *help,
				 const char *const *labels, const double *bounds, size_t n);

/* metric_add() increases a counter or gauge, metric_set() sets a gauge, metric_observe() adds a
 * value to a histogram. values: one for each label name, in order; NULL if the family has no
 * labels. metric_set() of several combinations beyond the limit keeps only the last value, so a
 * gauge with foreign label values must be added up by metric_zero() and metric_add(). */
void metric_add(struct metric *f, const char *const *values, double by);
void metric_set(struct metric *f, const char *const *values, double to);
void metric_observe(struct metric *f, const char *const *values, double x);
/* Like metric_observe(), for a value that belongs to a trace: OpenMetrics shows the latest value
 * of each bucket with its trace, as an exemplar. trace: ID of the trace as METRICS_TRACE hex
 * digits; NULL: none. */
#define METRICS_TRACE 32
void metric_observe_traced(struct metric *f, const char *const *values, double x,
			   const char *trace);
/* Creates the series with the value 0, unless it exists: rate() and increase() see the first event
 * of a series only if the series was 0 before. */
void metric_start(struct metric *f, const char *const *values);
/* Returns the family with this name; NULL: not declared. */
struct metric *metrics_find(const struct metrics *m, const char *name);
/* Returns the value of a counter or gauge; 0 if the series does not exist. */
double metric_get(const struct metric *f, const char *const *values);

/* Shows each series of a counter or histogram with 0 for its first `ms`, whatever it has counted;
 * afterwards with all that it counted. So a page with 0 is read before the first event, although a
 * series is created by it. Has no effect without a clock; a clock that is set back into this time
 * shows 0 once more. metric_get() is not delayed. */
void metric_delay(struct metric *f, int64_t ms);

/* Sets the most series that the family has beside "other"; at first 1,000. */
void metric_limit(struct metric *f, size_t series);
/* Beyond the limit, lets the label at this index keep its value: "other" is then one series for
 * each of these values, which must be a closed list. */
void metric_keep(struct metric *f, size_t label);
/* Removes all series whose first label has this value. */
void metric_remove(struct metric *f, const char *first);
/* Removes all series of a family. */
void metric_clear(struct metric *f);
/* Sets all series of a gauge to 0. */
void metric_zero(struct metric *f);
/* Marks a family as valid only for a while, such as gauges that the leader alone shows.
 * metrics_forget() removes all series of the marked families; a family without labels then has no
 * series until it is set again. */
void metric_transient(struct metric *f);
void metrics_forget(struct metrics *m);

/* Writes all families as Prometheus text 0.0.4. */
void metrics_write(const struct metrics *m, struct buf *out);
/* Writes all families as OpenMetrics 1.0, with exemplars, and with the time at which each series of
 * a counter or histogram was created (_created). */
void metrics_write_open(const struct metrics *m, struct buf *out);

#endif
