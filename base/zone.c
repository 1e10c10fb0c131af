/*
 * zone: reads a file of the time zone database into a sorted list of changes. The rule in the
 * file's last line, which applies after its last change, is expanded into changes until LAST_YEAR,
 * so that one search finds the offset at any time.
 */
#include "base/zone.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define FOLDER "/usr/share/zoneinfo/"
#define HEADER 44
/* Years in which the rule of the last line is applied. */
#define FIRST_YEAR 1900
#define LAST_YEAR 2200
/* Offsets that RFC 8536 allows, in seconds: more than -25 h and less than 26 h. */
#define OFFSET_MIN (-25 * 3600 + 1)
#define OFFSET_MAX (26 * 3600 - 1)
#define DAY_S INT64_C(86400)
/* Times that a file may contain, in seconds; about ten times the age of the universe fits. */
#define TIME_MAX (INT64_C(1) << 59)

struct change {
	/* Unix seconds */
	int64_t at;
	/* in seconds */
	int32_t offset;
};
struct zone {
	/* offset before the first change, in seconds */
	int32_t first;
	struct change *v;
	size_t n;
};
struct zones {
	struct map *by_name;
};

/* --- the rule in the last line ---------------------------------------------------------------- */

/* Day of a year: 'M' week `week` of the month, weekday `day`; 'J' day 1 to 365 without 29 February;
 * 'D' day 0 to 365. time: seconds after midnight, local time before the change. */
struct rule_day {
	char kind;
	int month, week, day;
	int64_t time;
};
struct rule {
	bool changes;
	/* offsets in seconds */
	int64_t standard, summer;
	/* begin and end of summer time */
	struct rule_day from, to;
};

static bool take(const char **s, char c)
{
	if (**s != c)
		return false;
	++*s;
	return true;
}

static bool number(const char **s, int min, int max, int *out)
{
	int v = 0, digits = 0;

	for (; isdigit((unsigned char)**s) && digits < 4; digits++)
		v = v * 10 + *(*s)++ - '0';
	*out = v;
	return digits && v >= min && v <= max;
}

static bool name(const char **s)
{
	const char *p = *s;

	if (*p == '<') {
		p = strchr(p, '>');
		if (!p)
			return false;
		*s = p + 1;
		return true;
	}
	while (isalpha((unsigned char)*p))
		p++;
	if (p - *s < 3)
		return false;
	*s = p;
	return true;
}

static bool clock_time(const char **s, int64_t *out)
{
	const bool minus = take(s, '-');
	int h, m = 0, sec = 0;

	if (!minus)
		(void)take(s, '+');
	if (!number(s, 0, 167, &h) ||
	    (take(s, ':') && (!number(s, 0, 59, &m) || (take(s, ':') && !number(s, 0, 59, &sec)))))
		return false;
	*out = (int64_t)h * 3600 + m * 60 + sec;
	if (minus)
		*out = -*out;
	return true;
}

static bool offset_in_range(int64_t s)
{
	return s >= OFFSET_MIN && s <= OFFSET_MAX;
}

static bool rule_day(const char **s, struct rule_day *d)
{
	bool ok;

	*d = (struct rule_day){.kind = 'D', .time = 2 * 3600};
	if (take(s, 'M')) {
		d->kind = 'M';
		ok = number(s, 1, 12, &d->month) && take(s, '.') && number(s, 1, 5, &d->week) &&
		     take(s, '.') && number(s, 0, 6, &d->day);
	} else if (take(s, 'J')) {
		d->kind = 'J';
		ok = number(s, 1, 365, &d->day);
	} else {
		ok = number(s, 0, 365, &d->day);
	}
	return ok && (!take(s, '/') || clock_time(s, &d->time));
}

static bool read_rule(const char *s, struct rule *r)
{
	*r = (struct rule){.changes = false};
	if (!name(&s) || !clock_time(&s, &r->standard))
		return false;
	r->standard = -r->standard; /* The text counts hours west of Greenwich. */
	r->summer = r->standard + 3600;
	if (!offset_in_range(r->standard) || !*s)
		return offset_in_range(r->standard);
	if (!name(&s))
		return false;
	if (*s != ',') {
		if (!clock_time(&s, &r->summer))
			return false;
		r->summer = -r->summer;
	}
	r->changes = true;
	return offset_in_range(r->summer) && take(&s, ',') && rule_day(&s, &r->from) &&
	       take(&s, ',') && rule_day(&s, &r->to) && !*s;
}

static int64_t first_of(int year, int month)
{
	struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = 1};

	return (int64_t)timegm(&tm) / DAY_S;
}

