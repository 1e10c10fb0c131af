#include "base/metrics.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * A series (one combination of label values) is found by its labels in printed form: a="x",b="y".
 * Because values are quoted, this text is unique for each combination; it is copied unchanged into
 * the output.
 */
enum { LABELS_MAX = 4, SERIES_MAX = 1000, VALUE_MAX = 128, KEY_MAX = 2048 };

enum type { COUNTER, GAUGE, HISTOGRAM };

/* Latest traced value of a bucket. */
struct exemplar {
	char trace[METRICS_TRACE + 1];
	double value;
	/* Unix ms */
	int64_t at;
};

struct series {
	/* Value of a counter or gauge; sum of a histogram. */
	double value;
	uint64_t count;
	/* Unix ms; 0 without a clock */
	int64_t created;
	/* One for each bucket, and one for +Inf; NULL: nothing was traced */
	struct exemplar *exemplars;
	/* nbounds counters. An observation counts only in the first bucket that contains it; an
	 * observation above all bounds counts in `count` alone (+Inf). */
	uint64_t bucket[];
};

struct metric {
	const struct metrics *all;
	enum type type;
	char *name, *help;
	char *label[LABELS_MAX];
	size_t nlabels;
	double *bound;
	size_t nbounds;
	/* True: metrics_forget() removes the series */
	bool transient;
	/* Most series, without "other" */
	size_t limit;
	/* Index of the label that keeps its value beyond the limit; LABELS_MAX: none */
	size_t kept;
	/* Age in ms from which a series is shown with its value, before with 0 */
	int64_t delay;
	struct map *series;
};

struct metrics {
	struct map *families;
	int64_t (*wall)(void *arg);
	void *wall_arg;
};

static void series_free(void *p)
{
	free(((struct series *)p)->exemplars);
	free(p);
}

static void family_free(void *p)
{
	struct metric *f = p;

	for (size_t i = 0; i < f->nlabels; i++)
		free(f->label[i]);
	map_free(f->series);
	free(f->name);
	free(f->help);
	free(f->bound);
	free(f);
}

struct metrics *metrics_new(void)
{
	struct metrics *m = mem_new(struct metrics);

	m->families = map_new(family_free);
	return m;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	map_free(m->families);
	free(m);
}

void metrics_clock(struct metrics *m, int64_t (*wall)(void *arg), void *arg)
{
	m->wall = wall;
	m->wall_arg = arg;
}

static int64_t now_of(const struct metrics *m)
{
	return m->wall ? m->wall(m->wall_arg) : 0;
}

/* --- finding a series --- */

struct key {
	size_t len;
	char text[KEY_MAX];
};

/* 68: bytes of the longest label name, of ="" and of the comma. */
static_assert(LABELS_MAX * (2 * VALUE_MAX + 68) < KEY_MAX, "a key always fits");

static void key_add(struct key *k, const char *s, size_t n)
{
	memcpy(k->text + k->len, s, n);
	k->len += n;
	k->text[k->len] = '\0';
}

/*
 * Adds a foreign value: truncated, and with invalid UTF-8 replaced, because one invalid byte would
 * make Prometheus refuse the whole page.
 */
static void key_add_value(struct key *k, const char *s)
{
	size_t left = strnlen(s, VALUE_MAX), used;

	for (; left > 0; s += used, left -= used) {
		int32_t c = str_utf8(s, left, &used);

		if (c < 0)
			key_add(k, "?", 1);
		else if (c == '\n')
			key_add(k, "\\n", 2);
		else if (c == '"' || c == '\\')
			key_add(k, c == '"' ? "\\\"" : "\\\\", 2);
		else
			key_add(k, s, used);
	}
}

static void key_add_label(struct key *k, const char *name, const char *value)
{
	key_add(k, name, strlen(name));
	key_add(k, "=\"", 2);
	key_add_value(k, value);
	key_add(k, "\"", 1);
}

/* Returns the key of the series with these label values. If other is true, returns the key of the
 * series for combinations beyond the limit, whose label values are "other" (but see
 * metric_keep()). */
