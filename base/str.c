#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool str_eq(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool str_among(const char *s, const char *const *names)
{
	for (; *names; names++)
		if (str_eq(s, *names))
			return true;
	return false;
}

bool str_empty(const char *s)
{
	return !s || !*s;
}

bool str_starts(const char *s, const char *prefix)
{
	return s && strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = s ? strlen(s) : 0, m = strlen(suffix);

	return s && n >= m && memcmp(s + n - m, suffix, m) == 0;
}

const char *str_or(const char *s, const char *otherwise)
{
	return str_empty(s) ? otherwise : s;
}

bool str_copy(char *dst, size_t size, const char *src)
{
	size_t n = strlen(src), fits = n < size ? n : size - 1;

	if (size == 0)
		return false;
	memcpy(dst, src, fits);
	dst[fits] = '\0';
	return fits == n;
}

bool str_format(char *dst, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(dst, size, fmt, ap);
	va_end(ap);
	return n >= 0 && (size_t)n < size;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out)
{
	bool negative = s && *s == '-';
	__int128 n = 0;

	if (!s)
		return false;
	s += negative;
	if (!*s)
		return false;
	for (; *s; s++) {
		if (!is_digit(*s))
			return false;
		n = n * 10 + (*s - '0');
		if (n > (__int128)INT64_MAX + 1)
			return false;
	}
	if (negative)
		n = -n;
	if (n < min || n > max)
		return false;
	*out = (int64_t)n;
	return true;
}

bool str_to_canonical_i64(const char *s, int64_t *out)
{
	const char *digits = s && s[0] == '-' ? s + 1 : s;

	if (!digits || (digits[0] == '0' && !str_eq(s, "0")))
		return false;
	return str_to_i64(s, INT64_MIN, INT64_MAX, out);
}

/* --- RFC 3339 --- */

/*
 * Returns the number of days from 1970-01-01 to a date in the Gregorian calendar. Years are counted
 * from March, so that the leap day is the last day of a year; 400 years have 146,097 days.
 */
static int64_t days_of(int64_t y, unsigned m, unsigned d)
{
	int64_t era;
	unsigned year, day;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	year = (unsigned)(y - era * 400);
	day = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
	return era * 146097 + (int64_t)(year * 365 + year / 4 - year / 100 + day) - 719468;
}

static void date_of(int64_t days, int64_t *y, unsigned *m, unsigned *d)
{
	int64_t era;
	unsigned day, year, month;

	days += 719468;
	era = (days >= 0 ? days : days - 146096) / 146097;
	day = (unsigned)(days - era * 146097);
	year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	*d = day - (153 * month + 2) / 5 + 1;
	*m = month < 10 ? month + 3 : month - 9;
	*y = (int64_t)year + era * 400 + (*m <= 2);
}

static bool take_digits(const char **s, unsigned n, unsigned *out)
{
	unsigned v = 0;

	for (; n > 0; n--, (*s)++) {
		if (!is_digit(**s))
			return false;
		v = v * 10 + (unsigned)(**s - '0');
	}
	*out = v;
	return true;
}

static bool take_char(const char **s, char upper)
{
	if (**s != upper && (upper < 'A' || **s != upper + ('a' - 'A')))
		return false;
	(*s)++;
	return true;
}

static unsigned month_length(unsigned y, unsigned m)
{
	static const unsigned char length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;

	return m == 2 && leap ? 29 : length[m - 1];
}

/* Reads the offset from UTC, in minutes, at the end of the text. */
static bool take_offset(const char *s, int *minutes)
{
	unsigned h, m;
	int sign = *s == '-' ? -1 : 1;

	if (take_char(&s, 'Z')) {
		*minutes = 0;
		return *s == '\0';
	}
	if (*s != '+' && *s != '-')
		return false;
	s++;
	if (!take_digits(&s, 2, &h) || !take_char(&s, ':') || !take_digits(&s, 2, &m) || *s ||
	    h > 23 || m > 59)
		return false;
	*minutes = sign * (int)(h * 60 + m);
	return true;
}

