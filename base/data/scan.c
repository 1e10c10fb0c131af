#include "base/data/scan.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/data/scan_build.h"
#include "base/data/scan_names.h"
#include "base/data/scan_token.h"
#include "base/mem.h"

/*
 * The parser is one state machine over the bytes, with a stack of the open objects and arrays:
 *
 *   VALUE --scalar----------------------------------------> AFTER --,--> NAME or VALUE
 *     |    { --> NAME_OR_END --"name"--> COLON --:--> VALUE    |
 *     '--- [ --> VALUE_OR_END --value--> ...                   '--} or ]--> AFTER, at last DONE
 *
 * Only the state and the part of a token that is split between chunks (`token`, `cut`) are carried
 * from one chunk to the next. A token that is complete in a chunk is read in place.
 *
 * Each name, scalar and bracket is reported to scan_build.h, which decides how the value is handled
 * and builds the wanted values.
 *
 * A caller may recognise a line by its digest, which covers everything that would be built from the
 * line. Therefore a line that is complete in one chunk is first read without building anything (a
 * dry run), and read a second time only if the caller does not know its digest.
 */
#define DEPTH_MAX 64 /* Maximum depth of nesting, as in json_parse(). */
#define SEQUENCE_MAX 12
#define WORD_MAX 5
/* Maximum number of bytes of the token buffer that stay allocated between lines. */
#define KEPT 512

enum state {
	VALUE,
	VALUE_OR_END,
	NAME,
	NAME_OR_END,
	COLON,
	AFTER,
	STRING,
	NUMBER,
	WORD,
	DONE,
};

struct scan {
	struct scan_spec spec;

	enum state state;
	/* Number given to the most recently opened object; see struct scan_object. */
	uint64_t number;
	/* Handling and result of the values, and the stack of the open objects and arrays. */
	struct scan_build build;
	/* Decoded part so far of the current string, number or literal (true, false, null). */
	struct buf token;
	/* True: the current string is a member's name. */
	bool is_name;
	char cut[SEQUENCE_MAX];
	/* Number of bytes in cut: the first part of a UTF-8 sequence or escape that was split by
	 * the end of a chunk. */
	size_t ncut;

	/* Names seen so far, for detecting duplicates: [0] in the document, [1] in the current
	 * element. */
	struct scan_names names[2];
	/* Digest and notes of the current line, from its dry run. */
	struct scan_line line;

	/* Number of elements or lines passed to a callback. */
	size_t given;
	/* First byte of this chunk that no byte counter below includes yet. */
	const char *from;
	/* Byte counters for positions in errors. head: bytes of the document or line; part: bytes
	 * of the current element; none: bytes between elements. */
	size_t head, part, none;
	/* The counter (head, part or none) to which the current bytes are added. */
	size_t *count;
	struct err failed;
};

const struct scan_want scan_all[] = {SCAN_REST};

/* --- errors and bounds ------------------------------------------------------------------------ */

static int wrong(const struct scan *s, const char *at, const char *what, struct err *e)
{
	size_t byte = *s->count + (size_t)(at - s->from);

	if (s->spec.lines || s->build.in_element)
		return err_set(e, ERR_PROTOCOL, 0, "item %zu, byte %zu: %s", s->given, byte, what);
	return err_set(e, ERR_PROTOCOL, 0, "byte %zu: %s", byte, what);
}

/* Adds the bytes up to `at` to the current counter, and makes *to the current counter from there
 * on. */
static void count_to(struct scan *s, const char *at, size_t *to)
{
	*s->count += (size_t)(at - s->from);
	s->from = at;
	s->count = to;
}

static int check_size(const struct scan *s, struct err *e)
{
	if (s->part > s->spec.max_bytes || (s->spec.lines && s->head > s->spec.max_bytes))
		return err_set(e, ERR_PROTOCOL, 0, "item %zu has more than %zu bytes", s->given,
			       s->spec.max_bytes);
	if (s->head > s->spec.max_bytes)
		return err_set(e, ERR_PROTOCOL, 0, "more than %zu bytes%s", s->spec.max_bytes,
			       s->given || s->build.in_element ? " beside the items" : "");
	return 0;
}

