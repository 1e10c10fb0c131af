#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/mem.h"
#include "kube/apiserver/server.h"

/*
 * Matches patterns of schemas, which are RE2, with the C library, which has POSIX expressions with
 * GNU's extensions. A pattern is translated: \d and (?: are rewritten. A pattern that cannot be
 * translated accepts every string, and checking is left to the kind's controller. The same applies
 * to a pattern that would cost too much: glibc expands {m,n} and +, also nested, and a definition
 * may be hostile.
 * Tests: tests/unit/kube/apiserver/test_schema.c
 */
#define MAX_LENGTH 4096
#define MAX_GROUPS 50	   /* Deepest nesting of groups. */
#define MAX_POSITIONS 5000 /* Most positions (characters and brackets) of the expanded pattern. */
#define KEPT 128	   /* Most compiled patterns cached per schema. */
#define KEPT_POSITIONS 300 /* Most positions of a pattern that is cached. */

struct pattern {
	const char *at;
	/* The translation; at most three times as long as the pattern. */
	char *out;
	size_t n;
	unsigned depth;
	bool unknown;
};

static void emit(struct pattern *p, const char *text)
{
	size_t len = strlen(text);

	memcpy(p->out + p->n, text, len + 1);
	p->n += len;
}

static void copy(struct pattern *p)
{
	const char one[] = {*p->at++, '\0'};

	emit(p, one);
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void escape(struct pattern *p)
{
	char c = p->at[1];

	if (c == 'd' || c == 'D') {
		emit(p, c == 'd' ? "[0-9]" : "[^0-9]");
		p->at += 2;
		return;
	}
	/* Accept escapes with the same meaning, and escaped characters that stand for
	 * themselves. */
	p->unknown = p->unknown || !c || (is_word(c) && !strchr("wWsSbB", c));
	copy(p);
	if (c)
		copy(p);
}

/* Copies a bracket expression. In it POSIX treats a backslash as a plain character, so a pattern
 * with an escape there is not translated. */
static void bracket(struct pattern *p)
{
	copy(p);
	if (*p->at == '^')
		copy(p);
	if (*p->at == ']')
		copy(p);
	while (*p->at && *p->at != ']') {
		if (p->at[0] == '[' && p->at[1] == ':') {
			const char *end = strstr(p->at, ":]");

			while (end && p->at < end + 1)
				copy(p);
		}
		if (p->at[0] == '\\')
			p->unknown = p->unknown || is_word(p->at[1]) || p->at[1] == ']' ||
				     p->at[1] == '\\';
		copy(p);
	}
	if (*p->at)
		copy(p);
	else
		p->unknown = true;
}

static size_t positions(struct pattern *p);

static size_t group(struct pattern *p)
{
	size_t n;

	p->at++;
	emit(p, "(");
	if (p->at[0] == '?' && p->at[1] == ':')
		p->at += 2;
	if (*p->at == '?' || p->depth == MAX_GROUPS) {
		p->unknown = true;
		return 1;
	}
	p->depth++;
	n = positions(p);
	p->depth--;
	if (*p->at)
		copy(p);
	else
		p->unknown = true;
	return n;
}

static size_t number(struct pattern *p)
{
	size_t n = 0;

	for (; *p->at >= '0' && *p->at <= '9'; copy(p))
		n = n > RE_DUP_MAX ? n : n * 10 + (size_t)(*p->at - '0');
	return n;
}

/* Parses {m}, {m,} or {m,n}; returns the larger number, at least one. */
static size_t bounds(struct pattern *p)
{
	size_t least = number(p) + 1, most = 0;

	if (*p->at == ',') {
		copy(p);
		most = number(p) + 1;
	}
	if (*p->at == '}')
		copy(p);
	else
		p->unknown = true;
	return least > most ? least : most;
}

/* Returns how many times glibc expands the preceding piece because of its repetition operators. */
static size_t repeats(struct pattern *p)
{
	size_t times = 1;

	while (!p->unknown && *p->at && strchr("*+?{", *p->at)) {
		char c = *p->at;

		copy(p);
		if (c == '+')
			times *= 2;
		else if (c == '{')
			times *= bounds(p);
		p->unknown = p->unknown || times > MAX_POSITIONS;
	}
	return times;
}

/* Translates the pattern up to its end, or to the parenthesis that closes the group; returns the
 * number of positions after expansion. */
static size_t positions(struct pattern *p)
{
	size_t total = 0;

	while (!p->unknown && *p->at && !(*p->at == ')' && p->depth)) {
		size_t piece = 1;

		if (*p->at == '\\')
			escape(p);
		else if (*p->at == '[')
			bracket(p);
		else if (*p->at == '(')
			piece = group(p);
		else
			copy(p);
		total += piece * repeats(p);
		p->unknown = p->unknown || total > MAX_POSITIONS;
	}
	return total;
}

/* --- cache of compiled patterns --------------------------------------------------------------- */

struct patterns {
	/* Text of the pattern -> struct compiled. */
	struct map *all;
};

struct compiled {
	/* False: the pattern was not translated, and refuses nothing. */
	bool usable;
	regex_t re;
	size_t positions;
};

static void compiled_free(void *p)
{
	struct compiled *c = p;

	if (c->usable)
		regfree(&c->re);
	free(c);
}

struct patterns *patterns_new(void)
{
	struct patterns *p = mem_new(struct patterns);

	p->all = map_new(compiled_free);
	return p;
}

void patterns_free(struct patterns *known)
{
	if (!known)
		return;
	map_free(known->all);
	free(known);
}

static struct compiled *compile(const char *pattern, struct arena *a)
{
	struct compiled *c = mem_new(struct compiled);
	struct pattern p = {.at = pattern};

	p.out = arena_alloc(a, 3 * strlen(pattern) + 1);
	*p.out = '\0';
	c->positions = positions(&p);
	c->usable = !p.unknown && regcomp(&c->re, p.out, REG_EXTENDED | REG_NOSUB) == 0;
	if (p.unknown)
		c->positions = 0;
	return c;
}

bool pattern_holds(struct patterns *known, const char *pattern, const char *s, struct arena *a,
		   size_t *work)
{
	struct compiled *c = known ? map_get(known->all, pattern) : NULL;
	bool holds, kept = c != NULL;

	if (strlen(pattern) > MAX_LENGTH)
		return true;
	if (!c)
		c = compile(pattern, a);
	/* Compiling one position costs about twenty steps. */
	*work += strlen(pattern) + 20 * c->positions + strlen(s) * c->positions / 100;
	holds = !c->usable || regexec(&c->re, s, 0, NULL, 0) == 0;
	if (!kept && known && c->positions <= KEPT_POSITIONS && map_size(known->all) < KEPT)
		map_put(known->all, pattern, c);
	else if (!kept)
		compiled_free(c);
	return holds;
}