static const char *key_of(const struct metric *f, const char *const *values, bool other,
			  struct key *k)
{
	k->len = 0;
	k->text[0] = '\0';
	for (size_t i = 0; i < f->nlabels; i++) {
		if (i > 0)
			key_add(k, ",", 1);
		key_add_label(k, f->label[i],
			      other && i != f->kept ? "other" : str_or(values[i], ""));
	}
	return k->text;
}

static struct series *series_of(struct metric *f, const char *const *values)
{
	struct key k;
	struct series *s = map_get(f->series, key_of(f, values, false, &k));

	if (!s && map_size(f->series) >= f->limit)
		s = map_get(f->series, key_of(f, values, true, &k));
	if (!s) {
		s = mem_alloc(sizeof(*s) + f->nbounds * sizeof(s->bucket[0]));
		s->created = now_of(f->all);
		map_put(f->series, k.text, s);
	}
	return s;
}

/* --- families --- */

static struct metric *family(struct metrics *m, enum type type, const char *name, const char *help,
			     const char *const *labels, const double *bounds, size_t n)
{
	struct metric *f = map_get(m->families, name);

	if (f) {
		assert(f->type == type);
		return f;
	}
	f = mem_new(struct metric);
	f->all = m;
	f->type = type;
	f->name = mem_strdup(name);
	f->help = mem_strdup(help);
	f->series = map_new(series_free);
	f->limit = SERIES_MAX;
	f->kept = LABELS_MAX;
	for (; labels && labels[f->nlabels]; f->nlabels++) {
		assert(f->nlabels < LABELS_MAX && strlen(labels[f->nlabels]) < 64);
		f->label[f->nlabels] = mem_strdup(labels[f->nlabels]);
	}
	f->bound = mem_calloc(n, sizeof(f->bound[0]));
	if (n)
		memcpy(f->bound, bounds, n * sizeof(f->bound[0]));
	f->nbounds = n;
	map_put(m->families, name, f);
	if (f->nlabels == 0)
		/* Create the only series of a family without labels now, because Prometheus needs
		 * its initial zero to compute a rate. */
		series_of(f, NULL);
	return f;
}

struct metric *metrics_counter(struct metrics *m, const char *name, const char *help,
			       const char *const *labels)
{
	assert(str_ends(name, "_total"));
	return family(m, COUNTER, name, help, labels, NULL, 0);
}

struct metric *metrics_gauge(struct metrics *m, const char *name, const char *help,
			     const char *const *labels)
{
	return family(m, GAUGE, name, help, labels, NULL, 0);
}

struct metric *metrics_histogram(struct metrics *m, const char *name, const char *help,
				 const char *const *labels, const double *bounds, size_t n)
{
	for (size_t i = 1; i < n; i++)
		assert(bounds[i - 1] < bounds[i]);
	return family(m, HISTOGRAM, name, help, labels, bounds, n);
}

void metric_add(struct metric *f, const char *const *values, double by)
{
	assert(f->type == GAUGE || (f->type == COUNTER && by >= 0));
	series_of(f, values)->value += by;
}

void metric_set(struct metric *f, const char *const *values, double to)
{
	assert(f->type == GAUGE);
	series_of(f, values)->value = to;
}

/* Returns the first bucket that contains x; nbounds for +Inf. */
static size_t bucket_of(const struct metric *f, double x)
{
	size_t i = 0;

	while (i < f->nbounds && x > f->bound[i])
		i++;
	return i;
}

static void remember(const struct metric *f, struct series *s, size_t bucket, double x,
		     const char *trace)
{
	struct exemplar *ex;

	if (!s->exemplars)
		s->exemplars = mem_calloc(f->nbounds + 1, sizeof(*s->exemplars));
	ex = &s->exemplars[bucket];
	str_copy(ex->trace, sizeof(ex->trace), trace);
	ex->value = x;
	ex->at = now_of(f->all);
}

void metric_observe_traced(struct metric *f, const char *const *values, double x, const char *trace)
{
	struct series *s;
	size_t i;

	assert(f->type == HISTOGRAM);
	if (isnan(x))
		return; /* Ignore NaN: added once, it would make the sum NaN forever. */
	s = series_of(f, values);
	i = bucket_of(f, x);
	s->value += x;
	s->count++;
	if (i < f->nbounds)
		s->bucket[i]++;
	if (trace)
		remember(f, s, i, x, trace);
}