/* Returns the local time of the rule's day in that year, in seconds since 1970. */
static int64_t local_of(const struct rule_day *d, int year)
{
	const int64_t january = first_of(year, 1);
	const bool leap = first_of(year, 3) - january == 60;
	int64_t day = january + d->day;

	if (d->kind == 'J')
		day = january + d->day - 1 + (leap && d->day >= 60);
	if (d->kind == 'M') {
		const int64_t first = first_of(year, d->month),
			      next = d->month == 12 ? first_of(year + 1, 1)
						    : first_of(year, d->month + 1);
		/* 1970-01-01 was a Thursday, weekday 4. */
		const int64_t weekday = ((first + 4) % 7 + 7) % 7;

		day = first + (d->day - weekday + 7) % 7 + 7 * (d->week - 1);
		while (day >= next)
			day -= 7;
	}
	return day * DAY_S + d->time;
}

static void add(struct zone *z, int64_t at, int64_t offset)
{
	if (!z->n || at > z->v[z->n - 1].at)
		z->v[z->n++] = (struct change){at, (int32_t)offset};
}

static void expand(struct zone *z, const struct rule *r)
{
	time_t last = z->n ? (time_t)z->v[z->n - 1].at : 0;
	struct tm tm;
	int year;

	if (!r->changes || !gmtime_r(&last, &tm) || tm.tm_year + 1900 > LAST_YEAR)
		return;
	year = tm.tm_year + 1900 < FIRST_YEAR ? FIRST_YEAR : tm.tm_year + 1900;
	z->v = mem_realloc_array(z->v, z->n + 2 * (size_t)(LAST_YEAR - year + 1), sizeof(*z->v));
	for (; year <= LAST_YEAR; year++) {
		const int64_t from = local_of(&r->from, year) - r->standard,
			      to = local_of(&r->to, year) - r->summer;

		if (from < to) {
			add(z, from, r->summer);
			add(z, to, r->standard);
		} else {
			add(z, to, r->standard);
			add(z, from, r->summer);
		}
	}
}

/* --- the file --------------------------------------------------------------------------------- */

/* One of the two blocks of a file: the counts of its header, and where its lists begin. */
struct zone_block {
	uint32_t isut, isstd, leaps, times, types, chars;
	const uint8_t *data;
	size_t size;
};

