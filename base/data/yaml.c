#include "base/data/yaml.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>
#include "base/str.h"

#define YAML_DEPTH_MAX 64 /* Maximum depth of nesting, as in json_parse(). */
#define COPIED_BYTES_MAX ((size_t)4 << 20)

struct yaml_reader {
	yaml_parser_t parser;
	/* The current event; valid if `have` is set. */
	yaml_event_t event;
	bool have;
	/* Number of values read so far, and its limit. */
	size_t values, most;
	/* Number of values copied for aliases, and the total length of their text in bytes. */
	size_t copied, copied_bytes;
	/* Values by anchor name, of the current document. */
	json_t *anchors;
	/* The whole text, for finding tabs in errors. */
	const char *text;
	size_t len;
	struct err *e;
};

static int wrong(struct yaml_reader *r, const char *what)
{
	return err_set(r->e, ERR_INVALID, 0, "line %zu, column %zu: %s",
		       r->event.start_mark.line + 1, r->event.start_mark.column + 1, what);
}

/* True if line number `line` (from 0) is indented with a tab. */
static bool has_tab(const struct yaml_reader *r, size_t line)
{
	const char *p = r->text, *end = p + r->len;

	for (; line && p; line--) {
		p = memchr(p, '\n', (size_t)(end - p));
		p += p ? 1 : 0;
	}
	for (; p && p < end && (*p == ' ' || *p == '\t'); p++)
		if (*p == '\t')
			return true;
	return false;
}

static int next(struct yaml_reader *r)
{
	if (r->have)
		yaml_event_delete(&r->event);
	r->have = false;
	if (yaml_parser_parse(&r->parser, &r->event)) {
		r->have = true;
		return 0;
	}
	if (has_tab(r, r->parser.problem_mark.line))
		return err_set(r->e, ERR_INVALID, 0,
			       "line %zu: indented with a tab: YAML wants spaces",
			       r->parser.problem_mark.line + 1);
	return err_set(r->e, ERR_INVALID, 0, "line %zu, column %zu: %s%s%s",
		       r->parser.problem_mark.line + 1, r->parser.problem_mark.column + 1,
		       str_or(r->parser.problem, "not YAML"), r->parser.context ? ", " : "",
		       str_or(r->parser.context, ""));
}

static bool one_of(const char *s, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(s, *words))
			return true;
	return false;
}

/* Matches [-+]?digits, 0o17 (base 8) and 0x1f (base 16); *base is the base. */
static bool is_int(const char *s, int *base)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *d = s + (*s == '-' || *s == '+');

	*base = 10;
	if (s[0] == '0' && (s[1] == 'o' || s[1] == 'x')) {
		*base = s[1] == 'o' ? 8 : 16;
		d = s + 2;
	}
	return *d && !d[*base == 16 ? strspn(d, digits)
				    : strspn(d, *base == 8 ? "01234567" : "0123456789")];
}

/* Matches [-+]?(.5|5.|5.5|5)(e[-+]?5)?, where each 5 means one or more digits. */
static bool is_float(const char *s)
{
	size_t whole, part = 0;

	s += *s == '-' || *s == '+';
	whole = strspn(s, "0123456789");
	s += whole;
	if (*s == '.') {
		part = strspn(++s, "0123456789");
		s += part;
	}
	if (!whole && !part)
		return false;
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		if (!*s)
			return false;
		s += strspn(s, "0123456789");
	}
	return !*s;
}

/* Resolves a plain scalar by the core schema (YAML 1.2, 10.3.2). */
static json_t *plain(struct yaml_reader *r, const char *s)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
	static const char *const trues[] = {"true", "True", "TRUE", NULL};
	static const char *const falses[] = {"false", "False", "FALSE", NULL};
	static const char *const not_json[] = {
		".inf",	 ".Inf",  ".INF", "+.inf", "+.Inf", "+.INF", "-.inf",
		"-.Inf", "-.INF", ".nan", ".NaN",  ".NAN",  NULL,
	};
	int base;

	if (one_of(s, nulls))
		return json_null();
	if (one_of(s, trues))
		return json_true();
	if (one_of(s, falses))
		return json_false();
	if (is_int(s, &base)) {
		long long v;

		errno = 0;
		v = strtoll(base == 10 ? s : s + 2, NULL, base);
		if (errno) {
			(void)!wrong(r, "number out of range: put quotes around it if it is text");
			return NULL;
		}
		return json_integer(v);
	}
	if (is_float(s) || one_of(s, not_json)) {
		json_t *j = one_of(s, not_json) ? NULL : json_real(strtod(s, NULL));

		if (!j)
			(void)!wrong(r, "number that JSON does not have");
		return j;
	}
	return json_string(s);
}

