#include "controller/tenant/device_cel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/quantity.h"
#include "base/str.h"

#define DEPTH_MAX 16
#define TERMS_MAX 32 /* maximum number of requirements from one expression */
#define VALUES_MAX 64
#define MEBI ((__int128)1 << 20)
#define WORD_SHOWN 40

/* Result of parsing an expression. no: the expression is never true. Otherwise all n requirements
 * in v must be satisfied; n 0: the expression is always true. */
struct result {
	bool no;
	size_t n;
	struct requirement v[TERMS_MAX];
};

struct cel {
	/* rest of the expression, not parsed yet */
	const char *p;
	enum device_kind kind;
	unsigned depth;
	bool pinned;
	/* first unsupported part; NULL: none so far */
	const char *why;
	struct arena *a;
};

enum op { OP_EQUAL, OP_UNEQUAL, OP_IN, OP_LESS, OP_AT_MOST, OP_MORE, OP_AT_LEAST, OP_NONE };

const char *device_label_product(const char *product, struct arena *a)
{
	char *s = arena_strdup(a, product);

	for (char *c = s; *c; c++)
		if (*c == ' ')
			*c = '-';
	return s;
}

const char *device_label_family(const char *architecture, struct arena *a)
{
	char *s = arena_strdup(a, architecture);

	for (char *c = s; *c; c++)
		*c = *c == ' ' ? '-' : (char)tolower((unsigned char)*c);
	return s;
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* Records `what` as the unsupported part, unless one is recorded already. Returns false. */
static bool give_up(struct cel *c, const char *what)
{
	char *text = arena_printf(c->a, "%.*s", WORD_SHOWN, what);

	str_clean(text);
	if (!c->why)
		c->why = text;
	return false;
}

static void skip(struct cel *c)
{
	c->p += strspn(c->p, " \t\r\n");
}

static bool take(struct cel *c, const char *text)
{
	skip(c);
	if (!str_starts(c->p, text))
		return false;
	c->p += strlen(text);
	return true;
}

static bool need(struct cel *c, const char *text)
{
	return take(c, text) || give_up(c, *c->p ? c->p : "the end of the expression");
}

static const char *word(struct cel *c)
{
	const char *from;

	skip(c);
	from = c->p;
	while (isalnum((unsigned char)*c->p) || *c->p == '_')
		c->p++;
	return arena_strndup(c->a, from, (size_t)(c->p - from));
}

/* Parses a string literal without escapes. Returns NULL, with the reason recorded, if the next
 * token is not such a literal. */
static const char *text_of(struct cel *c)
{
	const char *from, *to;

	skip(c);
	if (*c->p != '\'' && *c->p != '"') {
		give_up(c, *c->p ? c->p : "the end of the expression");
		return NULL;
	}
	from = c->p + 1;
	to = strchr(from, *c->p);
	if (!to || memchr(from, '\\', (size_t)(to - from))) {
		give_up(c, "a string with an escape");
		return NULL;
	}
	c->p = to + 1;
	return arena_strndup(c->a, from, (size_t)(to - from));
}

static enum op op_of(struct cel *c)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = {{"==", OP_EQUAL},	{"!=", OP_UNEQUAL}, {"<=", OP_AT_MOST},
		   {">=", OP_AT_LEAST}, {"<", OP_LESS},	    {">", OP_MORE}};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (take(c, ops[i].text))
			return ops[i].op;
	skip(c);
	if (str_starts(c->p, "in") && !isalnum((unsigned char)c->p[2]) && c->p[2] != '_') {
		c->p += 2;
		return OP_IN;
	}
	return OP_NONE;
}

/* --- comparisons ------------------------------------------------------------------------------ */

struct values {
	const char *v[VALUES_MAX];
	size_t n;
};

static bool values_of(struct cel *c, enum op op, struct values *out)
{
	out->n = 0;
	if (op == OP_EQUAL || op == OP_UNEQUAL) {
		out->v[out->n++] = text_of(c);
		return out->v[0];
	}
	if (op != OP_IN)
		return give_up(c, "an ordering comparison of strings");
	if (!need(c, "["))
		return false;
	do {
		if (out->n == VALUES_MAX)
			return give_up(c, "a list of too many values");
		out->v[out->n] = text_of(c);
		if (!out->v[out->n++])
			return false;
	} while (take(c, ","));
	return need(c, "]");
}

/* Returns the one word that a pattern of matches() looks for, as in "H100", ".*H100" or
 * "^.*H100.*$". NULL: a pattern of another form. */