void metric_observe(struct metric *f, const char *const *values, double x)
{
	metric_observe_traced(f, values, x, NULL);
}

void metric_start(struct metric *f, const char *const *values)
{
	series_of(f, values);
}

struct metric *metrics_find(const struct metrics *m, const char *name)
{
	return map_get(m->families, name);
}

double metric_get(const struct metric *f, const char *const *values)
{
	struct key k;
	const struct series *s = map_get(f->series, key_of(f, values, false, &k));

	return s ? s->value : 0;
}

void metric_limit(struct metric *f, size_t series)
{
	f->limit = series;
}

void metric_keep(struct metric *f, size_t label)
{
	assert(label < f->nlabels);
	f->kept = label;
}

void metric_delay(struct metric *f, int64_t ms)
{
	assert(f->type != GAUGE);
	f->delay = ms;
}

void metric_remove(struct metric *f, const char *first)
{
	struct map_iter it;
	struct key k = {0};

	key_add_label(&k, f->label[0], first);
	map_for_each (it, f->series)
		if (str_starts(it.key, k.text))
			map_del(f->series, it.key);
}

void metric_clear(struct metric *f)
{
	map_clear(f->series);
}

void metric_zero(struct metric *f)
{
	struct map_iter it;

	assert(f->type == GAUGE);
	map_for_each (it, f->series)
		((struct series *)it.value)->value = 0;
}

void metric_transient(struct metric *f)
{
	f->transient = true;
	metric_clear(f);
}

void metrics_forget(struct metrics *m)
{
	struct map_iter it;

	map_for_each (it, m->families) {
		struct metric *f = it.value;

		if (f->transient)
			metric_clear(f);
	}
}

/* --- text --- */

/* Prints a number so that it reads back as the same number; uses the shorter form if both do. */
static const char *number(double x, char out[static 32])
{
	if (isnan(x))
		return "NaN";
	if (isinf(x))
		return x < 0 ? "-Inf" : "+Inf";
	snprintf(out, 32, "%.*g", DBL_DIG, x);
	if (strtod(out, NULL) != x)
		snprintf(out, 32, "%.17g", x);
	return out;
}

/* A page in one of the two formats. */
struct metrics_page {
	struct buf *out;
	/* True: OpenMetrics 1.0; false: Prometheus text 0.0.4 */
	bool open;
};

/* Returns the length of the family's name; OpenMetrics leaves out the "_total" of a counter. */
static int name_len(const struct metric *f, bool open)
{
	const size_t n = strlen(f->name);

	return (int)(open && f->type == COUNTER ? n - strlen("_total") : n);
}

static void write_help(const struct metric *f, const struct metrics_page *p)
{
	static const char *const types[] = {"counter", "gauge", "histogram"};
	const int n = name_len(f, p->open);

	buf_printf(p->out, "# HELP %.*s ", n, f->name);
	for (const char *s = f->help; *s; s++) {
		if (*s == '\n')
			buf_puts(p->out, "\\n");
		else if (*s == '\\')
			buf_puts(p->out, "\\\\");
		else if (*s == '"' && p->open)
			buf_puts(p->out, "\\\"");
		else
			buf_put(p->out, s, 1);
	}
	buf_printf(p->out, "\n# TYPE %.*s %s\n", n, f->name, types[f->type]);
}

/* Writes one line of a family without the end of the line. ending: suffix of the family's name
 * ("_bucket"); extra: one more label behind the others, "" for none. */
static void write_value(const struct metric *f, const char *ending, const char *labels,
			const char *extra, const char *value, const struct metrics_page *p)
{
	bool any = *labels || *extra;

	buf_printf(p->out, "%s%s%s%s%s%s%s %s", f->name, ending, any ? "{" : "", labels,
		   *labels && *extra ? "," : "", extra, any ? "}" : "", value);
}

