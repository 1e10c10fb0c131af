#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/mem.h"
#include "kube/apiserver/server.h"

/*
 * Matches strings against patterns of schemas. Patterns are in RE2 syntax, but the C library
 * matches POSIX expressions with GNU extensions. So each pattern is translated: \d and (?: are
 * rewritten. A pattern that cannot be translated accepts every string, and the kind's controller
 * has to check. The same applies to a pattern that would cost too much, because the author of a
 * CustomResourceDefinition may be hostile and glibc expands {m,n} and +, also nested.
 * Tests: tests/unit/kube/apiserver/test_schema.c
 */
#define MAX_LENGTH 4096
#define MAX_GROUPS 50 /* Maximum depth of nested groups. */
/* Maximum number of positions (characters and bracket expressions) after expansion. */
#define MAX_POSITIONS 5000
#define KEPT 128	   /* Maximum number of compiled patterns cached per schema. */
#define KEPT_POSITIONS 300 /* Maximum number of positions of a pattern that is cached. */

struct pattern {
	const char *at;
	/* Buffer for the translated pattern; at most three times as long as the pattern. */
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
	/* Escapes that mean the same in both syntaxes, and escaped punctuation, are copied. Any
	 * other escape makes the pattern untranslatable. */
	p->unknown = p->unknown || !c || (is_word(c) && !strchr("wWsSbB", c));
	copy(p);
	if (c)
		copy(p);
}

/* Copies a bracket expression like [a-z]. Inside brackets POSIX treats a backslash as a plain
 * character, so a pattern with an escape there counts as untranslatable. */
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

/* Parses {m}, {m,} or {m,n}; returns one more than the larger number, as an upper bound for the
 * copies that glibc makes. */
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

/* Copies the repetition operators behind a piece of the pattern; returns how often glibc expands
 * that piece because of them. */
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

/* Translates the pattern up to its end, or up to the parenthesis that closes the current group;
 * returns the number of positions after expansion. */
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
	/* Maps the text of a pattern to struct compiled. */
	struct map *all;
};

struct compiled {
	/* False: the pattern was not translated and accepts every string. */
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
	/* Add the compilation, about twenty steps for each position, and the match. */
	*work += strlen(pattern) + 20 * c->positions + strlen(s) * c->positions / 100;
	holds = !c->usable || regexec(&c->re, s, 0, NULL, 0) == 0;
	if (!kept && known && c->positions <= KEPT_POSITIONS && map_size(known->all) < KEPT)
		map_put(known->all, pattern, c);
	else if (!kept)
		compiled_free(c);
	return holds;
}