static const char *word_of_pattern(const char *pattern, struct arena *a)
{
	size_t n = strlen(pattern);

	if (str_starts(pattern, "^.*"))
		pattern += 3;
	else if (str_starts(pattern, ".*"))
		pattern += 2;
	n = strlen(pattern);
	if (str_ends(pattern, ".*$"))
		n -= 3;
	else if (str_ends(pattern, ".*"))
		n -= 2;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)pattern[i]) && !strchr(" -_", pattern[i]))
			return NULL;
	return n ? arena_strndup(a, pattern, n) : NULL;
}

static bool has_upper(const char *s)
{
	while (*s && !isupper((unsigned char)*s))
		s++;
	return *s;
}

/* Parses a comparison of an attribute whose value (`has`) is the same for all devices of
 * c->kind. */
static bool compare_fixed(struct cel *c, const char *has, struct result *r)
{
	const enum op op = op_of(c);
	struct values want;
	bool found = false;

	if (!values_of(c, op, &want))
		return false;
	for (size_t i = 0; i < want.n; i++)
		found |= str_eq(want.v[i], has);
	r->no = op == OP_UNEQUAL ? found : !found;
	return true;
}

static bool compare_label(struct cel *c, const char *key,
			  const char *(*value)(const char *, struct arena *), struct result *r)
{
	const enum op op = op_of(c);
	struct requirement *q = &r->v[r->n];
	struct values want;

	if (!values_of(c, op, &want))
		return false;
	*q = (struct requirement){.key = key,
				  .op = op == OP_UNEQUAL ? SELECTOR_NOT_IN : SELECTOR_IN,
				  .values = arena_calloc(c->a, want.n, sizeof(*q->values)),
				  .nvalues = want.n};
	for (size_t i = 0; i < want.n; i++)
		q->values[i] = value(want.v[i], c->a);
	r->n++;
	return true;
}

/* Parses a method call on a text attribute that has a Node label (key): matches() or contains(), or
 * one of them after lowerAscii(). Adds the requirement to *r. */
static bool call_label(struct cel *c, const char *name, const char *key,
		       const char *(*value)(const char *, struct arena *), struct result *r)
{
	struct requirement *q = &r->v[r->n];
	const char *method = word(c), *text;
	const bool lower = str_eq(method, "lowerAscii");

	if (lower) {
		if (!need(c, "(") || !need(c, ")"))
			return false;
		if (!take(c, "."))
			return give_up(c, arena_printf(c->a, "%s.lowerAscii()", name));
		method = word(c);
	}
	if (!str_eq(method, "matches") && !str_eq(method, "contains"))
		return give_up(c, arena_printf(c->a, "%s.%s()", name, method));
	text = need(c, "(") ? text_of(c) : NULL;
	if (!text || !need(c, ")"))
		return false;
	if (str_eq(method, "matches") && !word_of_pattern(text, c->a))
		return give_up(c, arena_printf(c->a, "matches('%s')", text));
	if (str_eq(method, "matches"))
		text = word_of_pattern(text, c->a);
	r->no = lower && has_upper(text);
	*q = (struct requirement){.key = key,
				  .op = lower || value == device_label_family
						? SELECTOR_CONTAINS_LOWER
						: SELECTOR_CONTAINS,
				  .values = arena_calloc(c->a, 1, sizeof(*q->values))};
	q->values[q->nvalues++] = value(text, c->a);
	r->n++;
	return true;
}

/* Adds a requirement on the memory label to *r. The label has whole MiB, so a limit between two MiB
 * is rounded: "more than 80Gi" becomes "more than 81920". */
static bool require_memory(struct cel *c, enum op op, struct quantity limit, struct result *r)
{
	const __int128 unit = MEBI * 1000000000, whole = limit.nano / unit;
	const bool even = limit.nano % unit == 0, more = op == OP_MORE || op == OP_AT_LEAST;
	struct requirement *q = &r->v[r->n];
	int64_t bound;

	if (limit.nano < 0 || whole > INT32_MAX)
		return give_up(c, "an amount of memory out of range");
	if (!more && op != OP_LESS && op != OP_AT_MOST)
		return give_up(c, "an exact amount of memory");
	bound = (int64_t)whole;
	if (more)
		bound -= op == OP_AT_LEAST && even;
	else
		bound += op == OP_AT_MOST || !even;
	*q = (struct requirement){.key = DEVICE_LABEL_MEMORY,
				  .op = more ? SELECTOR_GT : SELECTOR_LT,
				  .values = arena_calloc(c->a, 1, sizeof(*q->values))};
	q->values[q->nvalues++] = arena_printf(c->a, "%lld", (long long)bound);
	r->n++;
	return true;
}