static uint64_t big_endian(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

/* Reads the block whose header is at p. time: bytes of one time. */
static bool read_block(const uint8_t *p, size_t len, size_t time, struct zone_block *b)
{
	if (len < HEADER || memcmp(p, "TZif", 4) != 0 || p[4] < '2')
		return false;
	b->isut = (uint32_t)big_endian(p + 20, 4);
	b->isstd = (uint32_t)big_endian(p + 24, 4);
	b->leaps = (uint32_t)big_endian(p + 28, 4);
	b->times = (uint32_t)big_endian(p + 32, 4);
	b->types = (uint32_t)big_endian(p + 36, 4);
	b->chars = (uint32_t)big_endian(p + 40, 4);
	/* No count is larger than the file, so the sum below cannot overflow. */
	if (b->isut > len || b->isstd > len || b->leaps > len || b->times > len || b->types > len ||
	    b->chars > len)
		return false;
	b->data = p + HEADER;
	b->size = b->times * (time + 1) + b->types * (size_t)6 + b->chars + b->leaps * (time + 4) +
		  b->isstd + b->isut;
	return b->size <= len - HEADER;
}

static bool read_changes(struct zone *z, const struct zone_block *b)
{
	const uint8_t *type_of = b->data + (size_t)b->times * 8, *types = type_of + b->times;

	if (b->leaps || !b->types)
		return false;
	for (uint32_t i = 0; i < b->types; i++)
		if (!offset_in_range((int32_t)big_endian(types + (size_t)i * 6, 4)))
			return false;
	z->first = (int32_t)big_endian(types, 4);
	z->v = mem_calloc(b->times + (size_t)1, sizeof(*z->v));
	for (uint32_t i = 0; i < b->times; i++) {
		const int64_t at = (int64_t)big_endian(b->data + (size_t)i * 8, 8);

		if (at < -TIME_MAX || at > TIME_MAX || type_of[i] >= b->types ||
		    (z->n && at <= z->v[z->n - 1].at))
			return false;
		z->v[z->n++] =
			(struct change){at, (int32_t)big_endian(types + (size_t)type_of[i] * 6, 4)};
	}
	return true;
}

static bool read_last_line(struct zone *z, const uint8_t *p, size_t len)
{
	const uint8_t *end = len > 1 && *p == '\n' ? memchr(p + 1, '\n', len - 1) : NULL;
	char text[128];
	struct rule r;

	if (!end || (size_t)(end - p) > sizeof(text))
		return false;
	memcpy(text, p + 1, (size_t)(end - p) - 1);
	text[end - p - 1] = '\0';
	if (!*text)
		return true;
	if (!read_rule(text, &r))
		return false;
	expand(z, &r);
	return true;
}

int zone_parse(const void *bytes, size_t len, struct zone **out, struct err *e)
{
	struct zone *z = mem_new(struct zone);
	struct zone_block old, b;

	if (read_block(bytes, len, 4, &old)) {
		const size_t past = HEADER + old.size;

		if (read_block((const uint8_t *)bytes + past, len - past, 8, &b) &&
		    read_changes(z, &b) &&
		    read_last_line(z, b.data + b.size, len - past - HEADER - b.size)) {
			*out = z;
			return 0;
		}
	}
	zone_free(z);
	return err_set(e, ERR_INVALID, 0, "not a time zone file without leap seconds");
}

void zone_free(struct zone *z)
{
	if (!z)
		return;
	free(z->v);
	free(z);
}

/* --- names ------------------------------------------------------------------------------------ */

static bool is_utc(const char *name)
{
	return !name || str_eq(name, "UTC");
}

/* True if the name may be that of a zone: parts of letters, digits, "_", "-" and "+", separated by
 * "/". localtime and posixrules depend on the computer; posix/ and right/ are not IANA names. */
static bool is_name(const char *name)
{
	static const char *const none[] = {"localtime", "posixrules"};
	size_t part = 0;

	if (!*name || strlen(name) > ZONE_NAME_MAX || str_starts(name, "posix/") ||
	    str_starts(name, "right/"))
		return false;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (str_eq(name, none[i]))
			return false;
	for (const char *p = name; *p; p++) {
		if (*p == '/' && !part)
			return false;
		part = *p == '/' ? 0 : part + 1;
		if (*p != '/' && !isalnum((unsigned char)*p) && !strchr("_-+", *p))
			return false;
	}
	return part > 0;
}

static int read_zone(const char *name, struct zone **out, struct err *e)
{
	char path[sizeof(FOLDER) + ZONE_NAME_MAX];
	size_t len;
	char *bytes;
	int failed;

	if (!is_name(name))
		return err_set(e, ERR_INVALID, 0,
			       "\"%.63s\" is not the name of a time zone, such as Europe/Berlin",
			       name);
	str_format(path, sizeof(path), FOLDER "%s", name);
	bytes = file_text(path, ZONE_FILE_MAX, &len, e);
	failed = bytes ? zone_parse(bytes, len, out, e) : -1;
	free(bytes);
	return failed ? err_set(e, ERR_NOT_FOUND, 0,
				"the time zone database of this computer (package tzdata) has no "
				"zone \"%s\"",
				name)
		      : 0;
}

int zone_check(const char *name, struct err *e)
{
	OWN(zone) z = NULL;

	return is_utc(name) ? 0 : read_zone(name, &z, e);
}

static void drop(void *z)
{
	zone_free(z);
}

struct zones *zones_new(void)
{
	struct zones *zs = mem_new(struct zones);

	zs->by_name = map_new(drop);
	return zs;
}

void zones_free(struct zones *zs)
{
	if (!zs)
		return;
	map_free(zs->by_name);
	free(zs);
}

int zones_get(struct zones *zs, const char *name, const struct zone **z, struct err *e)
{
	struct zone *found = is_utc(name) ? NULL : map_get(zs->by_name, name);

	if (!found && !is_utc(name)) {
		if (read_zone(name, &found, e) < 0)
			return -1;
		map_put(zs->by_name, name, found);
	}
	*z = found;
	return 0;
}

/* --- times ------------------------------------------------------------------------------------ */

static int64_t seconds(int64_t ms)
{
	return ms / 1000 - (ms % 1000 < 0);
}

/* Returns the number of changes at or before the time s. */
static size_t changes_until(const struct zone *z, int64_t s)
{
	size_t low = 0, high = z->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (z->v[mid].at <= s)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int64_t offset_after(const struct zone *z, size_t changes)
{
	return changes ? z->v[changes - 1].offset : z->first;
}

int64_t zone_offset(const struct zone *z, int64_t at)
{
	return z ? offset_after(z, changes_until(z, seconds(at))) * 1000 : 0;
}

int64_t zone_change(const struct zone *z, int64_t at)
{
	const size_t i = z ? changes_until(z, seconds(at)) : 0;

	if (!z || i >= z->n || z->v[i].at > INT64_MAX / 1000)
		return INT64_MAX;
	return z->v[i].at * 1000;
}

int64_t zone_first(const struct zone *z, int64_t local)
{
	const int64_t s = seconds(local);

	if (!z)
		return local;
	/* Local times before the loop's first change are all earlier than `local`. */
	for (size_t i = changes_until(z, s - OFFSET_MAX - 1);; i++) {
		int64_t at = s - offset_after(z, i);

		if (i && at < z->v[i - 1].at)
			at = z->v[i - 1].at;
		if (i >= z->n || at < z->v[i].at)
			return at * 1000 + (at == s - offset_after(z, i) ? local - s * 1000 : 0);
	}
}
