#include "base/data/items.h"

#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/mem.h"

/*
 * A list is walked by a small state machine over its top object; values are
 * skipped by counting brackets outside of strings.  Whoever gets the text
 * parses it, so that grammar inside a value is not checked here: a wrong
 * bracket only ends the value at the wrong place, and the parser refuses it.
 *
 *	START {  MEMBER "key  KEY "  COLON :  VALUE ...  AFTER_VALUE , }  DONE
 *	                                     [  ITEM_FIRST  ITEM ...  AFTER_ITEM , ]
 *
 * An element that lies whole in one chunk is handed out where it lies; only
 * one that is cut by the end of a chunk is put together in `part`.
 */
enum state {
	START,
	MEMBER_FIRST, /* a key, or the end of an empty object */
	MEMBER,
	KEY,
	COLON,
	VALUE_FIRST,
	VALUE,
	AFTER_VALUE,
	ITEM_FIRST, /* an element, or the end of an empty list */
	ITEM_NEXT,
	ITEM,
	AFTER_ITEM,
	DONE,
};

struct items {
	enum items_mode mode;
	size_t max_item;
	const struct items_ops *ops;
	void *arg;
	enum state state;
	struct buf part; /* what has come of the element, line or items value at hand */
	struct buf head; /* the top object without items */
	size_t key_at;	 /* where the key at hand begins in head */
	size_t count;	 /* elements handed out */
	bool items_key;	 /* the member at hand is items */
	bool items_seen;
	size_t depth; /* of the value at hand */
	bool in_string, escaped, scalar;
	struct err failed;
};

struct items *items_new(enum items_mode mode, size_t max_item, const struct items_ops *ops,
			void *arg)
{
	struct items *it = mem_new(struct items);

	it->mode = mode;
	it->max_item = max_item;
	it->ops = ops;
	it->arg = arg;
	buf_init(&it->part, max_item);
	/* Room for the braces, so that a limit on elements means the same for members. */
	buf_init(&it->head, max_item + 2);
	return it;
}