static bool compare_memory(struct cel *c, struct result *r)
{
	const char *method, *amount;
	struct quantity limit;
	enum op op = OP_NONE;
	struct err e;

	if (!need(c, "."))
		return false;
	method = word(c);
	op = str_eq(method, "isGreaterThan") ? OP_MORE
	     : str_eq(method, "isLessThan")  ? OP_LESS
					     : OP_NONE;
	if (op == OP_NONE && !str_eq(method, "compareTo"))
		return give_up(c, arena_printf(c->a, "memory.%s()", method));
	if (!need(c, "(") || !need(c, "quantity") || !need(c, "(") || !(amount = text_of(c)) ||
	    !need(c, ")") || !need(c, ")"))
		return false;
	if (quantity_parse(amount, &limit, &e) < 0)
		return give_up(c, arena_printf(c->a, "quantity %s", amount));
	if (op == OP_NONE) {
		op = op_of(c);
		if (!need(c, "0"))
			return false;
	}
	return require_memory(c, op, limit, r);
}

/* --- devices ---------------------------------------------------------------------------------- */

static const char *driver_of(const struct cel *c)
{
	return c->kind == DEVICE_GPU ? DEVICE_GPU_DRIVER : DEVICE_CHANNEL_DRIVER;
}

/* Parses the part ["DOMAIN"]. that follows device.attributes or device.capacity. Returns the
 * domain; NULL: some other text follows. */
static const char *domain_of(struct cel *c)
{
	const char *domain = need(c, "[") ? text_of(c) : NULL;

	return domain && need(c, "]") && need(c, ".") ? domain : NULL;
}

/* Parses and ignores a comparison of an attribute in the domain of another driver. No device of
 * c->kind has such an attribute, so r->no is set: the comparison is never true. */
static bool of_another_driver(struct cel *c, struct result *r)
{
	struct values ignored;
	const enum op op = op_of(c);

	r->no = true;
	if (op == OP_EQUAL || op == OP_UNEQUAL) {
		skip(c);
		if (isdigit((unsigned char)*c->p)) {
			(void)word(c);
			return true;
		}
	}
	return values_of(c, op, &ignored);
}

static bool attribute(struct cel *c, struct result *r)
{
	const char *domain = domain_of(c), *name = domain ? word(c) : NULL;

	if (!name)
		return false;
	if (take(c, ".")) {
		if (c->kind != DEVICE_GPU || !str_eq(domain, DEVICE_GPU_DRIVER))
			return give_up(c, arena_printf(c->a, "%s.%s()", name, word(c)));
		c->pinned = true;
		if (str_eq(name, "productName"))
			return call_label(c, name, DEVICE_LABEL_PRODUCT, device_label_product, r);
		if (str_eq(name, "architecture"))
			return call_label(c, name, DEVICE_LABEL_FAMILY, device_label_family, r);
		return give_up(c, arena_printf(c->a, "%s.%s()", name, word(c)));
	}
	if (!str_eq(domain, driver_of(c)))
		return of_another_driver(c, r);
	c->pinned = true;
	if (str_eq(name, "type"))
		return compare_fixed(c, c->kind == DEVICE_GPU ? "gpu" : "channel", r);
	if (c->kind == DEVICE_CHANNEL && str_eq(name, "id"))
		return op_of(c) == OP_EQUAL && need(c, "0");
	if (c->kind == DEVICE_GPU && str_eq(name, "productName"))
		return compare_label(c, DEVICE_LABEL_PRODUCT, device_label_product, r);
	if (c->kind == DEVICE_GPU && str_eq(name, "architecture"))
		return compare_label(c, DEVICE_LABEL_FAMILY, device_label_family, r);
	return give_up(c, arena_printf(c->a, "attribute %s", name));
}

static bool capacity(struct cel *c, struct result *r)
{
	const char *domain = domain_of(c), *name = domain ? word(c) : NULL;

	if (!name)
		return false;
	if (!str_eq(domain, DEVICE_GPU_DRIVER) || c->kind != DEVICE_GPU || !str_eq(name, "memory"))
		return give_up(c, arena_printf(c->a, "capacity %s", name));
	c->pinned = true;
	return compare_memory(c, r);
}