/* --- anchors ---------------------------------------------------------------------------------- */

/* Counts the values and bytes that a copy of j would add. -1: the copies of the document would
 * exceed their limits, or nest too deeply. */
static int weigh(struct yaml_reader *r, const json_t *j, int depth)
{
	const char *key;
	json_t *v;
	size_t i;
	int rc = 0;

	r->copied_bytes += json_is_string(j) ? json_string_length(j) : 0;
	if (++r->copied > JSON_VALUES_MAX || r->copied_bytes > COPIED_BYTES_MAX)
		return wrong(r, "aliases stand for too many values");
	if (json_is_object(j) || json_is_array(j))
		rc = depth >= YAML_DEPTH_MAX ? wrong(r, "deeper than 64 levels") : 0;
	json_object_foreach ((json_t *)j, key, v) {
		r->copied_bytes += strlen(key);
		rc = rc < 0 ? rc : weigh(r, v, depth + 1);
	}
	json_array_foreach (j, i, v)
		rc = rc < 0 ? rc : weigh(r, v, depth + 1);
	return rc;
}

/* Returns a copy of the value of the anchor that the current alias event names. A copy, so that a
 * later change of one value does not change the other. */
static json_t *alias(struct yaml_reader *r, int depth)
{
	const char *name = (const char *)r->event.data.alias.anchor;
	const json_t *j = json_object_get(r->anchors, name);

	if (!j) {
		(void)!wrong(r, "an alias of no anchor before it");
		return NULL;
	}
	return weigh(r, j, depth) < 0 ? NULL : json_deep_copy(j);
}

/* Records j under name; takes ownership of name. name NULL: no anchor. */
static void anchor(struct yaml_reader *r, char *name, json_t *j)
{
	if (name && j)
		json_object_set(r->anchors, name, j);
	free(name);
}

/* Moves the anchor's name out of the current event, because the next event frees it. */
static char *anchor_name(struct yaml_reader *r)
{
	yaml_char_t **at =
		r->event.type == YAML_SCALAR_EVENT	     ? &r->event.data.scalar.anchor
		: r->event.type == YAML_MAPPING_START_EVENT  ? &r->event.data.mapping_start.anchor
		: r->event.type == YAML_SEQUENCE_START_EVENT ? &r->event.data.sequence_start.anchor
							     : NULL;
	char *name = at ? (char *)*at : NULL;

	if (at)
		*at = NULL;
	return name;
}

/* Adds to `into` those members of `from` that `into` lacks. */
static int merge_one(struct yaml_reader *r, json_t *into, const json_t *from)
{
	return json_is_object(from) ? json_object_update_missing(into, (json_t *)from)
				    : wrong(r, "a merge key wants a mapping, or a list of them");
}

/* Applies a merge key (<<): adds to `into` the members of `from`, a mapping, or of each mapping in
 * the list `from`. If two mappings have the same member, the earlier one wins. */
static int merge(struct yaml_reader *r, json_t *into, const json_t *from)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(from))
		return merge_one(r, into, from);
	json_array_foreach (from, i, one)
		if (merge_one(r, into, one) < 0)
			return -1;
	return 0;
}

/* --- values ----------------------------------------------------------------------------------- */

