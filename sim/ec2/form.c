#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/ec2/ec2_impl.h"

/*
 * The Query protocol: parsing forms, writing XML, and the error of a request.
 *
 * Tests: tests/unit/sim/ec2/test_ec2.c
 */
#define PARAMS_MAX 8192

void e2_fail(struct e2_call *c, int status, const char *code, const char *fmt, ...)
{
	va_list ap;

	if (c->code)
		return;
	va_start(ap, fmt);
	vsnprintf(c->message, sizeof(c->message), fmt, ap);
	va_end(ap);
	c->status = status;
	c->code = code;
}

static int nibble(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* Returns a form-encoded text decoded, malloc'd; NULL: it is not valid or contains a NUL. */
static char *decoded(const char *s, size_t n)
{
	char *out = mem_alloc(n + 1);
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] != '%') {
			out[k++] = s[i] == '+' ? ' ' : s[i];
			continue;
		}
		if (i + 2 >= n || nibble(s[i + 1]) < 0 || nibble(s[i + 2]) < 0) {
			free(out);
			return NULL;
		}
		out[k++] = (char)(nibble(s[i + 1]) << 4 | nibble(s[i + 2]));
		i += 2;
		if (!out[k - 1]) {
			free(out);
			return NULL;
		}
	}
	out[k] = '\0';
	return out;
}

bool e2_form_parse(struct e2_form *f, const char *body, size_t len)
{
	size_t cap = 0;

	*f = (struct e2_form){0};
	for (size_t at = 0; at < len;) {
		const char *end = memchr(body + at, '&', len - at);
		size_t n = (end ? (size_t)(end - body) : len) - at;
		const char *is = memchr(body + at, '=', n);
		size_t name = is ? (size_t)(is - body) - at : n;
		struct e2_pair p = {0};

		if (n && f->n < PARAMS_MAX) {
			p.name = decoded(body + at, name);
			p.value = is ? decoded(is + 1, n - name - 1) : mem_strdup("");
		}
		if (n && (!p.name || !p.value)) {
			free(p.name);
			free(p.value);
			return false;
		}
		if (n) {
			mem_grow(f->v, f->n, cap);
			f->v[f->n++] = p;
		}
		at += n + 1;
	}
	return true;
}

void e2_form_done(struct e2_form *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].name);
		free(f->v[i].value);
	}
	free(f->v);
	*f = (struct e2_form){0};
}

const char *e2_param(const struct e2_call *c, const char *fmt, ...)
{
	char name[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < c->form.n; i++)
		if (str_eq(c->form.v[i].name, name))
			return c->form.v[i].value;
	return NULL;
}

bool e2_number(struct e2_call *c, const char *name, int64_t min, int64_t max, int64_t otherwise,
	       int64_t *out)
{
	const char *text = e2_param(c, "%s", name);

	*out = otherwise;
	if (!text || str_to_i64(text, min, max, out))
		return true;
	e2_fail(c, 400, "InvalidParameterValue",
		"Value ( %s ) for parameter %s is invalid. Expecting a number from %lld to %lld.",
		text, name, (long long)min, (long long)max);
	return false;
}

bool e2_is_param(const char *pattern, const char *name)
{
	for (; *pattern; pattern++) {
		if (*pattern == '*')
			return true;
		if (*pattern != '#') {
			if (*pattern != *name++)
				return false;
			continue;
		}
		if (!isdigit((unsigned char)*name))
			return false;
		while (isdigit((unsigned char)*name))
			name++;
	}
	return !*name;
}

bool e2_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* --- XML -------------------------------------------------------------------------------------- */

void e2_open(struct buf *b, const char *element)
{
	buf_printf(b, "<%s>", element);
}

void e2_close(struct buf *b, const char *element)
{
	buf_printf(b, "</%s>", element);
}

/* Writes text with XML escapes; characters that XML 1.0 cannot represent become '?'. */
static void put_escaped(struct buf *b, const char *text)
{
	char *clean = mem_strdup(text);

	str_clean(clean);
	for (const char *s = clean; *s; s++) {
		if (*s == '&')
			buf_puts(b, "&amp;");
		else if (*s == '<')
			buf_puts(b, "&lt;");
		else if (*s == '>')
			buf_puts(b, "&gt;");
		else if ((unsigned char)*s < ' ' && *s != '\t' && *s != '\n')
			buf_puts(b, *s == '\r' ? "&#13;" : "?");
		else
			buf_put(b, s, 1);
	}
	free(clean);
}

void e2_text(struct buf *b, const char *element, const char *text)
{
	if (!text)
		return;
	e2_open(b, element);
	put_escaped(b, text);
	e2_close(b, element);
}

void e2_int(struct buf *b, const char *element, int64_t n)
{
	buf_printf(b, "<%s>%lld</%s>", element, (long long)n, element);
}

void e2_time(struct buf *b, const char *element, int64_t wall_ms)
{
	char text[STR_TIME_SIZE];

	e2_text(b, element, str_time(text, wall_ms));
}