/* --- values ----------------------------------------------------------------------------------- */

static struct scan_frame *top(const struct scan *s)
{
	return scan_build_top(&s->build);
}

static void value_begins(struct scan *s, const char *at)
{
	if (scan_build_at_element(&s->build)) {
		scan_build_element_begins(&s->build);
		s->part = 0;
		count_to(s, at, &s->part);
	}
	scan_build_value_begins(&s->build);
}

static int give_out(struct scan *s, json_t **v, int (*to)(json_t *value, void *arg, struct err *e),
		    struct err *e)
{
	json_t *mine = *v;
	int rc = 0;

	*v = NULL;
	if (to)
		rc = to(mine, s->spec.arg, e);
	json_decref(mine);
	return rc;
}

/* Ends the value whose last byte is the one before `at`. */
static int value_ends(struct scan *s, const char *at, struct err *e)
{
	s->state = AFTER;
	if (s->build.in_element && scan_build_at_base(&s->build)) {
		count_to(s, at, &s->none);
		if (check_size(s, e) < 0)
			return -1;
		scan_build_element_ends(&s->build);
		scan_names_forget(&s->names[1]);
		if (give_out(s, &s->build.element, s->spec.ops->on_each, e) < 0)
			return -1;
		s->given++;
		return 0;
	}
	if (s->build.depth)
		return 0;
	s->state = DONE;
	if (s->spec.lines)
		return 0;
	count_to(s, at, &s->head);
	return check_size(s, e) < 0 ? -1 : give_out(s, &s->build.root, s->spec.ops->on_value, e);
}

static int open_container(struct scan *s, const char *at, bool array, struct err *e)
{
	struct scan_frame *frame;

	if (s->build.depth - s->build.base == DEPTH_MAX)
		return wrong(s, at, "JSON deeper than 64 levels", e);
	frame = scan_build_open(&s->build, array);
	frame->object.number = ++s->number;
	if (!array) {
		s->state = NAME_OR_END;
		return 0;
	}
	if (frame->each)
		count_to(s, at + 1, &s->none);
	s->state = VALUE_OR_END;
	return 0;
}

static int close_container(struct scan *s, const char *at, char c, struct err *e)
{
	if (!s->build.depth || top(s)->array != (c == ']'))
		return wrong(s, at, "a bracket that closes nothing", e);
	if (top(s)->each)
		count_to(s, at, &s->head);
	scan_names_leave(&s->names[s->build.in_element], &top(s)->object);
	scan_build_close(&s->build);
	return value_ends(s, at + 1, e);
}

static int string_ends(struct scan *s, const char *text, size_t len, const char *at, struct err *e)
{
	if (!s->is_name) {
		scan_build_string(&s->build, text, len);
		if (s->build.dry && s->build.handling.note)
			s->line.note[s->build.handling.note - 1] =
				text == s->token.data ? (struct scan_note){NULL, SIZE_MAX}
						      : (struct scan_note){text, len};
		return value_ends(s, at, e);
	}
	if (!scan_names_add(&s->names[s->build.in_element], &top(s)->object, text, len))
		return wrong(s, at, "a name twice in one object", e);
	scan_build_name(&s->build, text, len);
	s->state = COLON;
	return 0;
}

static int number_ends(struct scan *s, const char *at, struct err *e)
{
	struct scan_number n;
	const char *what;

	if (!scan_number(s->token.data, s->token.len, &n, &what))
		return wrong(s, at, what, e);
	scan_build_number(&s->build, s->token.data, s->token.len, &n);
	return value_ends(s, at, e);
}

