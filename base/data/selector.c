#include "base/data/selector.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "base/str.h"

static bool has_value(const struct requirement *r, const char *value)
{
	for (size_t i = 0; i < r->nvalues; i++)
		if (strcmp(r->values[i], value) == 0)
			return true;
	return false;
}

/* True if value contains one of the requirement's texts. lower: value is converted to lower case
 * first. */
static bool contains(const struct requirement *r, const char *value, bool lower)
{
	for (size_t i = 0; i < r->nvalues; i++) {
		const size_t n = strlen(r->values[i]);

		for (const char *at = value; strlen(at) >= n; at++) {
			size_t k = 0;

			while (k < n &&
			       (lower ? tolower((unsigned char)at[k]) : at[k]) == r->values[i][k])
				k++;
			if (k == n)
				return true;
			if (!*at)
				break;
		}
	}
	return false;
}

static bool to_int(const char *s, int64_t *out)
{
	if (s[0] == '+' && s[1] != '-')
		s++;
	return str_to_i64(s, INT64_MIN, INT64_MAX, out);
}

/* Compares value with the number in the requirement: *out is < 0, 0 or > 0. False: value or the
 * requirement is not a number. */
static bool compare(const struct requirement *r, const char *value, int *out)
{
	int64_t have, want;

	if (!value || r->nvalues != 1 || !to_int(value, &have) || !to_int(r->values[0], &want))
		return false;
	*out = (have > want) - (have < want);
	return true;
}

bool requirement_matches(const struct requirement *r, const struct labels *l)
{
	const char *value = labels_get(l, r->key);
	int c;

	switch (r->op) {
	case SELECTOR_IN:
		return value && has_value(r, value);
	case SELECTOR_NOT_IN:
		return !value || !has_value(r, value);
	case SELECTOR_EXISTS:
		return value;
	case SELECTOR_DOES_NOT_EXIST:
		return !value;
	case SELECTOR_GT:
		return compare(r, value, &c) && c > 0;
	case SELECTOR_LT:
		return compare(r, value, &c) && c < 0;
	case SELECTOR_GTE:
		return compare(r, value, &c) && c >= 0;
	case SELECTOR_LTE:
		return compare(r, value, &c) && c <= 0;
	case SELECTOR_CONTAINS:
		return value && contains(r, value, false);
	case SELECTOR_CONTAINS_LOWER:
		return value && contains(r, value, true);
	}
	return false;
}

bool selector_matches(const struct selector *s, const struct labels *l)
{
	for (size_t i = 0; i < s->n; i++)
		if (!requirement_matches(&s->v[i], l))
			return false;
	return true;
}

static const char *const op_names[] = {
	[SELECTOR_IN] = "In",
	[SELECTOR_NOT_IN] = "NotIn",
	[SELECTOR_EXISTS] = "Exists",
	[SELECTOR_DOES_NOT_EXIST] = "DoesNotExist",
	[SELECTOR_GT] = "Gt",
	[SELECTOR_LT] = "Lt",
	[SELECTOR_GTE] = "Gte",
	[SELECTOR_LTE] = "Lte",
	[SELECTOR_CONTAINS] = "contains",
	[SELECTOR_CONTAINS_LOWER] = "contains in lower case",
};

bool selector_op_parse(const char *s, enum selector_op *op)
{
	for (unsigned i = 0; i <= SELECTOR_LTE; i++) {
		if (str_eq(s, op_names[i])) {
			*op = (enum selector_op)i;
			return true;
		}
	}
	return false;
}

const char *selector_op_name(enum selector_op op)
{
	return op_names[op];
}

/*
 * Parses the text form by recursive descent over a pointer. A word ends at the next blank or
 * special character; "in" and "notin" are operators only after a key.
 */
struct parser {
	const char *at;
	struct arena *a;
};

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t\r\n");
}

static bool take(struct parser *p, const char *token)
{
	size_t n = strlen(token);

	skip_blanks(p);
	if (strncmp(p->at, token, n) != 0)
		return false;
	p->at += n;
	return true;
}

static size_t word_length(const char *s)
{
	return strcspn(s, " \t\r\n=!(),<>");
}

static bool take_keyword(struct parser *p, const char *word)
{
	skip_blanks(p);
	if (word_length(p->at) != strlen(word))
		return false;
	return take(p, word);
}

