#include "base/schedule.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include "base/str.h"

/*
 * schedule: parses a schedule into one bit set for each of its five fields. To find whether the
 * schedule occurs in a time window, the days of the window are checked one by one, then the minutes
 * of each matching day.
 */
#define MINUTE_MS INT64_C(60000)
#define DAY_MINUTES 1440
#define FIELDS 5
#define SPACES " \t\n\v\f\r"
#define NUMBER_MAX 100000 /* Value used for every number that is larger. */

/* One bit for each minute, hour, day of the month, month and day of the week of a schedule. */
struct cron {
	uint64_t bits[FIELDS];
	/* True: the field has a part that is "*" or "?" without a step, so the field restricts
	 * nothing. */
	bool any[FIELDS];
};
enum { MINUTES, HOURS, DAYS, MONTHS, WEEKDAYS };

static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
					  "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const weekday_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

/* Properties of one of the five fields. */
struct unit {
	const char *name;
	/* First and last value of the field; * means this range. */
	int min, max;
	/* Highest number that is accepted; larger than max for weekdays, where 7 means Sunday. */
	int most;
	/* Names of the numbers from min on; NULL: the field has numbers only. */
	const char *const *names;
	/* min and max as text, for error messages. */
	const char *first, *last;
};
static const struct unit units[FIELDS] = {
	{"minute", 0, 59, 59, NULL, "0", "59"},
	{"hour", 0, 23, 23, NULL, "0", "23"},
	{"day", 1, 31, 31, NULL, "1", "31"},
	{"month", 1, 12, 12, month_names, "jan", "dec"},
	{"weekday", 0, 6, 7, weekday_names, "sun", "sat"},
};

/* A part of the schedule's text: the characters from p up to, but not including, end. */
struct text_span {
	const char *p, *end;
};
/* One comma-separated part of a field: FROM-TO/STEP. */
struct part {
	int from, to, step;
	bool any;
	/* FROM and TO as written, for error messages. */
	struct text_span low, high;
};

static struct text_span until(struct text_span s, const char *separators)
{
	struct text_span out = {s.p, s.p};

	while (out.end < s.end && !strchr(separators, *out.end))
		out.end++;
	return out;
}

static int width(struct text_span s)
{
	return (int)(s.end - s.p);
}

static bool digits(struct text_span *s, int *out)
{
	const char *begin = s->p;
	int v = 0;

	for (; s->p < s->end && isdigit((unsigned char)*s->p); s->p++)
		v = v < NUMBER_MAX ? v * 10 + *s->p - '0' : NUMBER_MAX;
	*out = v;
	return s->p > begin;
}

static bool value(const struct unit *u, struct text_span *s, struct text_span *text, int *out)
{
	*text = *s;
	for (int i = 0; u->names && u->names[i]; i++)
		if (s->end - s->p >= 3 && strncasecmp(s->p, u->names[i], 3) == 0) {
			s->p += 3;
			text->end = s->p;
			*out = u->min + i;
			return true;
		}
	if (!digits(s, out) || *out < u->min || *out > u->most)
		return false;
	text->end = s->p;
	return true;
}