bool str_to_time(const char *s, int64_t *unix_ms)
{
	unsigned y, mo, d, h, mi, sec, ms = 0;
	int offset;

	if (!s || !take_digits(&s, 4, &y) || !take_char(&s, '-') || !take_digits(&s, 2, &mo) ||
	    !take_char(&s, '-') || !take_digits(&s, 2, &d) || !take_char(&s, 'T') ||
	    !take_digits(&s, 2, &h) || !take_char(&s, ':') || !take_digits(&s, 2, &mi) ||
	    !take_char(&s, ':') || !take_digits(&s, 2, &sec))
		return false;
	if (mo < 1 || mo > 12 || d < 1 || d > month_length(y, mo) || h > 23 || mi > 59 || sec > 60)
		/* Refuse the time. Seconds up to 60 are valid, because 60 is a leap second. */
		return false;
	if (*s == '.') {
		if (!is_digit(*++s))
			return false;
		for (unsigned weight = 100; is_digit(*s); s++, weight /= 10)
			ms += weight * (unsigned)(*s - '0');
	}
	if (!take_offset(s, &offset))
		return false;
	*unix_ms = ((days_of(y, mo, d) * 24 + h) * 60 + mi - offset) * 60000 + sec * 1000 + ms;
	return true;
}

static void time_text(char out[static STR_TIME_SIZE], int64_t unix_ms, bool micro)
{
	const int64_t day_ms = 86400000;
	const int64_t first = days_of(0, 1, 1) * day_ms, last = days_of(10000, 1, 1) * day_ms - 1;
	int64_t days, y;
	unsigned m, d, rest;

	unix_ms = unix_ms < first ? first : unix_ms > last ? last : unix_ms;
	days = unix_ms / day_ms - (unix_ms % day_ms < 0);
	rest = (unsigned)(unix_ms - days * day_ms);
	date_of(days, &y, &m, &d);
	str_format(out, STR_TIME_SIZE, "%04d-%02u-%02uT%02u:%02u:%02u", (int)y, m, d,
		   rest / 3600000, rest / 60000 % 60, rest / 1000 % 60);
	if (micro)
		str_format(out + strlen(out), 12, ".%03u000Z", rest % 1000);
	else
		str_format(out + strlen(out), 2, "Z");
}

const char *str_time(char out[static STR_TIME_SIZE], int64_t unix_ms)
{
	time_text(out, unix_ms, false);
	return out;
}

const char *str_time_micro(char out[static STR_TIME_SIZE], int64_t unix_ms)
{
	time_text(out, unix_ms, true);
	return out;
}

/* --- Go durations --- */

static int64_t unit_ns(const char *s, size_t n)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {
		{"ns", 1},
		{"us", 1000},
		{"\xc2\xb5s", 1000},
		{"\xce\xbcs", 1000},
		{"ms", 1000000},
		{"s", 1000000000LL},
		{"m", 60 * 1000000000LL},
		{"h", 3600 * 1000000000LL},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == n && memcmp(units[i].name, s, n) == 0)
			return units[i].ns;
	return 0;
}

/* Reads one term such as "1.5h" and adds its nanoseconds to *total. */
static bool take_term(const char **s, __int128 *total)
{
	__int128 whole = 0, fraction = 0, scale = 1;
	const char *p = *s, *unit;
	bool any = false;
	int64_t ns;

	for (; is_digit(*p); p++, any = true) {
		whole = whole * 10 + (*p - '0');
		if (whole > INT64_MAX)
			return false;
	}
	if (*p == '.') {
		for (p++; is_digit(*p); p++, any = true) {
			if (scale > INT64_MAX / 10)
				continue; /* Ignore digits below the resolution. */
			fraction = fraction * 10 + (*p - '0');
			scale *= 10;
		}
	}
	for (unit = p; *p && *p != '.' && !is_digit(*p); p++)
		;
	ns = unit_ns(unit, (size_t)(p - unit));
	if (!any || ns == 0)
		return false;
	*total += whole * ns + fraction * ns / scale;
	*s = p;
	return *total <= INT64_MAX;
}

/* Reads a Go duration. Fractions of a millisecond are rounded away from zero, because a limit of
 * 1ns must not become 0, which often means "no limit". */
bool str_to_duration(const char *s, int64_t *ms)
{
	__int128 total = 0;
	bool negative = s && *s == '-';

	if (!s)
		return false;
	if (*s == '-' || *s == '+')
		s++;
	if (strcmp(s, "0") == 0) {
		*ms = 0;
		return true;
	}
	if (!*s)
		return false;
	while (*s)
		if (!take_term(&s, &total))
			return false;
	total = (total + 999999) / 1000000;
	*ms = (int64_t)(negative ? -total : total);
	return true;
}

