#include "base/data/scan.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/data/scan_names.h"
#include "base/data/scan_token.h"
#include "base/hash.h"
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
 * How a value is handled (struct fate) is known before its first byte, from its name and the table
 * of its object. Inside a value that is not built, no name is looked up and nothing is allocated.
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

struct fate {
	bool keep, each;
	bool pick;
	/* Number of the note (struct scan_want) in which the value's string is reported; 0:
	 * none. */
	unsigned char note;
	/* Table of the value's members or elements; NULL: none is wanted. */
	const struct scan_want *some;
	size_t most;
};

struct frame {
	/* The object or array being built; NULL: it is not built, or this is a dry run. */
	json_t *node;
	const struct scan_want *some;
	struct scan_object object;
	uint64_t digest;
	bool array, each, kept, pick, note;
};

struct scan {
	struct scan_spec spec;

	enum state state;
	struct frame *frames;
	size_t depth, frames_cap;
	/* Number given to the most recently opened object; see struct scan_object. */
	uint64_t number;
	/* How the current value, or the next one, is handled. */
	struct fate fate;
	/* Name of the current value, if it is built as a member of an object. */
	struct buf name;
	/* Decoded part so far of the current string, number or literal (true, false, null). */
	struct buf token;
	/* True: the current string is a member's name. */
	bool is_name;
	char cut[SEQUENCE_MAX];
	/* Number of bytes in cut: the first part of a UTF-8 sequence or escape that was split by
	 * the end of a chunk. */
	size_t ncut;

	json_t *root, *element;
	bool in_element;
	/* Depth of the stack at which the value for the next callback begins. */
	size_t base;
	/* Names seen so far, for detecting duplicates: [0] in the document, [1] in the current
	 * element. */
	struct scan_names names[2];
	/* budget: depth of the container that has a limit `most`; 0 means none. left: weight that
	 * may still be built inside that container. */
	size_t left, budget;
	bool left_out;
	/* True: a dry run, in which nothing is built. */
	bool dry;
	struct scan_line line;
	/* Digest so far of the current document, line or element. */
	uint64_t digest;
	/* Digest of the member with the SCAN_DIGEST row; 0: no such member so far. */
	uint64_t picked;

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

size_t scan_weight(const json_t *v)
{
	size_t sum = SCAN_VALUE_BYTES, i;
	const char *name;
	json_t *m;

	if (json_is_string(v))
		return sum + json_string_length(v);
	json_array_foreach (v, i, m)
		sum += scan_weight(m);
	json_object_foreach ((json_t *)(uintptr_t)v, name, m)
		sum += strlen(name) + scan_weight(m);
	return sum;
}

/* --- errors and bounds ------------------------------------------------------------------------ */

static int wrong(const struct scan *s, const char *at, const char *what, struct err *e)
{
	size_t byte = *s->count + (size_t)(at - s->from);

	if (s->spec.lines || s->in_element)
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
			       s->given || s->in_element ? " beside the items" : "");
	return 0;
}

/* --- handling of values by their names -------------------------------------------------------- */

static struct fate fate_of(const struct scan_want *w, const char *name, size_t len)
{
	for (; w->name; w++)
		if (!strncmp(w->name, name, len) && !w->name[len])
			return (struct fate){.keep = !w->drop,
					     .each = w->each,
					     .pick = w->pick,
					     .note = w->note,
					     .some = w->some,
					     .most = w->most};
	return (struct fate){.keep = w->some, .some = w->some};
}

/* --- values ----------------------------------------------------------------------------------- */

static struct frame *top(const struct scan *s)
{
	return &s->frames[s->depth - 1];
}

static void charge(struct scan *s, size_t bytes)
{
	if (s->budget)
		s->left -= bytes < s->left ? bytes : s->left;
}

/* Decides how an array's next element is handled; begins an element if it is to be passed to a
 * callback. */
static void next_element(struct scan *s)
{
	const struct frame *f = top(s);

	s->fate = (struct fate){.keep = f->each || (f->kept && f->some), .some = f->some};
	s->state = VALUE;
}

static void value_begins(struct scan *s, const char *at)
{
	if (s->depth && top(s)->each && !s->in_element) {
		s->in_element = true;
		s->base = s->depth;
		s->part = 0;
		s->digest = 0;
		count_to(s, at, &s->part);
	}
	if (s->budget && !s->left && s->fate.keep) {
		s->fate.keep = false;
		s->left_out = true;
	}
}

