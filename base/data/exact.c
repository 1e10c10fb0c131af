/*
 * exact: exact_read() checks the grammar in one pass. All other functions rely on a text that
 * exact_read() has accepted; they find the end of a value by counting brackets outside of strings.
 */
#include "base/data/exact.h"

#include <string.h>

#include "base/data/json.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>

#define DEPTH 64

struct exact_reader {
	const char *text, *p, *end;
};

static void skip_space(struct exact_reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
		r->p++;
}

static bool take(struct exact_reader *r, char c)
{
	skip_space(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool read_escape(struct exact_reader *r)
{
	if (r->p == r->end)
		return false;
	if (*r->p != 'u')
		return strchr("\"\\/bfnrt", *r->p++) != NULL;
	r->p++;
	for (int i = 0; i < 4; i++, r->p++)
		if (r->p == r->end || !is_hex(*r->p))
			return false;
	return true;
}

static bool read_string(struct exact_reader *r)
{
	size_t used;

	if (!take(r, '"'))
		return false;
	while (r->p < r->end && *r->p != '"') {
		if ((unsigned char)*r->p < 0x20)
			return false;
		if (*r->p == '\\') {
			r->p++;
			if (r->p < r->end && *r->p == '\0')
				return false;
			if (!read_escape(r))
				return false;
			continue;
		}
		if (str_utf8(r->p, (size_t)(r->end - r->p), &used) < 0)
			return false;
		r->p += used;
	}
	return take(r, '"');
}

static bool read_digits(struct exact_reader *r)
{
	const char *from = r->p;

	while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
		r->p++;
	return r->p > from;
}

static bool read_number(struct exact_reader *r)
{
	if (r->p < r->end && *r->p == '-')
		r->p++;
	if (r->p < r->end && *r->p == '0')
		r->p++;
	else if (!read_digits(r))
		return false;
	if (r->p < r->end && *r->p == '.') {
		r->p++;
		if (!read_digits(r))
			return false;
	}
	if (r->p < r->end && (*r->p == 'e' || *r->p == 'E')) {
		r->p++;
		if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
			r->p++;
		return read_digits(r);
	}
	return true;
}

static bool read_word(struct exact_reader *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
		return false;
	r->p += n;
	return true;
}

static bool read_value(struct exact_reader *r, int depth);

static bool read_container(struct exact_reader *r, char close, int depth)
{
	r->p++;
	if (take(r, close))
		return true;
	do {
		if (close == '}' && (!read_string(r) || !take(r, ':')))
			return false;
		if (!read_value(r, depth + 1))
			return false;
	} while (take(r, ','));
	return take(r, close);
}

static bool read_value(struct exact_reader *r, int depth)
{
	skip_space(r);
	if (r->p == r->end || depth > DEPTH)
		return false;
	switch (*r->p) {
	case '{':
		return read_container(r, '}', depth);
	case '[':
		return read_container(r, ']', depth);
	case '"':
		return read_string(r);
	case 't':
		return read_word(r, "true");
	case 'f':
		return read_word(r, "false");
	case 'n':
		return read_word(r, "null");
	default:
		return read_number(r);
	}
}

int exact_read(const char *text, size_t len, struct exact *out, struct err *e)
{
	struct exact_reader r = {text, text, text + len};
	const char *from;

	*out = (struct exact){0};
	skip_space(&r);
	from = r.p;
	if (!read_value(&r, 1))
		return err_set(e, ERR_PROTOCOL, 0, "not JSON at byte %zu", (size_t)(r.p - text));
	*out = (struct exact){from, (size_t)(r.p - from)};
	skip_space(&r);
	if (r.p != r.end) {
		*out = (struct exact){0};
		return err_set(e, ERR_PROTOCOL, 0, "not JSON at byte %zu: something follows",
			       (size_t)(r.p - text));
	}
	return 0;
}

enum exact_kind exact_kind(struct exact v)
{
	if (!v.at)
		return EXACT_NONE;
	switch (*v.at) {
	case '{':
		return EXACT_OBJECT;
	case '[':
		return EXACT_LIST;
	case '"':
		return EXACT_STRING;
	case 't':
		return EXACT_TRUE;
	case 'f':
		return EXACT_FALSE;
	case 'n':
		return EXACT_NULL;
	default:
		return EXACT_NUMBER;
	}
}

/* --- walking a text that exact_read() has accepted -------------------------------------------- */

static const char *past_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

static const char *past_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\';
	return p < end ? p + 1 : end;
}

static const char *past_value(const char *p, const char *end)
{
	int depth = 0;

	do {
		if (*p == '"') {
			p = past_string(p, end);
		} else if (*p == '{' || *p == '[') {
			depth++;
			p++;
		} else if (*p == '}' || *p == ']') {
			depth--;
			p++;
		} else if (depth) {
			p++;
		} else {
			while (p < end && !strchr(" \t\r\n,:]}", *p))
				p++;
		}
	} while (depth && p < end);
	return p;
}

static bool step(struct exact_iter *it, bool is_object)
{
	const char *p = past_space(it->next_, it->end_), *to;

	if (p >= it->end_ || *p == '}' || *p == ']')
		return false;
	if (*p == ',')
		p = past_space(p + 1, it->end_);
	it->name = (struct exact){0};
	if (is_object) {
		to = past_string(p, it->end_);
		it->name = (struct exact){p, (size_t)(to - p)};
		p = past_space(past_space(to, it->end_) + 1, it->end_);
	}
	if (p >= it->end_)
		return false;
	to = past_value(p, it->end_);
	it->value = (struct exact){p, (size_t)(to - p)};
	it->next_ = to;
	return true;
}

bool exact_first(struct exact c, struct exact_iter *it)
{
	enum exact_kind k = exact_kind(c);

	*it = (struct exact_iter){0};
	if (k != EXACT_OBJECT && k != EXACT_LIST)
		return false;
	it->next_ = c.at + 1;
	it->end_ = c.at + c.len;
	return step(it, k == EXACT_OBJECT);
}

bool exact_next(struct exact_iter *it)
{
	return step(it, it->name.at != NULL);
}

static bool is_named(struct exact quoted, const char *name)
{
	size_t n = strlen(name);
	OWN(arena) a = NULL;

	if (!memchr(quoted.at, '\\', quoted.len))
		return quoted.len == n + 2 && memcmp(quoted.at + 1, name, n) == 0;
	a = arena_new();
	return str_eq(exact_str(quoted, a), name);
}

static struct exact member(struct exact object, const char *name, unsigned *count)
{
	struct exact found = {0};
	struct exact_iter it;

	*count = 0;
	if (exact_kind(object) != EXACT_OBJECT)
		return found;
	exact_for_each(it, object)
	{
		if (is_named(it.name, name)) {
			found = it.value;
			++*count;
		}
	}
	return found;
}

struct exact exact_member(struct exact object, const char *name)
{
	unsigned count;

	return member(object, name, &count);
}

const char *exact_str(struct exact v, struct arena *a)
{
	struct err e;
	OWN_JSON j = NULL;

	if (exact_kind(v) != EXACT_STRING)
		return NULL;
	if (!memchr(v.at, '\\', v.len))
		return arena_strndup(a, v.at + 1, v.len - 2);
	/* Returns NULL if the string contains half of a surrogate pair or a NUL, because
	 * json_parse() refuses both. */
	j = json_parse(v.at, v.len, &e);
	return j ? arena_strdup(a, json_string_value(j)) : NULL;
}

const char *exact_str_at(struct exact object, const char *name, struct arena *a)
{
	return exact_str(exact_member(object, name), a);
}

bool exact_i64(struct exact v, int64_t *out)
{
	char text[24];

	if (exact_kind(v) != EXACT_NUMBER || v.len >= sizeof(text))
		return false;
	memcpy(text, v.at, v.len);
	text[v.len] = '\0';
	return str_to_i64(text, INT64_MIN, INT64_MAX, out);
}

/* Iterates over all bytes of a text except the white space between tokens; bytes inside strings are
 * all returned. */
struct tokens {
	const char *p, *end;
	bool in_string;
};

static int next_byte(struct tokens *t)
{
	const char *p;

	if (!t->in_string)
		t->p = past_space(t->p, t->end);
	if (t->p >= t->end)
		return -1;
	p = t->p++;
	if (*p == '"')
		t->in_string = !t->in_string;
	else if (t->in_string && *p == '\\')
		return *p << 8 | (unsigned char)*t->p++;
	return (unsigned char)*p;
}

bool exact_same(struct exact a, struct exact b)
{
	struct tokens x = {a.at, a.at ? a.at + a.len : NULL, false},
		      y = {b.at, b.at ? b.at + b.len : NULL, false};
	int c;

	if (!a.at || !b.at)
		return a.at == b.at;
	do {
		c = next_byte(&x);
		if (c != next_byte(&y))
			return false;
	} while (c >= 0);
	return true;
}

const char *exact_quote(const char *s, struct arena *a)
{
	OWN_JSON j = json_string(s);
	char *text;
	const char *kept;

	if (!j)
		return "null";
	text = json_text(j);
	kept = arena_strdup(a, text);
	free(text);
	return kept;
}

static int find(struct exact object, const char *name, struct exact *found, struct err *e)
{
	unsigned count;

	if (exact_kind(object) != EXACT_OBJECT)
		return err_set(e, ERR_PROTOCOL, 0, "not a JSON object, so it has no member %s",
			       name);
	*found = member(object, name, &count);
	if (count > 1)
		return err_set(e, ERR_PROTOCOL, 0, "member %s is there %u times", name, count);
	return 0;
}

char *exact_with(struct exact object, const char *name, const char *json, struct arena *a,
		 struct err *e)
{
	struct exact found;
	struct exact_iter it;

	if (find(object, name, &found, e) < 0)
		return NULL;
	if (found.at)
		return arena_printf(a, "%.*s%s%.*s", (int)(found.at - object.at), object.at, json,
				    (int)(object.at + object.len - (found.at + found.len)),
				    found.at + found.len);
	return arena_printf(a, "%.*s%s%s:%s}", (int)object.len - 1, object.at,
			    exact_first(object, &it) ? "," : "", exact_quote(name, a), json);
}

char *exact_without(struct exact object, const char *name, struct arena *a, struct err *e)
{
	struct exact found;
	struct exact_iter it;
	const char *from, *to, *last = object.at + 1;

	if (find(object, name, &found, e) < 0)
		return NULL;
	if (!found.at)
		return arena_strndup(a, object.at, object.len);
	exact_for_each(it, object)
	{
		if (it.value.at == found.at)
			break;
		last = it.value.at + it.value.len;
	}
	/* Remove the comma before the member, or, if it is the first member, the comma after it. */
	from = last;
	to = found.at + found.len;
	if (last == object.at + 1) {
		to = past_space(to, object.at + object.len);
		to += *to == ',';
	}
	return arena_printf(a, "%.*s%.*s", (int)(from - object.at), object.at,
			    (int)(object.at + object.len - to), to);
}
