#include "kube/apiserver/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * The store calls one watch after another, each with all its events. So the cache has to contain
 * every event of such a batch, until the last watch was called:
 *
 *   watch 1: e1 e2 e3, watch 2: e1 e2 e3, ... -> deferral: clear
 *
 * The events of a batch have consecutive revisions, which are the index of the cache. Beyond
 * MAX_EVENTS or MAX_BYTES an event is not cached, because a watch that continues from an old
 * revision receives many events that no other watch receives.
 */
#define MAX_EVENTS 1024
#define MAX_BYTES ((size_t)4 << 20)

/* --- lines ------------------------------------------------------------------------------------ */

struct line *line_new(const char *type, const char *object, size_t len)
{
	static const char end[] = "}\n";
	char begin[64];
	size_t n = (size_t)snprintf(begin, sizeof(begin), "{\"type\":\"%s\",\"object\":", type);
	struct line *l = mem_alloc(sizeof(*l) + n + len + strlen(end));

	l->refs = 1;
	l->len = n + len + strlen(end);
	memcpy(l->text, begin, n);
	memcpy(l->text + n, object, len);
	memcpy(l->text + n + len, end, strlen(end));
	return l;
}

struct line *line_ref(struct line *l)
{
	l->refs++;
	return l;
}

void line_unref(struct line *l)
{
	if (l && --l->refs == 0)
		free(l);
}

/* --- queues ----------------------------------------------------------------------------------- */

bool line_queue_add(struct line_queue *q, struct line *l)
{
	if (l->len > q->max - (q->bytes < q->max ? q->bytes : q->max)) {
		line_unref(l);
		return false;
	}
	/* Reuse the slots of lines that were read, before the array grows. */
	if (q->n == q->cap && q->head > q->n / 2) {
		memmove(q->v, q->v + q->head, (q->n - q->head) * sizeof(struct line *));
		q->n -= q->head;
		q->head = 0;
	}
	mem_grow(q->v, q->n, q->cap);
	q->v[q->n++] = l;
	q->bytes += l->len;
	return true;
}

size_t line_queue_read(struct line_queue *q, char *out, size_t max)
{
	size_t done = 0;

	while (done < max && q->head < q->n) {
		struct line *l = q->v[q->head];
		size_t left = l->len - q->sent, part = left < max - done ? left : max - done;

		memcpy(out + done, l->text + q->sent, part);
		done += part;
		q->sent += part;
		if (q->sent < l->len)
			break;
		line_unref(l);
		q->head++;
		q->sent = 0;
	}
	q->bytes -= done;
	/* Free an empty queue, because a server has many watches and few of them have data to
	 * send. */
	if (q->head == q->n)
		line_queue_clear(q);
	return done;
}

void line_queue_clear(struct line_queue *q)
{
	for (size_t i = q->head; i < q->n; i++)
		line_unref(q->v[i]);
	free(q->v);
	*q = (struct line_queue){.max = q->max};
}

/* --- sharing ---------------------------------------------------------------------------------- */

/* A line that was encoded. */
struct encoded {
	const char *type;
	char *form;
	struct line *line;
};

struct shared {
	/* The event; its texts are valid until the watch's callback returns. */
	struct store_event ev;
	/* Parsed object and parsed previous object; NULL: not parsed yet, or absent. */
	json_t *object, *before;
	struct encoded *v;
	size_t n, cap;
	bool used;
};

struct lines {
	struct loop_defer clear;
	/* cached[i]: the event of revision first + i, below n; allocated at the first event. */
	struct shared *cached;
	uint64_t first;
	size_t n;
	/* Length of the objects that are cached. */
	size_t bytes;
	/* An event that is not cached. */
	struct shared single;
};

static void shared_clear(struct shared *s)
{
	json_decref(s->object);
	json_decref(s->before);
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].form);
		line_unref(s->v[i].line);
	}
	free(s->v);
	*s = (struct shared){0};
}

