#include "base/data/scan_token.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Tests: tests/unit/base/data/test_scan.c, tests/fuzz/fuzz_scan.c */

#define EACH_BYTE(x) ((uint64_t)(x)*0x0101010101010101)

/* Returns a word in which the high bit of each zero byte of x is set. Bytes above the first zero
 * byte may be marked wrongly. That is harmless if the caller only asks whether x has a zero byte,
 * or searches for the first one itself. */
static inline uint64_t zero_bytes(uint64_t x)
{
	return (x - EACH_BYTE(1)) & ~x & EACH_BYTE(0x80);
}

static inline bool is_special(unsigned char c)
{
	return c == '"' || c == '\\' || c < 0x20 || c >= 0x80;
}

const char *scan_plain(const char *p, const char *end)
{
	while (end - p >= 8) {
		uint64_t x;

		memcpy(&x, p, 8);
		if (zero_bytes(x ^ EACH_BYTE('"')) | zero_bytes(x ^ EACH_BYTE('\\')) |
		    ((x - EACH_BYTE(0x20)) & ~x & EACH_BYTE(0x80)) | (x & EACH_BYTE(0x80)))
			break;
		p += 8;
	}
	while (p < end && !is_special((unsigned char)*p))
		p++;
	return p;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads four hex digits at p. If only len < 4 bytes are available yet, reads only those. -1: one of
 * the bytes is not a hex digit. */
static int32_t hex4(const char *p, size_t len)
{
	int32_t x = 0;

	for (size_t i = 0; i < 4 && i < len; i++) {
		int h = hex(p[i]);

		if (h < 0)
			return -1;
		x = x << 4 | h;
	}
	return x;
}

static size_t put_utf8(uint32_t c, char out[static 4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static int bad(const char *why, const char **what)
{
	*what = why;
	return -1;
}

/* Decodes \uXXXX, or two such escapes that form a surrogate pair. Results are those of
 * scan_sequence(). */
static int unicode_escape(const char *p, size_t len, char out[static 4], size_t *n,
			  const char **what)
{
	int32_t high, low;

	/* Refuse the escape at its first wrong byte, even if it is incomplete, so that the error
	 * does not depend on where a chunk ends. */
	high = hex4(p + 2, len - 2);
	if (high < 0)
		return bad("an escape without four hex digits", what);
	if (len < 6)
		return 0;
	if (high == 0)
		return bad("a NUL in a string", what);
	if (high < 0xd800 || high > 0xdfff) {
		*n = put_utf8((uint32_t)high, out);
		return 6;
	}
	if (high >= 0xdc00 || (len > 6 && p[6] != '\\') || (len > 7 && p[7] != 'u'))
		return bad("half of a surrogate pair", what);
	low = len > 8 ? hex4(p + 8, len - 8) : 0;
	if (low < 0)
		return bad("an escape without four hex digits", what);
	if (len < 12)
		return 0;
	if (low < 0xdc00 || low > 0xdfff)
		return bad("half of a surrogate pair", what);
	*n = put_utf8(0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00), out);
	return 12;
}

static int escape(const char *p, size_t len, char out[static 4], size_t *n, const char **what)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (len < 2)
		return 0;
	if (p[1] == 'u')
		return unicode_escape(p, len, out, n, what);
	at = p[1] ? strchr(from, p[1]) : NULL;
	if (!at)
		return bad("an invalid escape", what);
	out[0] = to[at - from];
	*n = 1;
	return 2;
}

int scan_sequence(const char *p, size_t len, char out[static 4], size_t *n, const char **what)
{
	unsigned char first = (unsigned char)*p;
	unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
	size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	if (first == '\\')
		return escape(p, len, out, n, what);
	if (first < 0xc2 || first > 0xf4)
		return bad("a byte that is not UTF-8", what);
	for (size_t i = 1; i < size && i < len; i++) {
		unsigned char c = (unsigned char)p[i];

		if (i == 1 ? c < low || c > high : c < 0x80 || c > 0xbf)
			return bad("a byte that is not UTF-8", what);
	}
	if (len < size)
		return 0;
	memcpy(out, p, size);
	*n = size;
	return (int)size;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static const char *digits(const char *p)
{
	while (*p >= '0' && *p <= '9')
		p++;
	return p;
}

/* True for a number by the grammar -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?. *real: true if
 * it has a fraction or exponent. */
static bool is_number(const char *p, const char *end, bool *real)
{
	const char *from;

	p += *p == '-';
	from = p;
	p = digits(p);
	if (p == from || (*from == '0' && p > from + 1))
		return false;
	*real = p < end;
	if (*p == '.') {
		from = ++p;
		p = digits(p);
		if (p == from)
			return false;
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '+' || *p == '-';
		from = p;
		p = digits(p);
		if (p == from)
			return false;
	}
	return p == end;
}

bool scan_number(const char *text, size_t len, struct scan_number *out, const char **what)
{
	errno = 0;
	*what = "a number that does not fit";
	if (!is_number(text, text + len, &out->real)) {
		*what = "an invalid number";
		return false;
	}
	if (out->real) {
		out->d = strtod(text, NULL);
		return !isinf(out->d);
	}
	out->i = strtoll(text, NULL, 10);
	return errno != ERANGE;
}