/*
 * Adds a scalar to the digest of its container. The digest of a container covers the names and
 * values that are built from it, in order, except members with a note, which may change while the
 * rest stays equal.
 */
static void digest_scalar(struct scan *s, char kind, const char *text, size_t len)
{
	uint64_t *into = s->depth == s->base ? &s->digest : &top(s)->digest;

	if (s->spec.digests && !s->fate.note)
		*into = hash_keyed(text, len, *into + (unsigned char)kind);
}

/* Adds the digest of container f, which was just closed and popped from the stack, to the digest of
 * its parent. */
static void digest_container(struct scan *s, const struct frame *f)
{
	if (!s->spec.digests || !f->kept)
		return;
	if (f->pick)
		s->picked = f->digest;
	if (s->depth == s->base)
		s->digest = f->digest;
	else if (!f->note)
		top(s)->digest = hash_keyed(&f->digest, sizeof(f->digest), top(s)->digest);
}

/* Adds a value that was built to its container. v NULL: this is a dry run, in which nothing is
 * built. */
static void put(struct scan *s, json_t *v)
{
	if (s->depth == s->base) {
		*(s->in_element ? &s->element : &s->root) = v;
		return;
	}
	charge(s, SCAN_VALUE_BYTES);
	if (!top(s)->array)
		charge(s, s->name.len);
	if (!v)
		return;
	if (top(s)->array)
		json_array_append_new(top(s)->node, v);
	else
		json_object_setn_new_nocheck(top(s)->node, s->name.data, s->name.len, v);
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
	if (s->in_element && s->depth == s->base) {
		count_to(s, at, &s->none);
		if (check_size(s, e) < 0)
			return -1;
		s->in_element = false;
		s->base = 0;
		scan_names_forget(&s->names[1]);
		if (give_out(s, &s->element, s->spec.ops->on_each, e) < 0)
			return -1;
		s->given++;
		return 0;
	}
	if (s->depth)
		return 0;
	s->state = DONE;
	if (s->spec.lines)
		return 0;
	count_to(s, at, &s->head);
	return check_size(s, e) < 0 ? -1 : give_out(s, &s->root, s->spec.ops->on_value, e);
}

static int open_container(struct scan *s, const char *at, bool array, struct err *e)
{
	struct fate f = s->fate;
	struct frame *frame;
	json_t *node = NULL;

	if (s->depth - s->base == DEPTH_MAX)
		return wrong(s, at, "JSON deeper than 64 levels", e);
	if (f.keep) {
		node = s->dry ? NULL : array ? json_array() : json_object();
		put(s, node);
	}
	mem_grow(s->frames, s->depth, s->frames_cap);
	frame = &s->frames[s->depth++];
	*frame = (struct frame){.node = node,
				.some = f.some,
				.object.number = ++s->number,
				.array = array,
				.each = f.each,
				.kept = f.keep,
				.pick = f.pick,
				.note = f.note,
				.digest = (unsigned char)*at};
	if (f.keep && f.most && !s->budget) {
		s->budget = s->depth;
		s->left = f.most;
		charge(s, SCAN_VALUE_BYTES);
	}
	if (!array) {
		s->state = NAME_OR_END;
		return 0;
	}
	if (f.each)
		count_to(s, at + 1, &s->none);
	next_element(s);
	s->state = VALUE_OR_END;
	return 0;
}

static int close_container(struct scan *s, const char *at, char c, struct err *e)
{
	if (!s->depth || top(s)->array != (c == ']'))
		return wrong(s, at, "a bracket that closes nothing", e);
	if (top(s)->each)
		count_to(s, at, &s->head);
	if (s->budget == s->depth)
		s->budget = 0;
	scan_names_leave(&s->names[s->in_element], &top(s)->object);
	s->depth--;
	digest_container(s, &s->frames[s->depth]);
	return value_ends(s, at + 1, e);
}

static int string_ends(struct scan *s, const char *text, size_t len, const char *at, struct err *e)
{
	struct frame *f;

	if (!s->is_name) {
		if (s->fate.keep) {
			digest_scalar(s, '"', text, len);
			put(s, s->dry ? NULL : json_stringn_nocheck(text, len));
			charge(s, len);
		}
		if (s->dry && s->fate.note)
			s->line.note[s->fate.note - 1] =
				text == s->token.data ? (struct scan_note){NULL, SIZE_MAX}
						      : (struct scan_note){text, len};
		return value_ends(s, at, e);
	}
	f = top(s);
	if (!scan_names_add(&s->names[s->in_element], &f->object, text, len))
		return wrong(s, at, "a name twice in one object", e);
	s->fate = f->kept && f->some ? fate_of(f->some, text, len) : (struct fate){0};
	if (s->fate.keep) {
		buf_clear(&s->name);
		buf_put(&s->name, text, len);
		digest_scalar(s, ':', text, len);
	}
	s->state = COLON;
	return 0;
}