static int word_ends(struct scan *s, const char *at, struct err *e)
{
	const char *w = s->token.data;
	json_t *v = !strcmp(w, "true")	  ? json_true()
		    : !strcmp(w, "false") ? json_false()
		    : !strcmp(w, "null")  ? json_null()
					  : NULL;

	if (!v)
		return wrong(s, at, "a word that is none of true, false and null", e);
	/* Accept null as an empty list of items, because Go writes a nil slice as null. */
	if (s->build.handling.each && !json_is_null(v))
		return wrong(s, at, "the items are not an array", e);
	scan_build_word(&s->build, w, s->token.len, v);
	return value_ends(s, at, e);
}

/* --- inside tokens: these functions return the position reached, NULL on error ---------------- */

static bool is_kept(const struct scan *s)
{
	return s->is_name || s->build.handling.keep;
}

static void take(struct scan *s, const char *text, size_t len)
{
	if (is_kept(s))
		buf_put(&s->token, text, len);
}

/* Completes an escape or a UTF-8 sequence that was split by the end of the previous chunk. */
static const char *in_cut(struct scan *s, const char *p, const char *end, struct err *e)
{
	char out[4];
	const char *what;
	size_t n;

	while (p < end) {
		int rc;

		s->cut[s->ncut++] = *p++;
		rc = scan_sequence(s->cut, s->ncut, out, &n, &what);
		if (rc < 0) {
			(void)!wrong(s, p, what, e);
			return NULL;
		}
		if (!rc)
			continue;
		take(s, out, n);
		s->ncut = 0;
		break;
	}
	return p;
}

static const char *in_string(struct scan *s, const char *p, const char *end, struct err *e)
{
	const char *from = p, *what = "a control character in a string";

	for (;;) {
		char out[4];
		size_t n;
		int rc = -1;

		p = scan_plain(p, end);
		if (p == end) {
			take(s, from, (size_t)(p - from));
			return p;
		}
		if (*p == '"')
			break;
		if ((unsigned char)*p >= 0x20)
			rc = scan_sequence(p, (size_t)(end - p), out, &n, &what);
		if (rc < 0) {
			(void)!wrong(s, p, what, e);
			return NULL;
		}
		if (rc == 0 || *p == '\\')
			take(s, from, (size_t)(p - from));
		if (rc == 0) {
			s->ncut = (size_t)(end - p);
			memcpy(s->cut, p, s->ncut);
			return end;
		}
		if (*p == '\\') {
			take(s, out, n);
			from = p + rc;
		}
		p += rc;
	}
	if (s->token.len) {
		take(s, from, (size_t)(p - from));
		return string_ends(s, s->token.data, s->token.len, p + 1, e) < 0 ? NULL : p + 1;
	}
	return string_ends(s, from, (size_t)(p - from), p + 1, e) < 0 ? NULL : p + 1;
}

static bool of_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static bool of_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *in_number(struct scan *s, const char *p, const char *end, struct err *e)
{
	const char *from = p;

	while (p < end && of_number(*p))
		p++;
	buf_put(&s->token, from, (size_t)(p - from));
	return p < end && number_ends(s, p, e) < 0 ? NULL : p;
}

static const char *in_word(struct scan *s, const char *p, const char *end, struct err *e)
{
	const char *from = p;

	while (p < end && of_word(*p) && s->token.len + (size_t)(p - from) <= WORD_MAX)
		p++;
	buf_put(&s->token, from, (size_t)(p - from));
	return p < end && word_ends(s, p, e) < 0 ? NULL : p;
}

/* --- between tokens --------------------------------------------------------------------------- */

static void token_begins(struct scan *s, enum state state, bool is_name)
{
	buf_clear(&s->token);
	s->state = state;
	s->is_name = is_name;
}

/* Begins a value and returns the position at which to continue. For a number or literal that is the
 * position of the current byte, because the byte belongs to the token. */