const char *str_duration(char out[static STR_TIME_SIZE], int64_t ms)
{
	uint64_t n = ms < 0 ? -(uint64_t)ms : (uint64_t)ms;
	uint64_t h = n / 3600000, m = n / 60000 % 60, s = n / 1000 % 60;
	unsigned rest = (unsigned)(n % 1000), digits = 3;
	char *p = out, *end = out + STR_TIME_SIZE;

	if (ms < 0)
		*p++ = '-';
	if (n < 1000) {
		str_format(p, (size_t)(end - p), n ? "%ums" : "%us", rest);
		return out;
	}
	*p = '\0';
	if (h)
		p += snprintf(p, (size_t)(end - p), "%lluh", (unsigned long long)h);
	if (m)
		p += snprintf(p, (size_t)(end - p), "%llum", (unsigned long long)m);
	for (; rest && rest % 10 == 0; rest /= 10)
		digits--;
	if (rest)
		str_format(p, (size_t)(end - p), "%llu.%0*us", (unsigned long long)s, (int)digits,
			   rest);
	else if (s)
		str_format(p, (size_t)(end - p), "%llus", (unsigned long long)s);
	return out;
}

/* --- names --- */

static bool is_lower_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z');
}

static bool is_alnum(char c)
{
	return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool dns_label(const char *s, size_t n)
{
	if (n == 0 || !is_lower_alnum(s[0]) || !is_lower_alnum(s[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_lower_alnum(s[i]) && s[i] != '-')
			return false;
	return true;
}

bool str_is_dns_label(const char *s)
{
	size_t n = s ? strlen(s) : 0;

	return n <= 63 && dns_label(s, n);
}

/* True for a DNS subdomain. As in Kubernetes, its labels may be longer than 63 characters. */
static bool dns_subdomain(const char *s, size_t n)
{
	size_t from = 0;

	if (n > 253)
		return false;
	for (size_t i = 0; i <= n; i++) {
		if (i < n && s[i] != '.')
			continue;
		if (!dns_label(s + from, i - from))
			return false;
		from = i + 1;
	}
	return true;
}

bool str_is_dns_subdomain(const char *s)
{
	return s && dns_subdomain(s, strlen(s));
}

static bool name_part(const char *s, size_t n)
{
	if (n == 0 || n > 63 || !is_alnum(s[0]) || !is_alnum(s[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_alnum(s[i]) && s[i] != '-' && s[i] != '_' && s[i] != '.')
			return false;
	return true;
}

bool str_is_label_value(const char *s)
{
	return s && (!*s || name_part(s, strlen(s)));
}

bool str_is_qualified_name(const char *s)
{
	const char *slash = s ? strchr(s, '/') : NULL;

	if (!s)
		return false;
	if (!slash)
		return name_part(s, strlen(s));
	return dns_subdomain(s, (size_t)(slash - s)) && name_part(slash + 1, strlen(slash + 1));
}

/* --- bytes --- */

int32_t str_utf8(const char *s, size_t n, size_t *used)
{
	static const int32_t least[] = {[2] = 0x80, [3] = 0x800, [4] = 0x10000};
	unsigned char first = (unsigned char)*s;
	size_t want = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	int32_t c;

	*used = 1;
	if (first < 0x80)
		return first;
	if (first < 0xc2 || first > 0xf4 || want > n)
		return -1;
	c = first & (0x7f >> want);
	for (size_t i = 1; i < want; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (c < least[want] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return -1;
	*used = want;
	return c;
}

void str_hex(char *out, const void *data, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = data;

	for (size_t i = 0; i < n; i++) {
		*out++ = digits[p[i] >> 4];
		*out++ = digits[p[i] & 15];
	}
	*out = '\0';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool str_unhex(void *out, const char *hex, size_t n)
{
	unsigned char *p = out;

	if (!hex || strlen(hex) != 2 * n)
		return false;
	for (size_t i = 0; i < 2 * n; i++)
		if (hex_value(hex[i]) < 0)
			/* Check all digits before writing, so that out is unchanged if hex is
			 * refused. */
			return false;
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1]));
	return true;
}

void str_printable(char *s)
{
	char *to = s;

	str_clean(s);
	for (; *s; s++) {
		unsigned char c = (unsigned char)s[0], next = (unsigned char)s[1];
		/* These two bytes are a C1 control character, U+0080 to U+009F: replace both by one
		 * '?'. */
		bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;

		*to++ = c1 || c < 0x20 || c == 0x7f ? '?' : *s;
		s += c1;
	}
	*to = '\0';
}

void str_clean(char *s)
{
	size_t left = strlen(s), used;

	while (left) {
		if (str_utf8(s, left, &used) < 0)
			*s = '?';
		s += used;
		left -= used;
	}
}