void items_free(struct items *it)
{
	if (!it)
		return;
	buf_done(&it->part);
	buf_done(&it->head);
	free(it);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The first byte of a value decides how its end is known. */
static void value_begin(struct items *it, char c)
{
	it->depth = 0;
	it->in_string = it->escaped = false;
	it->scalar = c != '{' && c != '[' && c != '"';
}

/* How many bytes of the value at hand lie in data; *ended when its last one is among them. */
static size_t value_scan(struct items *it, const char *data, size_t len, bool *ended)
{
	bool in_string = it->in_string;
	size_t depth = it->depth, i = 0;

	*ended = false;
	if (it->scalar) {
		while (i < len && !is_space(data[i]) && data[i] != ',' && data[i] != ']' &&
		       data[i] != '}')
			i++;
		*ended = i < len;
		return i;
	}
	if (it->escaped && len) {
		it->escaped = false;
		i = 1;
	}
	while (i < len) {
		char c = data[i++];

		if (in_string) {
			if (c == '\\') {
				if (i == len)
					it->escaped = true;
				i++;
			} else if (c == '"') {
				in_string = false;
				*ended = !depth;
			}
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			*ended = !--depth;
		}
		if (*ended)
			break;
	}
	it->in_string = in_string;
	it->depth = depth;
	return i < len ? i : len;
}

static int put(struct items *it, struct buf *b, const char *data, size_t len, struct err *e)
{
	if (len > b->max - b->len)
		return b == &it->part
			       ? err_set(e, ERR_PROTOCOL, 0, "item %zu has more than %zu bytes",
					 it->count, it->max_item)
			       : err_set(e, ERR_PROTOCOL, 0,
					 "list without its items has more than %zu bytes",
					 it->max_item);
	return buf_add(b, data, len, e);
}

/* An element, or a line, whose last bytes are data. */
static int hand_out(struct items *it, const char *data, size_t len, struct err *e)
{
	if (it->part.len || len > it->max_item) {
		if (put(it, &it->part, data, len, e) < 0)
			return -1;
		data = it->part.data;
		len = it->part.len;
	}
	if (it->ops->on_item(data, len, it->arg, e) < 0)
		return -1;
	it->count++;
	buf_clear(&it->part);
	return 0;
}

/* The key in head is complete.  "items" is taken out again, with the comma before it. */
static int key_end(struct items *it, struct err *e)
{
	static const char items[] = "\"items\"";
	const char *key = it->head.data + it->key_at;

	it->items_key = it->head.len - it->key_at == sizeof(items) - 1 &&
			!memcmp(key, items, sizeof(items) - 1);
	if (!it->items_key)
		return 0;
	if (it->items_seen)
		return err_set(e, ERR_PROTOCOL, 0, "list has items twice");
	it->items_seen = true;
	it->head.len = it->key_at > 1 ? it->key_at - 1 : it->key_at;
	it->head.data[it->head.len] = '\0';
	return 0;
}

static int want(char c, const char *what, struct err *e)
{
	return err_set(e, ERR_PROTOCOL, 0, "list: want %s, got '%c'", what, c);
}

/* One byte of structure: white space is gone, values and keys are taken elsewhere. */
static int structure(struct items *it, char c, struct err *e)
{
	switch (it->state) {
	case START:
		if (c != '{')
			return want(c, "an object", e);
		it->state = MEMBER_FIRST;
		return put(it, &it->head, "{", 1, e);
	case MEMBER_FIRST:
	case MEMBER:
		if (c == '}' && it->state == MEMBER_FIRST)
			break;
		if (c != '"')
			return want(c, "a member", e);
		if (it->head.len > 1 && put(it, &it->head, ",", 1, e) < 0)
			return -1;
		it->key_at = it->head.len;
		value_begin(it, c);
		it->state = KEY;
		return 1;
	case COLON:
		if (c != ':')
			return want(c, "a colon", e);
		it->state = VALUE_FIRST;
		return it->items_key ? 0 : put(it, &it->head, ":", 1, e);
	case VALUE_FIRST:
		if (it->items_key && c == '[') {
			it->state = ITEM_FIRST;
			return 0;
		}
		value_begin(it, c);
		it->state = VALUE;
		return 1;
	case AFTER_VALUE:
		if (c == ',') {
			it->state = MEMBER;
			return 0;
		}
		if (c != '}')
			return want(c, "a comma or the end of the object", e);
		break;
	case ITEM_FIRST:
	case ITEM_NEXT:
		if (c == ']' && it->state == ITEM_FIRST) {
			it->state = AFTER_VALUE;
			return 0;
		}
		if (c == ']' || c == ',' || c == '}')
			return want(c, "an item", e);
		value_begin(it, c);
		it->state = ITEM;
		return 1;
	case AFTER_ITEM:
		if (c != ',' && c != ']')
			return want(c, "a comma or the end of the items", e);
		it->state = c == ',' ? ITEM_NEXT : AFTER_VALUE;
		return 0;
	case DONE:
	case KEY:
	case VALUE:
	case ITEM:
		return want(c, "nothing after the list", e);
	}
	if (put(it, &it->head, "}", 1, e) < 0)
		return -1;
	it->state = DONE;
	return it->ops->on_head ? it->ops->on_head(it->head.data, it->head.len, it->arg, e) : 0;
}

/* Bytes of a key, a member's value or an element. */
static int inside(struct items *it, const char *data, size_t len, size_t *used, struct err *e)
{
	struct buf *to = it->state == KEY || !it->items_key ? &it->head : &it->part;
	bool ended;

	*used = value_scan(it, data, len, &ended);
	if (it->state == ITEM && ended) {
		it->state = AFTER_ITEM;
		return hand_out(it, data, *used, e);
	}
	if (put(it, to, data, *used, e) < 0)
		return -1;
	if (!ended)
		return 0;
	if (it->state == KEY) {
		it->state = COLON;
		return key_end(it, e);
	}
	it->state = AFTER_VALUE;
	if (it->items_key) { /* Go writes a nil slice as null */
		if (it->part.len != 4 || memcmp(it->part.data, "null", 4) != 0)
			return err_set(e, ERR_PROTOCOL, 0, "list: items is not an array");
		buf_clear(&it->part);
	}
	return 0;
}

static int feed_list(struct items *it, const char *data, size_t len, struct err *e)
{
	size_t i = 0;

	while (i < len) {
		int again;

		if (it->state == KEY || it->state == VALUE || it->state == ITEM) {
			size_t used;

			if (inside(it, data + i, len - i, &used, e) < 0)
				return -1;
			i += used;
			continue;
		}
		if (is_space(data[i])) {
			i++;
			continue;
		}
		again = structure(it, data[i], e);
		if (again < 0)
			return -1;
		i += !again;
	}
	return 0;
}

static bool is_blank(const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_space(data[i]))
			return false;
	return true;
}

static int feed_lines(struct items *it, const char *data, size_t len, struct err *e)
{
	while (len) {
		const char *nl = memchr(data, '\n', len);
		size_t n = nl ? (size_t)(nl - data) : len;

		if (!nl)
			return put(it, &it->part, data, n, e);
		if (is_blank(data, n) && is_blank(it->part.data, it->part.len))
			buf_clear(&it->part);
		else if (hand_out(it, data, n, e) < 0)
			return -1;
		data += n + 1;
		len -= n + 1;
	}
	return 0;
}

static int feed(struct items *it, const char *data, size_t len, struct err *e)
{
	return it->mode == ITEMS_LIST ? feed_list(it, data, len, e) : feed_lines(it, data, len, e);
}

int items_feed(struct items *it, const char *data, size_t len, struct err *e)
{
	if (it->failed.kind == ERR_NONE && feed(it, data, len, &it->failed) == 0)
		return 0;
	*e = it->failed;
	return -1;
}

int items_end(struct items *it, struct err *e)
{
	if (it->failed.kind != ERR_NONE) {
		*e = it->failed;
		return -1;
	}
	if (it->mode == ITEMS_LIST && it->state != DONE)
		return err_set(e, ERR_PROTOCOL, 0,
			       "list ends after %zu items without being complete", it->count);
	return 0;
}