static const char *value(struct scan *s, const char *p, struct err *e)
{
	value_begins(s, p);
	if (s->build.handling.each && *p != '[' && *p != 'n') {
		(void)!wrong(s, p, "the items are not an array", e);
		return NULL;
	}
	if (*p == '{' || *p == '[')
		return open_container(s, p, *p == '[', e) < 0 ? NULL : p + 1;
	if (*p == '"') {
		token_begins(s, STRING, false);
		return p + 1;
	}
	if (of_number(*p) || of_word(*p)) {
		token_begins(s, of_word(*p) ? WORD : NUMBER, false);
		return p;
	}
	(void)!wrong(s, p, "not a JSON value", e);
	return NULL;
}

static int comma(struct scan *s, const char *p, struct err *e)
{
	if (*p != ',')
		return wrong(s, p, "neither a comma nor the end", e);
	if (top(s)->array)
		scan_build_next(&s->build);
	s->state = top(s)->array ? VALUE : NAME;
	return 0;
}

static const char *between(struct scan *s, const char *p, struct err *e)
{
	char c = *p;
	int rc = 0;

	switch (s->state) {
	case VALUE_OR_END:
		if (c == ']') {
			rc = close_container(s, p, c, e);
			break;
		}
		return value(s, p, e);
	case VALUE:
		return value(s, p, e);
	case NAME_OR_END:
	case NAME:
		if (c == '}' && s->state == NAME_OR_END)
			rc = close_container(s, p, c, e);
		else if (c == '"')
			token_begins(s, STRING, true);
		else
			rc = wrong(s, p, "not a name", e);
		break;
	case COLON:
		rc = c == ':' ? 0 : wrong(s, p, "not a colon", e);
		s->state = VALUE;
		break;
	case AFTER:
		rc = c == '}' || c == ']' ? close_container(s, p, c, e) : comma(s, p, e);
		break;
	case DONE:
		rc = wrong(s, p, "something after the value", e);
		break;
	case STRING:
	case NUMBER:
	case WORD:
		break;
	}
	return rc < 0 ? NULL : p + 1;
}

static void start(struct scan *s)
{
	s->state = VALUE;
	scan_build_start(&s->build, s->spec.want, s->spec.most);
	s->head = 0;
	s->line = (struct scan_line){0};
	scan_names_forget(&s->names[0]);
}

/* Ends a line. Frees large buffers, because a watch is idle most of the time. */
static int line_ends(struct scan *s, const char *at, struct err *e)
{
	if (s->state == VALUE && !s->build.depth) {
		s->from = at + 1;
		s->head = 0;
		return 0;
	}
	if (s->state != DONE)
		return wrong(s, at, "a line that ends within its value", e);
	count_to(s, at, &s->head);
	s->from = at + 1;
	if (check_size(s, e) < 0 || give_out(s, &s->build.root, s->spec.ops->on_value, e) < 0)
		return -1;
	s->given++;
	if (s->token.cap > KEPT) {
		buf_done(&s->token);
		buf_init(&s->token, SIZE_MAX);
	}
	start(s);
	return 0;
}