static void write_line(const struct metric *f, const char *ending, const char *labels,
		       const char *extra, const char *value, const struct metrics_page *p)
{
	write_value(f, ending, labels, extra, value, p);
	buf_puts(p->out, "\n");
}

/* True if the series is too young to be shown with its value. */
static bool is_new(const struct metric *f, const struct series *s)
{
	int64_t age;

	if (!f->delay || !s->created)
		return false;
	age = now_of(f->all) - s->created;
	return age >= 0 && age < f->delay;
}

/* Returns Unix ms as seconds. */
static const char *seconds(int64_t ms, char out[static 32])
{
	snprintf(out, 32, "%" PRId64 ".%03d", ms / 1000, (int)(ms % 1000));
	return out;
}

/* Writes when the series was created. */
static void write_created(const struct metric *f, const char *labels, const struct series *s,
			  const struct metrics_page *p)
{
	char text[32];

	if (p->open && s->created)
		buf_printf(p->out, "%.*s_created%s%s%s %s\n", name_len(f, true), f->name,
			   *labels ? "{" : "", labels, *labels ? "}" : "",
			   seconds(s->created, text));
}

static void write_exemplar(const struct series *s, size_t bucket, const struct metrics_page *p)
{
	const struct exemplar *x = s->exemplars ? &s->exemplars[bucket] : NULL;
	char value[32], at[32];

	if (p->open && x && *x->trace)
		buf_printf(p->out, " # {trace_id=\"%s\"} %s%s%s", x->trace, number(x->value, value),
			   x->at ? " " : "", x->at ? seconds(x->at, at) : "");
	buf_puts(p->out, "\n");
}

/* Returns the label `le`. OpenMetrics requires a fraction. */
static const char *le_label(double bound, bool open, char out[static 48])
{
	char text[32];
	const char *n = number(bound, text);

	snprintf(out, 48, "le=\"%s%s\"", n, open && !strpbrk(n, ".eI") ? ".0" : "");
	return out;
}

/* Returns what is shown of a series that is new: the same without events. */
static struct series *without_events(const struct metric *f, const struct series *s)
{
	struct series *x = mem_alloc(sizeof(*x) + f->nbounds * sizeof(x->bucket[0]));

	x->created = s->created;
	return x;
}

static void write_histogram(const struct metric *f, const char *labels, const struct series *s,
			    const struct metrics_page *p)
{
	uint64_t below = 0;
	char le[48], text[32];

	for (size_t i = 0; i <= f->nbounds; i++) {
		below = i < f->nbounds ? below + s->bucket[i] : s->count;
		snprintf(text, sizeof(text), "%" PRIu64, below);
		write_value(f, "_bucket", labels,
			    le_label(i < f->nbounds ? f->bound[i] : INFINITY, p->open, le), text,
			    p);
		write_exemplar(s, i, p);
	}
	write_line(f, "_count", labels, "", text, p);
	write_line(f, "_sum", labels, "", number(s->value, text), p);
	write_created(f, labels, s, p);
}

static void write_series(const struct metric *f, const char *labels, const struct series *s,
			 const struct metrics_page *p)
{
	char text[32];

	if (f->type == HISTOGRAM) {
		write_histogram(f, labels, s, p);
		return;
	}
	write_line(f, "", labels, "", number(s->value, text), p);
	if (f->type == COUNTER)
		write_created(f, labels, s, p);
}

static void write_family(const struct metric *f, const struct metrics_page *p)
{
	struct map_iter it;

	write_help(f, p);
	map_for_each (it, f->series) {
		struct series *empty = is_new(f, it.value) ? without_events(f, it.value) : NULL;

		write_series(f, it.key, empty ? empty : it.value, p);
		free(empty);
	}
}

static void write_page(const struct metrics *m, const struct metrics_page *p)
{
	struct map_iter it;

	map_for_each (it, m->families)
		write_family(it.value, p);
}

void metrics_write(const struct metrics *m, struct buf *out)
{
	write_page(m, &(struct metrics_page){.out = out});
}

void metrics_write_open(const struct metrics *m, struct buf *out)
{
	write_page(m, &(struct metrics_page){.out = out, .open = true});
	buf_puts(out, "# EOF\n");
}