static int number_ends(struct scan *s, const char *at, struct err *e)
{
	struct scan_number n;
	const char *what;

	if (!scan_number(s->token.data, s->token.len, &n, &what))
		return wrong(s, at, what, e);
	if (s->fate.keep) {
		digest_scalar(s, '0', s->token.data, s->token.len);
		put(s, s->dry ? NULL : n.real ? json_real(n.d) : json_integer(n.i));
	}
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
	if (s->fate.each && !json_is_null(v))
		return wrong(s, at, "the items are not an array", e);
	if (s->fate.keep) {
		digest_scalar(s, 'w', s->token.data, s->token.len);
		put(s, s->dry ? NULL : v);
	}
	return value_ends(s, at, e);
}

/* --- inside tokens: these functions return the position reached, NULL on error ---------------- */

static bool is_kept(const struct scan *s)
{
	return s->is_name || s->fate.keep;
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
	if (s->fate.each && *p != '[' && *p != 'n') {
		(void)!wrong(s, p, "the items are not an array", e);
		return NULL;
	}
	if (s->fate.each)
		s->fate.keep = false;
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
		next_element(s);
	else
		s->state = NAME;
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
	s->fate = (struct fate){.keep = true, .some = s->spec.want, .most = s->spec.most};
	s->head = 0;
	s->left_out = false;
	s->line = (struct scan_line){0};
	s->digest = s->picked = 0;
	scan_names_forget(&s->names[0]);
}

/* Ends a line. Frees large buffers, because a watch is idle most of the time. */
static int line_ends(struct scan *s, const char *at, struct err *e)
{
	if (s->state == VALUE && !s->depth) {
		s->from = at + 1;
		s->head = 0;
		return 0;
	}
	if (s->state != DONE)
		return wrong(s, at, "a line that ends within its value", e);
	count_to(s, at, &s->head);
	s->from = at + 1;
	if (check_size(s, e) < 0 || give_out(s, &s->root, s->spec.ops->on_value, e) < 0)
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
	return s->picked ? s->picked : s->digest;
}

static const char *run(struct scan *s, const char *p, const char *end, struct err *e)
{
	while (p && p < end)
		p = step(s, p, end, e);
	return p;
}

/* Reads the line from p up to newline in a dry run to compute its digest. Returns the position at
 * which to continue: behind the line if the caller knows it, p if the line must be built. */
static const char *read_dry(struct scan *s, const char *p, const char *newline, struct err *e)
{
	const char *at;

	s->dry = true;
	at = run(s, p, newline, e);
	/* A number or literal has no end mark of its own: read the newline too, so that it is
	 * complete. */
	if (at && (s->state == NUMBER || s->state == WORD))
		at = step(s, newline, newline + 1, e);
	s->dry = false;
	if (!at)
		return NULL;
	s->line.digest = scan_digest(s);
	if (s->state == DONE && (size_t)(newline - p) <= s->spec.max_bytes &&
	    s->spec.ops->is_known(&s->line, s->spec.arg)) {
		s->given++;
		at = newline + 1;
	} else if (s->state == DONE) {
		at = p;
	} else if (s->state != VALUE || s->depth) {
		(void)!wrong(s, newline, "a line that ends within its value", e);
		return NULL;
	}
	start(s);
	s->from = at;
	return at;
}

static bool at_line_start(const struct scan *s)
{
	return s->state == VALUE && !s->depth && !s->head;
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
	return s->left_out;
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
		(void)!err_set(&s->failed, ERR_PROTOCOL, 0,
			       "ends after %zu items and %zu bytes without being complete",
			       s->given, s->head + s->part);
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
	buf_init(&s->name, SIZE_MAX);
	buf_init(&s->token, SIZE_MAX);
	start(s);
	return s;
}

void scan_free(struct scan *s)
{
	if (!s)
		return;
	json_decref(s->root);
	json_decref(s->element);
	scan_names_done(&s->names[0]);
	scan_names_done(&s->names[1]);
	buf_done(&s->name);
	buf_done(&s->token);
	free(s->frames);
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