/* Reads a word, which may be empty, because "a=" selects the empty value. */
static const char *take_word(struct parser *p)
{
	const char *from;
	size_t n;

	skip_blanks(p);
	from = p->at;
	n = word_length(from);
	p->at += n;
	return arena_strndup(p->a, from, n);
}

static bool at_end(struct parser *p)
{
	skip_blanks(p);
	return *p->at == '\0' || *p->at == ',';
}

static int expected(const struct parser *p, const char *what, struct err *e)
{
	if (*p->at)
		return err_set(e, ERR_INVALID, 0, "selector: want %s at \"%.32s\"", what, p->at);
	return err_set(e, ERR_INVALID, 0, "selector: want %s at its end", what);
}

static int take_value(struct parser *p, const char **out, struct err *e)
{
	const char *value = take_word(p);

	if (!str_is_label_value(value))
		return err_set(e, ERR_INVALID, 0, "selector: \"%.80s\" is no label value", value);
	*out = value;
	return 0;
}

/* Reads a list of values like "(a,b)"; "()" is a list of one empty value, as in Kubernetes. */
static int take_values(struct parser *p, struct requirement *r, struct err *e)
{
	size_t n = 1;

	if (!take(p, "("))
		return expected(p, "\"(\"", e);
	for (const char *s = p->at; *s && *s != ')'; s++)
		n += *s == ',';
	r->values = arena_calloc(p->a, n, sizeof(r->values[0]));
	do {
		if (take_value(p, &r->values[r->nvalues], e) < 0)
			return -1;
		r->nvalues++;
	} while (take(p, ","));
	if (!take(p, ")"))
		return expected(p, "\",\" or \")\"", e);
	return 0;
}

static int take_single(struct parser *p, struct requirement *r, enum selector_op op, struct err *e)
{
	int64_t n;

	r->op = op;
	r->values = arena_calloc(p->a, 1, sizeof(r->values[0]));
	r->nvalues = 1;
	if (take_value(p, &r->values[0], e) < 0)
		return -1;
	if ((op == SELECTOR_GT || op == SELECTOR_LT) && !to_int(r->values[0], &n))
		return err_set(e, ERR_INVALID, 0, "selector: %s: \"%.80s\" is no integer", r->key,
			       r->values[0]);
	return 0;
}

static int take_operator(struct parser *p, struct requirement *r, struct err *e)
{
	if (at_end(p)) {
		r->op = SELECTOR_EXISTS;
		return 0;
	}
	if (take(p, "==") || take(p, "="))
		return take_single(p, r, SELECTOR_IN, e);
	if (take(p, "!="))
		return take_single(p, r, SELECTOR_NOT_IN, e);
	if (take(p, ">"))
		return take_single(p, r, SELECTOR_GT, e);
	if (take(p, "<"))
		return take_single(p, r, SELECTOR_LT, e);
	if (take_keyword(p, "in"))
		r->op = SELECTOR_IN;
	else if (take_keyword(p, "notin"))
		r->op = SELECTOR_NOT_IN;
	else
		return expected(p, "an operator", e);
	return take_values(p, r, e);
}

static int take_requirement(struct parser *p, struct requirement *r, struct err *e)
{
	bool absent = take(p, "!");

	*r = (struct requirement){.key = take_word(p)};
	if (!str_is_qualified_name(r->key))
		return err_set(e, ERR_INVALID, 0, "selector: \"%.80s\" is no label key", r->key);
	if (absent)
		r->op = SELECTOR_DOES_NOT_EXIST;
	else if (take_operator(p, r, e) < 0)
		return -1;
	if (!at_end(p))
		return expected(p, "\",\"", e);
	return 0;
}

int selector_parse(const char *text, struct arena *a, struct selector *out, struct err *e)
{
	struct parser p = {.at = text, .a = a};
	struct selector s = {0};
	size_t room = 1;

	for (const char *c = text; *c; c++)
		room += *c == ',';
	skip_blanks(&p);
	if (*p.at) {
		s.v = arena_calloc(a, room, sizeof(s.v[0]));
		do {
			if (take_requirement(&p, &s.v[s.n], e) < 0)
				return -1;
			s.n++;
		} while (take(&p, ","));
	}
	*out = s;
	return 0;
}
