#include "base/httpd/httpd_target.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "base/str.h"

static int unhex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* True for well-formed UTF-8 (table 3-7 of the Unicode standard). */
static bool is_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		unsigned more = *s < 0x80   ? 0
				: *s < 0xc2 ? 4
				: *s < 0xe0 ? 1
				: *s < 0xf0 ? 2
				: *s < 0xf5 ? 3
					    : 4;

		if (more == 4)
			return false;
		if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
		    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
			return false;
		for (s++; more > 0; more--, s++)
			if ((*s & 0xc0) != 0x80)
				return false;
	}
	return true;
}

/* Decodes percent-encoding. NULL: refused, because of bad encoding, a NUL, or, in a path, a control
 * character. In a query the caller has to handle control characters. */
static char *decode(struct arena *a, const char *s, size_t n, bool query)
{
	char *out = arena_alloc(a, n + 1);
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		int c = (unsigned char)s[i];

		if (c == '%') {
			int high = i + 2 < n ? unhex(s[i + 1]) : -1;
			int low = high >= 0 ? unhex(s[i + 2]) : -1;

			if (low < 0)
				return NULL;
			c = high * 16 + low;
			i += 2;
			if (c == 0 || (!query && c == '/'))
				return NULL;
		} else if (query && c == '+') {
			c = ' ';
		}
		if (!query && (c < ' ' || c == 0x7f))
			return NULL;
		out[at++] = (char)c;
	}
	out[at] = '\0';
	return is_utf8(out) ? out : NULL;
}

static int parse_path(struct httpd_target *t, struct arena *a, const char *s, size_t n,
		      struct err *e)
{
	const char *end = s + n;
	char *at = arena_alloc(a, n + 2);

	t->path = at;
	if (n > 1 && end[-1] == '/')
		end--;
	while (s < end && s + 1 < end) {
		const char *from = s + 1, *to = memchr(from, '/', (size_t)(end - from));
		char *segment;
		size_t len;

		to = to ? to : end;
		segment = decode(a, from, (size_t)(to - from), false);
		if (!segment || !*segment || str_eq(segment, ".") || str_eq(segment, ".."))
			return err_set(e, ERR_INVALID, 400, "bad path");
		if (t->nsegments == HTTPD_SEGMENTS_MAX)
			return err_set(e, ERR_INVALID, 414, "too many path segments");
		t->segments[t->nsegments++] = segment;
		len = strlen(segment);
		*at++ = '/';
		memcpy(at, segment, len);
		at += len;
		s = to;
	}
	if (s + 1 == end && n > 1)
		/* Refuse an empty segment at the end, as in "//" or "/a//". */
		return err_set(e, ERR_INVALID, 400, "bad path");
	if (at == t->path)
		*at++ = '/';
	*at = '\0';
	return 0;
}

static int parse_query(struct httpd_target *t, struct arena *a, const char *s, struct err *e)
{
	t->params = arena_calloc(a, HTTPD_PARAMS_MAX, sizeof(*t->params));
	while (*s) {
		size_t n = strcspn(s, "&");
		const char *equals = memchr(s, '=', n);
		size_t name_len = equals ? (size_t)(equals - s) : n;

		if (n > 0) {
			if (t->nparams == HTTPD_PARAMS_MAX)
				return err_set(e, ERR_INVALID, 400, "too many query parameters");
			t->params[t->nparams].name = decode(a, s, name_len, true);
			t->params[t->nparams].value =
				equals ? decode(a, equals + 1, n - name_len - 1, true)
				       : arena_strdup(a, "");
			if (!t->params[t->nparams].name || !t->params[t->nparams].value)
				return err_set(e, ERR_INVALID, 400, "bad query");
			t->nparams++;
		}
		s += n + (s[n] == '&');
	}
	return 0;
}

int httpd_target_parse(struct httpd_target *t, struct arena *a, const char *target, struct err *e)
{
	size_t n;

	*t = (struct httpd_target){0};
	if (*target != '/')
		return err_set(e, ERR_INVALID, 400, "want a path");
	if (strnlen(target, HTTPD_TARGET_MAX + 1) > HTTPD_TARGET_MAX)
		return err_set(e, ERR_INVALID, 414, "the request's path is too long");
	n = strcspn(target, "?");
	if (parse_path(t, a, target, n, e) < 0)
		return -1;
	return target[n] == '?' ? parse_query(t, a, target + n + 1, e) : 0;
}
