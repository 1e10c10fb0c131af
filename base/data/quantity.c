#include "base/data/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"

/*
 * Parsing works on decimal digits, the most significant first; the position of the decimal point is
 * stored separately. A binary suffix multiplies the digits by 1024, a power of ten only moves the
 * point. At the end the digits up to 10^-9 become the integer `nano`. Only this last step rounds.
 */
enum {
	TEXT_MAX = 256,
	DIGITS_MAX = TEXT_MAX + 24 /* The suffix Ei adds 19 digits. */,
	EXPONENT_MAX = 1000
};

#define GIGA ((__int128)1000000000)
#define NANO_MAX (INT64_MAX * GIGA)

struct decimal {
	/* The digits in use are digit[from] to digit[to - 1]. */
	unsigned char digit[DIGITS_MAX];
	size_t from, to;
	/* Position of the decimal point, counted in digits from digit[from]; may be outside the
	 * digits in use. */
	long point;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits with at most one decimal point; drops leading zeros. False: there is no digit. */
static bool take_number(const char **s, struct decimal *d)
{
	bool any = false, fraction = false;
	const char *p = *s;

	d->from = d->to = DIGITS_MAX - TEXT_MAX;
	d->point = 0;
	for (; is_digit(*p) || (*p == '.' && !fraction); p++) {
		if (*p == '.') {
			fraction = true;
			continue;
		}
		any = true;
		if (d->to > d->from || *p != '0') {
			d->digit[d->to++] = (unsigned char)(*p - '0');
			d->point += !fraction;
		} else {
			/* Example: 0.05 is the digit 5 with its point at -1. */
			d->point -= fraction;
		}
	}
	*s = p;
	return any;
}

static void times_1024(struct decimal *d)
{
	unsigned carry = 0;

	for (size_t i = d->to; i > d->from; i--) {
		carry += d->digit[i - 1] * 1024u;
		d->digit[i - 1] = (unsigned char)(carry % 10);
		carry /= 10;
	}
	for (; carry > 0; carry /= 10, d->point++)
		d->digit[--d->from] = (unsigned char)(carry % 10);
}

/* Reads sign and digits of an exponent up to the end of the text. An exponent beyond the range of
 * quantities is replaced by the nearest limit. False: not a number. */
static bool take_exponent(const char *s, long *out)
{
	bool negative = *s == '-';
	long n = 0;

	if (*s == '-' || *s == '+')
		s++;
	if (!*s)
		return false;
	for (; is_digit(*s); s++)
		n = n < EXPONENT_MAX ? n * 10 + (*s - '0') : n;
	*out = negative ? -n : n;
	return *s == '\0';
}

static bool apply_suffix(struct decimal *d, const char *s)
{
	/* Suffixes in ascending order. Each step is a factor of 10^3, or of 1024 if an 'i' follows
	 * the suffix. */
	static const char big[] = "KMGTPE", decimal[] = "num kMGTPE";
	const char *at;
	long exponent;

	if (!*s)
		return true;
	if (s[1] == 'i' && s[2] == '\0') {
		at = strchr(big, s[0]);
		if (!at)
			return false;
		for (long k = at - big; k >= 0; k--)
			times_1024(d);
		return true;
	}
	if (s[1] == '\0') {
		at = s[0] == ' ' ? NULL : strchr(decimal, s[0]);
		if (!at)
			return false;
		d->point += 3 * (at - decimal) - 9;
		return true;
	}
	if ((s[0] != 'e' && s[0] != 'E') || !take_exponent(s + 1, &exponent))
		return false;
	d->point += exponent;
	return true;
}

/* Converts the digits to billionths; a remainder is rounded away from zero. False: out of range. */
static bool take_nano(const struct decimal *d, __int128 *out)
{
	size_t n = d->to - d->from;
	long whole = d->point + 9;
	__int128 v = 0;

	if (n == 0) {
		*out = 0;
		return true;
	}
	if (whole > 28)
		return false;
	for (long i = 0; i < whole; i++)
		v = v * 10 + ((size_t)i < n ? d->digit[d->from + (size_t)i] : 0);
	for (size_t i = whole > 0 ? (size_t)whole : 0; i < n; i++) {
		if (d->digit[d->from + i] != 0) {
			v++;
			break;
		}
	}
	*out = v;
	return v <= NANO_MAX;
}

int quantity_parse(const char *s, struct quantity *out, struct err *e)
{
	const char *text = s ? s : "", *p = text;
	bool negative = *p == '-';
	struct decimal d;
	__int128 nano;

	if (strnlen(text, TEXT_MAX + 1) > TEXT_MAX)
		return err_set(e, ERR_INVALID, 0,
			       "quantity \"%.32s...\": longer than %d characters", text, TEXT_MAX);
	if (*p == '-' || *p == '+')
		p++;
	if (!take_number(&p, &d))
		return err_set(e, ERR_INVALID, 0, "quantity \"%s\": want a number", text);
	if (!apply_suffix(&d, p))
		return err_set(e, ERR_INVALID, 0,
			       "quantity \"%s\": want a suffix n, u, m, k, M, G, T, P, E, "
			       "Ki, Mi, Gi, Ti, Pi, Ei or an exponent",
			       text);
	if (!take_nano(&d, &nano))
		return err_set(e, ERR_INVALID, 0, "quantity \"%s\": beyond 2^63-1", text);
	out->nano = negative ? -nano : nano;
	return 0;
}

/* Writes the decimal text of n before the NUL at `end`; returns its start. */
static char *put_digits(char *end, __int128 n)
{
	do
		*--end = (char)('0' + (int)(n % 10));
	while ((n /= 10) > 0);
	return end;
}

const char *quantity_format(struct quantity q, char out[static QUANTITY_TEXT])
{
	static const char *const binary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	static const char *const small[] = {"n", "u", "m", ""};
	__int128 n = q.nano < 0 ? -q.nano : q.nano;
	const char *suffix;
	char digits[QUANTITY_TEXT];
	size_t i = 0;

	if (n % GIGA == 0) {
		for (n /= GIGA; n >= 1024 && n % 1024 == 0; n /= 1024)
			i++;
		suffix = binary[i];
	} else {
		for (; n % 1000 == 0; n /= 1000)
			i++;
		suffix = small[i];
	}
	digits[sizeof(digits) - 1] = '\0';
	snprintf(out, QUANTITY_TEXT, "%s%s%s", q.nano < 0 ? "-" : "",
		 put_digits(digits + sizeof(digits) - 1, n), suffix);
	return out;
}

static struct quantity saturate(__int128 nano)
{
	return (struct quantity){nano > NANO_MAX ? NANO_MAX : nano < -NANO_MAX ? -NANO_MAX : nano};
}

struct quantity quantity_of(int64_t whole)
{
	return saturate(whole * GIGA);
}

bool quantity_of_real(double v, struct quantity *out)
{
	char text[32];
	struct err ignored;

	str_format(text, sizeof(text), "%.15g", v);
	return quantity_parse(text, out, &ignored) == 0;
}

struct quantity quantity_add(struct quantity a, struct quantity b)
{
	return saturate(a.nano + b.nano);
}

struct quantity quantity_sub(struct quantity a, struct quantity b)
{
	return saturate(a.nano - b.nano);
}

static int64_t divide(__int128 nano, __int128 unit, bool up)
{
	__int128 n = nano / unit, rest = nano % unit;

	n += up ? rest > 0 : -(rest < 0);
	return n > INT64_MAX ? INT64_MAX : n < INT64_MIN ? INT64_MIN : (int64_t)n;
}

int64_t quantity_ceil(struct quantity q)
{
	return divide(q.nano, GIGA, true);
}

int64_t quantity_floor(struct quantity q)
{
	return divide(q.nano, GIGA, false);
}

int64_t quantity_milli_ceil(struct quantity q)
{
	return divide(q.nano, 1000000, true);
}

int64_t quantity_milli_floor(struct quantity q)
{
	return divide(q.nano, 1000000, false);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct resource *)x)->name, ((const struct resource *)y)->name);
}

void resources_sort(struct resources *r)
{
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_name);
}

const struct quantity *resources_get(const struct resources *r, const char *name)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strcmp(r->v[mid].name, name);

		if (c == 0)
			return &r->v[mid].q;
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

bool resources_equal(const struct resources *a, const struct resources *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (!str_eq(a->v[i].name, b->v[i].name) || quantity_cmp(a->v[i].q, b->v[i].q) != 0)
			return false;
	return a->n == b->n;
}
