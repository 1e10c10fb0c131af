#include <ctype.h>
#include <stdbool.h>
#include <strings.h>
#include <time.h>

#include "base/schedule.h"
#include "base/str.h"

#define MINUTE_MS INT64_C(60000)
#define DAY_MINUTES 1440

/* Which minutes, hours, days of the month, months and days of the week: a bit for each. */
struct cron {
	uint64_t minutes, hours, days, months, weekdays;
	bool any_day, any_weekday; /* written as *: then the other one alone decides */
};

static const char *const month_names[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
					  "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
static const char *const weekday_names[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

struct names {
	const char *const *v;
	int n, first;
};

static bool number(const char **p, const struct names *names, int min, int max, int *out)
{
	int v = 0;

	for (int i = 0; names && i < names->n; i++)
		if (strncasecmp(*p, names->v[i], 3) == 0) {
			*p += 3;
			*out = i + names->first;
			return true;
		}
	if (!isdigit((unsigned char)**p))
		return false;
	while (isdigit((unsigned char)**p) && v < 1000)
		v = v * 10 + *(*p)++ - '0';
	*out = v;
	return v >= min && v <= max;
}

/* "*", "5", "1-5", "1,3", and each with a step after a slash. */
static bool field(const char **p, int min, int max, const struct names *names, uint64_t *out,
		  bool *any)
{
	*out = 0;
	*any = **p == '*' && (*p)[1] != '/';
	for (;; (*p)++) {
		int from = min, to = max, step = 1;

		if (**p == '*') {
			(*p)++;
		} else {
			if (!number(p, names, min, max, &from))
				return false;
			to = from;
			if (**p == '-') {
				(*p)++;
				if (!number(p, names, min, max, &to) || to < from)
					return false;
			} else if (**p == '/') {
				to = max;
			}
		}
		if (**p == '/') {
			(*p)++;
			if (!number(p, NULL, 1, 1000, &step))
				return false;
		}
		for (int i = from; i <= to; i += step)
			*out |= UINT64_C(1) << i;
		if (**p != ',')
			break;
	}
	if (**p != ' ' && **p != '\0')
		return false;
	while (**p == ' ')
		(*p)++;
	return true;
}

static bool parse(const char *s, struct cron *c)
{
	static const struct names months = {month_names, 12, 1}, weekdays = {weekday_names, 7, 0};
	static const char *const macros[][2] = {{"@yearly", "0 0 1 1 *"},
						{"@monthly", "0 0 1 * *"},
						{"@weekly", "0 0 * * 0"},
						{"@daily", "0 0 * * *"},
						{"@hourly", "0 * * * *"}};
	bool ignored;

	for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
		if (str_eq(s, macros[i][0]))
			s = macros[i][1];
	if (!field(&s, 0, 59, NULL, &c->minutes, &ignored) ||
	    !field(&s, 0, 23, NULL, &c->hours, &ignored) ||
	    !field(&s, 1, 31, NULL, &c->days, &c->any_day) ||
	    !field(&s, 1, 12, &months, &c->months, &ignored) ||
	    !field(&s, 0, 7, &weekdays, &c->weekdays, &c->any_weekday) || *s)
		return false;
	if (c->weekdays >> 7 & 1) /* Sunday has two numbers */
		c->weekdays |= 1;
	return true;
}

static bool on_day(const struct cron *c, int64_t day)
{
	time_t at = (time_t)(day * DAY_MINUTES * 60);
	struct tm tm;
	bool d, w;

	if (!gmtime_r(&at, &tm) || !(c->months >> (tm.tm_mon + 1) & 1))
		return false;
	d = c->days >> tm.tm_mday & 1;
	w = c->weekdays >> tm.tm_wday & 1;
	return c->any_day || c->any_weekday ? d && w : d || w;
}

static bool in_day(const struct cron *c, int64_t from, int64_t to)
{
	for (int64_t m = from; m <= to; m++)
		if (c->hours >> (m / 60) & 1 && c->minutes >> (m % 60) & 1)
			return true;
	return false;
}

int schedule_window(const char *schedule, int64_t duration_ms, int64_t now)
{
	/* The first and the last minute whose beginning lies in (now - duration, now]. */
	int64_t first = (now - duration_ms) / MINUTE_MS + 1, last = now / MINUTE_MS;
	struct cron c;

	if (!parse(schedule, &c))
		return -1;
	for (int64_t day = first / DAY_MINUTES; day <= last / DAY_MINUTES; day++) {
		int64_t from = day * DAY_MINUTES, to = from + DAY_MINUTES - 1;

		if (on_day(&c, day) && in_day(&c, (first > from ? first : from) - from,
					      (last < to ? last : to) - from))
			return 1;
	}
	return 0;
}