static bool device(struct cel *c, struct result *r)
{
	const char *field = need(c, ".") ? word(c) : NULL;

	if (!field)
		return false;
	if (str_eq(field, "driver")) {
		if (take(c, "."))
			return give_up(c, arena_printf(c->a, "driver.%s()", word(c)));
		c->pinned = true;
		return compare_fixed(c, driver_of(c), r);
	}
	if (str_eq(field, "attributes"))
		return attribute(c, r);
	return str_eq(field, "capacity") ? capacity(c, r)
					 : give_up(c, arena_printf(c->a, "device.%s", field));
}

static bool either(struct cel *c, struct result *r);

static bool atom(struct cel *c, struct result *r)
{
	const char *domain;
	bool good;

	skip(c);
	if (take(c, "(")) {
		if (++c->depth > DEPTH_MAX)
			return give_up(c, "parentheses nested too deeply");
		good = either(c, r) && need(c, ")");
		c->depth--;
		return good;
	}
	if (*c->p == '\'' || *c->p == '"') {
		domain = text_of(c);
		if (!domain || op_of(c) != OP_IN || !need(c, "device.attributes"))
			return give_up(c, "a string on the left of a comparison");
		r->no = !str_eq(domain, driver_of(c));
		c->pinned |= !r->no;
		return true;
	}
	return str_eq(word(c), "device") ? device(c, r)
					 : give_up(c, *c->p ? c->p : "the end of the expression");
}

static bool both(struct cel *c, struct result *r)
{
	struct result *next;

	if (!atom(c, r))
		return false;
	while (take(c, "&&")) {
		next = arena_new_obj(c->a, struct result);
		if (!atom(c, next))
			return false;
		if (r->n + next->n >= TERMS_MAX)
			return give_up(c, "too many comparisons");
		r->no |= next->no;
		for (size_t i = 0; i < next->n; i++)
			r->v[r->n++] = next->v[i];
	}
	return true;
}

/* True if a requirement with this operator accepts a list of values, one of which must match. */
static bool of_any_value(enum selector_op op)
{
	return op == SELECTOR_IN || op == SELECTOR_CONTAINS || op == SELECTOR_CONTAINS_LOWER;
}

/* Merges the alternative `next` (after ||) into r. If one alternative is always true, so is the
 * result; an alternative that is never true is dropped. Otherwise each alternative must be one
 * requirement, both on the same label with the same operator, and their values are joined; anything
 * else is unsupported. */
static bool join(struct cel *c, struct result *r, const struct result *next)
{
	struct requirement *q = &r->v[0];
	const struct requirement *more = &next->v[0];
	const char **values;

	if (next->no || (!r->no && !r->n))
		return true;
	if (r->no || !next->n) {
		*r = *next;
		return true;
	}
	if (r->n != 1 || next->n != 1 || q->op != more->op || !of_any_value(q->op) ||
	    !str_eq(q->key, more->key))
		return give_up(c, "|| between different attributes");
	values = arena_calloc(c->a, q->nvalues + more->nvalues, sizeof(*values));
	for (size_t i = 0; i < q->nvalues; i++)
		values[i] = q->values[i];
	for (size_t i = 0; i < more->nvalues; i++)
		values[q->nvalues + i] = more->values[i];
	q->values = values;
	q->nvalues += more->nvalues;
	return true;
}

static bool either(struct cel *c, struct result *r)
{
	struct result *next;

	if (!both(c, r))
		return false;
	while (take(c, "||")) {
		next = arena_new_obj(c->a, struct result);
		if (!both(c, next) || !join(c, r, next))
			return false;
	}
	return true;
}

const char *device_cel(const char *expression, enum device_kind kind, struct device_wish *w,
		       struct arena *a)
{
	struct cel c = {.p = expression, .kind = kind, .a = a};
	struct result *r = arena_new_obj(a, struct result);
	struct requirement *v;

	if (strlen(expression) > DEVICE_CEL_BYTES)
		return "an expression that is too long";
	if (!either(&c, r))
		return str_or(c.why, "a comparison");
	skip(&c);
	if (*c.p) {
		(void)give_up(&c, c.p);
		return c.why;
	}
	v = arena_calloc(a, w->node.n + r->n + 1, sizeof(*v));
	for (size_t i = 0; i < w->node.n; i++)
		v[i] = w->node.v[i];
	for (size_t i = 0; i < r->n; i++)
		v[w->node.n++] = r->v[i];
	w->node.v = v;
	w->never |= r->no;
	w->pinned |= c.pinned;
	return NULL;
}