static void on_clear(void *arg)
{
	struct lines *c = arg;

	shared_clear(&c->single);
	for (size_t i = 0; i < c->n; i++)
		shared_clear(&c->cached[i]);
	free(c->cached);
	c->cached = NULL;
	c->n = c->bytes = 0;
}

struct lines *lines_new(struct loop_group *g)
{
	struct lines *c = mem_new(struct lines);

	loop_defer_init(&c->clear, g, on_clear, c);
	return c;
}

void lines_free(struct lines *c)
{
	if (!c)
		return;
	loop_defer_cancel(&c->clear);
	on_clear(c);
	free(c);
}

/* Returns the entry of a revision in the cache; NULL: an event of this size is not cached. */
static struct shared *cached_of(struct lines *c, uint64_t rev, size_t size)
{
	size_t i = rev - c->first, n = c->n ? c->n : 8;
	struct shared *grown;

	if (rev < c->first || i >= MAX_EVENTS)
		return NULL;
	if (i < c->n && c->cached[i].used)
		return &c->cached[i];
	if (c->bytes + size > MAX_BYTES)
		return NULL;
	c->bytes += size;
	if (i < c->n)
		return &c->cached[i];
	while (n <= i)
		n *= 2;
	grown = mem_calloc(n, sizeof(*grown));
	if (c->n)
		memcpy(grown, c->cached, c->n * sizeof(*grown));
	free(c->cached);
	c->cached = grown;
	c->n = n;
	return &c->cached[i];
}

struct shared *lines_of(struct lines *c, const struct store_event *ev)
{
	uint64_t rev = ev->entry.rev;
	struct shared *s;

	if (!c->n) {
		c->first = rev;
		loop_defer(&c->clear);
	}
	s = cached_of(c, rev, ev->entry.value_len);
	if (!s) {
		s = &c->single;
		shared_clear(s);
	}
	s->used = true;
	s->ev = *ev;
	return s;
}

static json_t *parse(const char *text, size_t len)
{
	struct err e;

	return json_parse(text, len, &e);
}

const json_t *shared_object(struct shared *s)
{
	if (!s->object)
		s->object = parse(s->ev.entry.value, s->ev.entry.value_len);
	return s->object;
}

const json_t *shared_before(struct shared *s)
{
	if (!s->before && s->ev.prev_value)
		s->before = parse(s->ev.prev_value, strlen(s->ev.prev_value));
	return s->before;
}

/* Parses the text of its own, because encoding modifies the object. */
static struct line *encode(const struct shared *s, const char *type, const struct filter *f,
			   const struct resource *r)
{
	const struct store_event *ev = &s->ev;
	bool deleted = str_eq(type, "DELETED");
	const char *text = deleted && ev->type == STORE_PUT ? ev->prev_value : ev->entry.value;

	if (!deleted && !filter_encodes(f, r))
		return line_new(type, text, ev->entry.value_len);

	OWN_JSON obj = text ? parse(text, strlen(text)) : NULL;
	char rev[32], *object;
	struct line *l;

	if (!obj)
		return NULL;
	if (deleted) {
		snprintf(rev, sizeof(rev), "%llu", (unsigned long long)ev->entry.rev);
		json_object_set_new(object_meta(obj), "resourceVersion", json_string(rev));
	}
	object = filter_text(f, r, obj);
	l = line_new(type, object, strlen(object));
	free(object);
	return l;
}

struct line *shared_line(struct shared *s, const char *type, const struct filter *f,
			 const struct resource *r)
{
	struct line *l;

	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->v[i].type, type) && str_eq(s->v[i].form, f->form))
			return line_ref(s->v[i].line);
	l = encode(s, type, f, r);
	if (!l)
		return NULL;
	mem_grow(s->v, s->n, s->cap);
	s->v[s->n++] = (struct encoded){type, mem_strdup(f->form), line_ref(l)};
	return l;
}