static json_t *scalar(struct yaml_reader *r)
{
	const char *s = (const char *)r->event.data.scalar.value;
	size_t len = r->event.data.scalar.length;
	json_t *j;

	if (r->event.data.scalar.tag) {
		(void)!wrong(r, "tags are not allowed");
		return NULL;
	}
	if (strlen(s) != len) {
		(void)!wrong(r, "text must not hold a NUL");
		return NULL;
	}
	if (r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		return plain(r, s);
	j = json_stringn(s, len);
	if (!j)
		(void)!wrong(r, "text is not UTF-8");
	return j;
}

static json_t *value(struct yaml_reader *r, int depth);

static int add_element(struct yaml_reader *r, json_t *list, int depth)
{
	json_t *j = value(r, depth);

	return j ? json_array_append_new(list, j) : -1;
}

static int check_key(struct yaml_reader *r, const json_t *map)
{
	const char *key = (const char *)r->event.data.scalar.value;

	if (r->event.type == YAML_ALIAS_EVENT)
		return wrong(r, "a key must not be an alias");
	if (r->event.type != YAML_SCALAR_EVENT)
		return wrong(r, "a key must be text");
	if (r->event.data.scalar.tag)
		return wrong(r, "tags are not allowed");
	if (r->event.data.scalar.anchor)
		return wrong(r, "a key must not have an anchor");
	if (strlen(key) != r->event.data.scalar.length)
		return wrong(r, "text must not hold a NUL");
	if (json_object_get(map, key))
		return err_set(r->e, ERR_INVALID, 0, "line %zu, column %zu: key %s is there twice",
			       r->event.start_mark.line + 1, r->event.start_mark.column + 1, key);
	return 0;
}

static bool is_merge_key(const struct yaml_reader *r)
{
	return r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       !strcmp((const char *)r->event.data.scalar.value, "<<");
}

static int add_merge(struct yaml_reader *r, json_t **merged, int depth)
{
	if (*merged)
		return wrong(r, "key << is there twice");
	if (next(r) < 0)
		return -1;
	*merged = value(r, depth);
	return *merged ? 0 : -1;
}

/* Adds one member to map. *merged: list of the values of merge keys (<<) so far; NULL: none. */
static int add_member(struct yaml_reader *r, json_t *map, json_t **merged, int depth)
{
	char *key;
	json_t *j;
	int rc = -1;

	if (check_key(r, map) < 0)
		return -1;
	if (is_merge_key(r))
		return add_merge(r, merged, depth);
	/* Move the key out of the event, because the next event frees it. */
	key = (char *)r->event.data.scalar.value;
	r->event.data.scalar.value = NULL;
	if (next(r) == 0) {
		j = value(r, depth);
		rc = j ? json_object_set_new(map, key, j) : -1;
		if (j && rc < 0)
			(void)!wrong(r, "text is not UTF-8");
	}
	free(key);
	return rc;
}

static json_t *sequence(struct yaml_reader *r, int depth)
{
	json_t *j = json_array();
	int rc;

	while ((rc = next(r)) == 0 && r->event.type != YAML_SEQUENCE_END_EVENT)
		if ((rc = add_element(r, j, depth + 1)) < 0)
			break;
	if (rc == 0)
		return j;
	json_decref(j);
	return NULL;
}

static json_t *mapping(struct yaml_reader *r, int depth)
{
	json_t *j = json_object(), *merged = NULL;
	int rc;

	while ((rc = next(r)) == 0 && r->event.type != YAML_MAPPING_END_EVENT)
		if ((rc = add_member(r, j, &merged, depth + 1)) < 0)
			break;
	if (rc == 0 && merged)
		rc = merge(r, j, merged);
	json_decref(merged);
	if (rc == 0)
		return j;
	json_decref(j);
	return NULL;
}

/* Checks the event that starts a sequence or a mapping. */
static int check_start(struct yaml_reader *r, int depth)
{
	const bool map = r->event.type == YAML_MAPPING_START_EVENT;

	assert(map || r->event.type == YAML_SEQUENCE_START_EVENT);
	if (map ? r->event.data.mapping_start.tag : r->event.data.sequence_start.tag)
		return wrong(r, "tags are not allowed");
	return depth >= YAML_DEPTH_MAX ? wrong(r, "deeper than 64 levels") : 0;
}

static json_t *node(struct yaml_reader *r, int depth)
{
	if (r->event.type == YAML_SCALAR_EVENT)
		return scalar(r);
	if (r->event.type == YAML_ALIAS_EVENT)
		return alias(r, depth);
	if (check_start(r, depth) < 0)
		return NULL;
	return r->event.type == YAML_MAPPING_START_EVENT ? mapping(r, depth) : sequence(r, depth);
}

/* Reads the value that begins at the current event. Afterwards the last event of the value is the
 * current one. */
static json_t *value(struct yaml_reader *r, int depth)
{
	char *name = anchor_name(r);
	json_t *j = NULL;

	if (++r->values > r->most)
		err_note(r->e, ERR_INVALID, 0, "line %zu, column %zu: more than %zu values",
			 r->event.start_mark.line + 1, r->event.start_mark.column + 1, r->most);
	else
		j = node(r, depth);
	anchor(r, name, j);
	return j;
}

/* Reads all documents of the stream into list. */
static int documents(struct yaml_reader *r, json_t *list)
{
	while (next(r) == 0) {
		json_t *j;

		if (r->event.type == YAML_STREAM_END_EVENT)
			return 0;
		if (r->event.type == YAML_STREAM_START_EVENT ||
		    r->event.type == YAML_DOCUMENT_START_EVENT ||
		    r->event.type == YAML_DOCUMENT_END_EVENT)
			continue;
		j = value(r, 0);
		json_object_clear(r->anchors);
		if (!j)
			return -1;
		json_array_append_new(list, j);
	}
	return -1;
}

static json_t *parse(const char *text, size_t len, size_t most, struct err *e)
{
	struct yaml_reader r = {.most = most, .text = text, .len = len, .e = e};
	json_t *list = json_array();
	int rc;

	if (!yaml_parser_initialize(&r.parser))
		abort(); /* yaml_parser_initialize() fails only without memory. */
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	r.anchors = json_object();
	rc = documents(&r, list);
	json_decref(r.anchors);
	if (r.have)
		yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	if (rc == 0)
		return list;
	json_decref(list);
	return NULL;
}

json_t *yaml_parse_all(const char *text, size_t len, struct err *e)
{
	return parse(text, len, SIZE_MAX, e);
}

/* Drops empty documents (null, or comments only), but leaves one document if all are empty. */
static void drop_empty(json_t *list)
{
	for (size_t i = json_array_size(list); i-- > 0;)
		if (json_array_size(list) > 1 && json_is_null(json_array_get(list, i)))
			json_array_remove(list, i);
}

json_t *yaml_parse(const char *text, size_t len, struct err *e)
{
	OWN_JSON list = parse(text, len, JSON_VALUES_MAX, e);

	if (!list)
		return NULL;
	drop_empty(list);
	if (json_array_size(list) != 1) {
		err_note(e, ERR_INVALID, 0, "want one YAML document, got %zu",
			 json_array_size(list));
		return NULL;
	}
	return json_incref(json_array_get(list, 0));
}

/* --- printing YAML ---------------------------------------------------------------------------- */

/* True if s can be printed without quotes: it begins with a letter, contains no character with a
 * meaning in YAML 1.1 or 1.2, and is no word that a parser reads as another type. */
static bool is_plain(const char *s)
{
	static const char *const words[] = {"null", "true", "false", "yes", "no",
					    "on",   "off",  "y",     "n",   NULL};
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/";
	static const char others[] = "0123456789 .,()+-";
	size_t n = strlen(s);

	if (!n || !strchr(letters, s[0]) || s[n - 1] == ' ')
		return false;
	for (size_t i = 0; words[i]; i++)
		if (!strcasecmp(s, words[i]))
			return false;
	for (size_t i = 0; i < n; i++)
		if (!strchr(letters, s[i]) && !strchr(others, s[i]))
			return false;
	return true;
}

/* True for characters that YAML 1.1 refuses or reads as a line break inside quotes: NEL and the
 * other C1 controls, DEL, the line and paragraph separators, the byte order mark, U+FFFE and
 * U+FFFF. They must be escaped here, because JSON does not escape them. */
static bool is_break(int32_t c)
{
	return (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
	       c == 0xfffe || c == 0xffff;
}

static void print_escaped(const char *text, struct buf *out)
{
	size_t left = strlen(text), used;

	for (; left; text += used, left -= used) {
		int32_t c = str_utf8(text, left, &used);

		if (is_break(c))
			buf_printf(out, "\\u%04x", (unsigned)c);
		else
			buf_put(out, text, used);
	}
}

static void print_scalar(const json_t *j, struct buf *out)
{
	char *text;

	if (json_is_string(j) && is_plain(json_string_value(j))) {
		buf_puts(out, json_string_value(j));
		return;
	}
	/* Print the value as JSON, because a JSON scalar is a valid YAML scalar; so are {} and
	 * []. */
	text = json_text(j);
	print_escaped(text, out);
	free(text);
}

static void print_key(const char *key, struct buf *out)
{
	OWN_JSON j = json_string(key);

	print_scalar(j, out);
	buf_puts(out, ":");
}

static void print_block(const json_t *j, int indent, bool first_in_line, struct buf *out);

static bool is_block(const json_t *j)
{
	return json_object_size(j) || json_array_size(j);
}

/* Prints the value behind "key:" or "-". */
static void print_rest(const json_t *j, int indent, bool in_list, struct buf *out)
{
	if (!is_block(j)) {
		buf_puts(out, " ");
		print_scalar(j, out);
		buf_puts(out, "\n");
	} else if (in_list && json_is_object(j)) {
		buf_puts(out, " ");
		print_block(j, indent + 2, true, out);
	} else {
		buf_puts(out, "\n");
		print_block(j, json_is_array(j) && !in_list ? indent : indent + 2, false, out);
	}
}

static void print_block(const json_t *j, int indent, bool first_in_line, struct buf *out)
{
	const char *key;
	json_t *v;
	size_t i;

	json_object_foreach ((json_t *)j, key, v) {
		buf_printf(out, "%*s", first_in_line ? 0 : indent, "");
		first_in_line = false;
		print_key(key, out);
		print_rest(v, indent, false, out);
	}
	json_array_foreach (j, i, v) {
		buf_printf(out, "%*s-", indent, "");
		print_rest(v, indent, true, out);
	}
}

void yaml_print(const json_t *j, struct buf *out)
{
	if (is_block(j)) {
		print_block(j, 0, false, out);
	} else {
		print_scalar(j, out);
		buf_puts(out, "\n");
	}
}