static bool next_is(struct text_span *s, char c)
{
	if (s->p >= s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static bool range(const struct unit *u, struct text_span *s, struct part *out)
{
	*out = (struct part){.from = u->min, .to = u->max, .step = 1, .any = true};
	if (next_is(s, '*') || next_is(s, '?'))
		return true;
	out->any = false;
	if (!value(u, s, &out->low, &out->from))
		return false;
	if (next_is(s, '-'))
		return value(u, s, &out->high, &out->to);
	if (s->p >= s->end || *s->p != '/' || out->from > u->max)
		out->to = out->from;
	return true;
}

static bool part(const struct unit *u, struct text_span s, struct part *out)
{
	if (!range(u, &s, out))
		return false;
	if (next_is(&s, '/')) {
		if (!digits(&s, &out->step) || !out->step)
			return false;
		out->any &= out->step == 1;
	}
	return s.p == s.end;
}

/* --- errors ----------------------------------------------------------------------------------- */

static int wrong_part(const struct unit *u, struct text_span s, struct err *e)
{
	return err_set(e, ERR_INVALID, 0,
		       "%s \"%.*s\": want %d to %d%s, such as *, */2, %s or %s-%s", u->name,
		       width(s), s.p, u->min, u->max, u->names ? " or names of three letters" : "",
		       u->first, u->first, u->last);
}

/* Sets the error for a range that ends before it begins, such as "50-10" for minutes. The author
 * probably means the union of "50-59" and "0-10", so the error suggests these two ranges. */
static int wrong_order(const struct unit *u, struct text_span s, const struct part *r,
		       struct err *e)
{
	char before[32], after[32];

	str_format(before, sizeof(before), "%.*s%s%s", width(r->low), r->low.p,
		   r->from >= u->max ? "" : "-", r->from >= u->max ? "" : u->last);
	str_format(after, sizeof(after), "%s%s%.*s", r->to == u->min ? "" : u->first,
		   r->to == u->min ? "" : "-", width(r->high), r->high.p);
	return err_set(e, ERR_INVALID, 0, "%s \"%.*s\" ends before it begins: write %s,%s", u->name,
		       width(s), s.p, before, after);
}

static int wrong_shape(const char *s, struct err *e)
{
	if (str_starts(s, "TZ=") || str_starts(s, "CRON_TZ="))
		return err_set(e, ERR_INVALID, 0, "want no time zone in the schedule");
	if (*s == '@')
		return err_set(
			e, ERR_INVALID, 0,
			"want @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually "
			"or five fields");
	return err_set(e, ERR_INVALID, 0,
		       "want five fields (minute hour day month weekday) such as 0 22 * * mon-fri, "
		       "or @daily");
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_field(const struct unit *u, struct text_span s, uint64_t *bits, bool *any,
		      struct err *e)
{
	for (;; s.p++) {
		struct text_span one = until(s, ",");
		struct part r;

		if (!part(u, one, &r))
			return wrong_part(u, one, e);
		if (r.from > r.to)
			return wrong_order(u, one, &r, e);
		for (int i = r.from; i <= r.to; i += r.step)
			*bits |= UINT64_C(1) << i;
		*any |= r.any;
		s.p = one.end;
		if (s.p == s.end)
			return 0;
	}
}

static const char *without_macro(const char *s)
{
	static const char *const macros[][2] = {
		{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
		{"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
		{"@hourly", "0 * * * *"},
	};

	for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
		if (str_eq(s, macros[i][0]))
			return macros[i][1];
	return s;
}

/* Splits s at white space; returns the number of fields, at most FIELDS + 1. */
static int split(const char *s, struct text_span out[static FIELDS + 1])
{
	struct text_span rest = {s, s + strlen(s)};
	int n = 0;

	for (; n <= FIELDS; n++) {
		rest.p += strspn(rest.p, SPACES);
		if (rest.p == rest.end)
			break;
		out[n] = until(rest, SPACES);
		rest.p = out[n].end;
	}
	return n;
}

static int parse(const char *s, struct cron *c, struct err *e)
{
	struct text_span fields[FIELDS + 1];

	*c = (struct cron){.any = {false}};
	s = without_macro(s);
	if (*s == '@' || split(s, fields) != FIELDS)
		return wrong_shape(s, e);
	for (int i = 0; i < FIELDS; i++)
		if (read_field(&units[i], fields[i], &c->bits[i], &c->any[i], e) < 0)
			return -1;
	if (c->bits[WEEKDAYS] >> 7 & 1) /* Sunday may be written as 0 or 7: treat 7 as 0. */
		c->bits[WEEKDAYS] |= 1;
	return 0;
}

static bool both_days(const struct cron *c)
{
	return c->any[DAYS] || c->any[WEEKDAYS];
}

/* True if the schedule occurs at all: at least one of its months has one of its days. */
static bool ever(const struct cron *c)
{
	static const int days_of[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	for (int m = 1; m <= 12; m++)
		if (c->bits[MONTHS] >> m & 1 &&
		    (!both_days(c) || c->bits[DAYS] & ((UINT64_C(2) << days_of[m - 1]) - 1)))
			return true;
	return false;
}

int schedule_check(const char *schedule, struct err *e)
{
	struct cron c;

	if (parse(schedule, &c, e) < 0)
		return -1;
	return ever(&c) ? 0
			: err_set(e, ERR_INVALID, 0,
				  "never comes: none of its months has such a day");
}

/* --- windows ---------------------------------------------------------------------------------- */

static bool on_day(const struct cron *c, int64_t day)
{
	time_t at = (time_t)(day * DAY_MINUTES * 60);
	struct tm tm;
	bool d, w;

	if (!gmtime_r(&at, &tm) || !(c->bits[MONTHS] >> (tm.tm_mon + 1) & 1))
		return false;
	d = c->bits[DAYS] >> tm.tm_mday & 1;
	w = c->bits[WEEKDAYS] >> tm.tm_wday & 1;
	return both_days(c) ? d && w : d || w;
}

static bool in_day(const struct cron *c, int64_t from, int64_t to)
{
	for (int64_t m = from; m <= to; m++)
		if (c->bits[HOURS] >> (m / 60) & 1 && c->bits[MINUTES] >> (m % 60) & 1)
			return true;
	return false;
}

/* True if the schedule has a time in (after, until]; both are local times in ms. */
static bool occurs(const struct cron *c, int64_t after, int64_t until)
{
	/* First and last minute that begin in the interval. */
	const int64_t first = after / MINUTE_MS + 1, last = until / MINUTE_MS;

	for (int64_t day = first / DAY_MINUTES; day <= last / DAY_MINUTES; day++) {
		int64_t from = day * DAY_MINUTES, to = from + DAY_MINUTES - 1;

		if (on_day(c, day) &&
		    in_day(c, (first > from ? first : from) - from, (last < to ? last : to) - from))
			return true;
	}
	return false;
}

int schedule_window(const char *schedule, const struct zone *zone, int64_t duration_ms, int64_t now)
{
	struct err ignored;
	struct cron c;

	if (parse(schedule, &c, &ignored) < 0)
		return -1;
	/* Each pass covers a time in which the offset does not change. */
	for (int64_t at = now - duration_ms; at < now;) {
		const int64_t offset = zone_offset(zone, at + 1),
			      change = zone_change(zone, at + 1),
			      last = change <= now ? change - 1 : now;

		if (occurs(&c, at + offset, last + offset))
			return 1;
		at = last;
	}
	return 0;
}