static const char *step(struct scan *s, const char *p, const char *end, struct err *e)
{
	if (s->state == STRING)
		return s->ncut ? in_cut(s, p, end, e) : in_string(s, p, end, e);
	if (s->state == NUMBER)
		return in_number(s, p, end, e);
	if (s->state == WORD)
		return in_word(s, p, end, e);
	if (*p == '\n' && s->spec.lines)
		return line_ends(s, p, e) < 0 ? NULL : p + 1;
	if (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
		return p + 1;
	return between(s, p, e);
}

uint64_t scan_digest(const struct scan *s)
{
	return scan_build_digest(&s->build);
}

static const char *run(struct scan *s, const char *p, const char *end, struct err *e)
{
	while (p && p < end)
		p = step(s, p, end, e);
	return p;
}

/* Reads the line from p up to newline in a dry run, to compute its digest. Returns the position at
 * which parsing continues: behind the line if the caller knows the digest, or p if the line must be
 * built. */
static const char *read_dry(struct scan *s, const char *p, const char *newline, struct err *e)
{
	const char *at;

	s->build.dry = true;
	at = run(s, p, newline, e);
	/* A number or literal has no end mark of its own: read the newline too, so that it is
	 * complete. */
	if (at && (s->state == NUMBER || s->state == WORD))
		at = step(s, newline, newline + 1, e);
	s->build.dry = false;
	if (!at)
		return NULL;
	s->line.digest = scan_digest(s);
	if (s->state == DONE && (size_t)(newline - p) <= s->spec.max_bytes &&
	    s->spec.ops->is_known(&s->line, s->spec.arg)) {
		s->given++;
		at = newline + 1;
	} else if (s->state == DONE) {
		at = p;
	} else if (s->state != VALUE || s->build.depth) {
		(void)!wrong(s, newline, "a line that ends within its value", e);
		return NULL;
	}
	start(s);
	s->from = at;
	return at;
}

static bool at_line_start(const struct scan *s)
{
	return s->state == VALUE && !s->build.depth && !s->head;
}

static int feed(struct scan *s, const char *data, size_t len, struct err *e)
{
	const char *p = data, *end = data + len;

	s->from = data;
	while (p && p < end) {
		const char *newline = s->spec.lines ? memchr(p, '\n', (size_t)(end - p)) : NULL;
		const char *to = newline ? newline + 1 : end;

		if (newline && s->spec.ops->is_known && at_line_start(s))
			p = read_dry(s, p, newline, e);
		p = run(s, p, to, e);
	}
	if (!p)
		return -1;
	count_to(s, end, s->count);
	return check_size(s, e);
}

bool scan_left_out(const struct scan *s)
{
	return s->build.left_out;
}

int scan_feed(struct scan *s, const char *data, size_t len, struct err *e)
{
	if (s->failed.kind == ERR_NONE && feed(s, data, len, &s->failed) == 0)
		return 0;
	*e = s->failed;
	return -1;
}

/* Ends a number or literal at the end of the input by feeding a blank, because no byte follows that
 * would end it. */
static int end_token(struct scan *s, struct err *e)
{
	static const char blank[] = " ";

	s->from = blank;
	return (s->state == NUMBER || s->state == WORD) && !step(s, blank, blank + 1, e) ? -1 : 0;
}

int scan_end(struct scan *s, struct err *e)
{
	if (s->failed.kind == ERR_NONE && !s->spec.lines && end_token(s, &s->failed) == 0 &&
	    s->state != DONE)
		err_note(&s->failed, ERR_PROTOCOL, 0,
			 "ends after %zu items and %zu bytes without being complete", s->given,
			 s->head + s->part);
	if (s->failed.kind == ERR_NONE)
		return 0;
	*e = s->failed;
	return -1;
}

struct scan *scan_new(const struct scan_spec *spec)
{
	struct scan *s = mem_new(struct scan);

	s->spec = *spec;
	s->count = &s->head;
	scan_build_init(&s->build, spec->digests);
	buf_init(&s->token, SIZE_MAX);
	start(s);
	return s;
}

void scan_free(struct scan *s)
{
	if (!s)
		return;
	scan_build_done(&s->build);
	scan_names_done(&s->names[0]);
	scan_names_done(&s->names[1]);
	buf_done(&s->token);
	free(s);
}

static int on_whole(json_t *value, void *arg, struct err *e)
{
	(void)e;
	*(json_t **)arg = json_incref(value);
	return 0;
}

json_t *scan_parse(const char *text, size_t len, const struct scan_want *want, struct err *e)
{
	static const struct scan_ops ops = {.on_value = on_whole};
	json_t *j = NULL;
	OWN(scan)
	s = scan_new(&(struct scan_spec){.want = want, .max_bytes = len, .ops = &ops, .arg = &j});

	if (scan_feed(s, text, len, e) == 0 && scan_end(s, e) == 0)
		return j;
	json_decref(j);
	return NULL;
}
