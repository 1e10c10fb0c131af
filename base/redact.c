/*
 * redact: finds credentials in a text, also in encoded form (percent-encoding, JSON and XML
 * escapes), and replaces their bytes by '*'.
 */
#include "base/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Maximum length of a run of hex digits that is not replaced. UUIDs and WWNs have at most 32. If a
 * 64-digit token is truncated, at most half of it stays visible. */
#define HEX_MAX 32
#define JWT_MIN 20
#define TOKEN_ID 6
#define TOKEN_SECRET 16

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* Decodes two hex digits to a character; 0: s does not begin with two hex digits. */
static char pair(const char *s)
{
	int hi = hex(s[0]), lo = hi < 0 ? -1 : hex(s[1]);

	return lo < 0 ? 0 : (char)(hi << 4 | lo);
}

/* Decodes an XML character reference, "&#x2f;" or "&#47;"; *used is its length. 0: not a
 * reference. */
static char entity(const char *s, size_t *used)
{
	bool x = s[2] == 'x' || s[2] == 'X';
	size_t i = x ? 3 : 2;
	int c = 0, d;

	for (; c < 128 && (d = hex(s[i])) >= 0 && (x || d < 10); i++)
		c = c * (x ? 16 : 10) + d;
	*used = i + 1;
	return s[i] == ';' && c < 128 ? (char)c : 0;
}

char redact_char(const char *s, size_t *used)
{
	char c = 0;

	*used = 1;
	if (s[0] == '%') {
		*used = 3;
		c = pair(s + 1);
		/* Decode again while the result is a '%' with two hex digits (repeated
		 * percent-encoding). */
		for (; c == '%' && pair(s + *used); *used += 2)
			c = pair(s + *used);
	} else if (s[0] == '\\' && s[1] == '/') {
		*used = 2;
		c = '/';
	} else if (strncmp(s, "\\u00", 4) == 0) {
		*used = 6;
		c = pair(s + 4);
	} else if (strncmp(s, "&#", 2) == 0) {
		c = entity(s, used);
	}
	if (c)
		return c;
	*used = 1;
	return *s;
}

static void strike(char *from, const char *to)
{
	memset(from, '*', (size_t)(to - from));
}

/* Returns the position behind `word` (in lower case) if the text at s begins with it, in any case
 * and encoding; otherwise NULL. */
static char *behind(char *s, const char *word)
{
	size_t used;

	for (; *word; word++, s += used)
		if (tolower((unsigned char)redact_char(s, &used)) != *word)
			return NULL;
	return s;
}

static char *behind_hex(char *s, size_t *n)
{
	size_t used;

	for (*n = 0; hex(redact_char(s, &used)) >= 0; s += used)
		++*n;
	return s;
}

/* True for characters that end a URL within a text. */
static bool ends(char c)
{
	return !c || isspace((unsigned char)c) || strchr("\"'<>,;)", c);
}

/* Replaces the user part and the query of a URL; s points behind its "://". */
static void strike_url(char *s)
{
	char *user = s, *query = NULL, c;
	bool in_host = true;
	size_t used;

	for (; c = redact_char(s, &used), !ends(c); s += used) {
		if (c == '@' && in_host)
			strike(user, s);
		in_host = in_host && c != '/' && c != '?';
		if (c == '?' && !query)
			query = s + used;
	}
	if (query)
		strike(query, s);
}

static bool is_low(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static size_t lows(const char *s)
{
	size_t n = 0;

	while (is_low(s[n]))
		n++;
	return n;
}

/* Replaces a bootstrap token or a JSON Web Token that begins at s. */
static void strike_word(char *s)
{
	size_t id = lows(s), n;

	if (id == TOKEN_ID && s[id] == '.' && lows(s + id + 1) == TOKEN_SECRET)
		strike(s + id + 1, s + id + 1 + TOKEN_SECRET);
	n = strncmp(s, "eyJ", 3) == 0 ? strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
						  "abcdefghijklmnopqrstuvwxyz0123456789-_.")
				      : 0;
	if (n > JWT_MIN)
		strike(s, s + n);
}

void redact(char *text)
{
	static const char digest[] = "sha256:";
	char *s = text, *to, before = ' ';
	size_t used, n;

	while (*s) {
		if (!isalnum((unsigned char)before))
			strike_word(s);
		to = behind(s, "/boot/");
		if (to)
			strike(to, behind_hex(to, &n));
		to = behind(s, "://");
		if (to)
			strike_url(to);
		to = behind_hex(s, &n);
		if (n > HEX_MAX && !(s - text >= (ptrdiff_t)strlen(digest) &&
				     strncasecmp(s - strlen(digest), digest, strlen(digest)) == 0))
			strike(s, to);
		before = redact_char(s, &used);
		s = n ? to : s + used;
		if (n)
			before = 'a';
	}
}
