/* quoted: searches a text for each form in which a secret may be written, and replaces each
 * match. */
#include "base/quoted.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/redact.h"

#define FORM_MAX 1024 /* Maximum number of bytes of a secret that are searched for. */

/* True for characters that a peer's quoting may insert between two characters of a secret. */
static bool is_between(char c)
{
	return c && strchr("\"'`\\ \t", c);
}

/* Compares the text at s with form. Returns the position behind the match; NULL: no match. A text
 * that ends within form matches if at least QUOTED_LEAST bytes agree. */
static char *behind_form(char *s, const char *form, size_t len, bool any_case)
{
	size_t n = 0, used;

	while (n < len) {
		const char c = redact_char(s, &used);
		const bool same =
			any_case ? tolower((unsigned char)c) == tolower((unsigned char)form[n])
				 : c == form[n];

		if (!c)
			return n >= QUOTED_LEAST ? s : NULL;
		if (same)
			n++;
		else if (!n || !is_between(c))
			return NULL;
		s += used;
	}
	return s;
}

static void strike_form(char *text, const char *form, size_t len, bool any_case)
{
	size_t used;

	if (len < QUOTED_LEAST)
		return;
	for (char *s = text; *s; s += used) {
		char *to = behind_form(s, form, len, any_case);

		(void)redact_char(s, &used);
		if (!to)
			continue;
		memset(s, '*', (size_t)(to - s));
		used = (size_t)(to - s);
	}
}

/* Replaces the secret in base64. Base64 encodes groups of three bytes, so the number of bytes
 * before the secret, modulo 3, decides between three encoded forms. The first and last characters,
 * which also encode a neighbouring byte, are left out of the search. */
static void strike_base64(char *text, const char *secret, size_t len)
{
	char padded[FORM_MAX + 3];

	for (size_t before = 0; before < 3; before++) {
		const size_t skip = before ? before + 1 : 0, whole = (before + len) / 3 * 4;
		const size_t rest = (before + len) % 3, most = whole + rest;
		char *form;

		memset(padded, 0, sizeof(padded));
		memcpy(padded + before, secret, len);
		form = crypto_base64(padded, before + len);
		if (most > skip) {
			strike_form(text, form + skip, most - skip, false);
			for (char *c = form; *c; c++) /* Search the same form in base64url. */
				*c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
			strike_form(text, form + skip, most - skip, false);
		}
		secret_wipe(form, strlen(form));
		free(form);
	}
	secret_wipe(padded, sizeof(padded));
}

static void strike_hex(char *text, const char *secret, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char form[2 * FORM_MAX];

	for (size_t i = 0; i < len; i++) {
		form[2 * i] = digits[(unsigned char)secret[i] >> 4];
		form[2 * i + 1] = digits[(unsigned char)secret[i] & 15];
	}
	strike_form(text, form, 2 * len, true);
	secret_wipe(form, sizeof(form));
}

void quoted_redact(char *text, const struct secret *s)
{
	const char *bytes = s ? secret_expose(s) : "";
	const size_t all = s ? secret_len(s) : 0, len = all < FORM_MAX ? all : FORM_MAX;

	if (len < QUOTED_LEAST || !*text)
		return;
	strike_form(text, bytes, len, false);
	strike_base64(text, bytes, len);
	strike_hex(text, bytes, len);
}

void quoted_redact_err(struct err *e, const struct secret *a, const struct secret *b)
{
	quoted_redact(e->text, a);
	quoted_redact(e->text, b);
}
