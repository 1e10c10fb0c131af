#ifndef KUBE_APISERVER_LINES_H
#define KUBE_APISERVER_LINES_H

#include "base/store/store.h"
#include "kube/apiserver/server.h"

/*
 * lines: the text of events, shared by watches. A change of an object is parsed once and encoded
 * once per type and form (filter.h), however many watches receive it.
 */

/* One line of a watch. It is freed with its last reference. */
struct line {
	unsigned refs;
	size_t len;
	char text[];
};
/* Returns the line {"type":TYPE,"object":OBJECT}; the caller owns one reference. len: length of
 * object. */
struct line *line_new(const char *type, const char *object, size_t len);
struct line *line_ref(struct line *l);
void line_unref(struct line *l);

/* Lines that a watch has still to send, oldest first. */
struct line_queue {
	struct line **v;
	/* The queue is v[head] to v[n - 1]. */
	size_t head, n, cap;
	/* sent: bytes of v[head] that were already read. bytes: length of all lines in the queue
	 * without these; max: its limit. */
	size_t sent, bytes, max;
};
/* Adds l, and takes ownership of one reference. False: the queue would exceed its limit; l was
 * released. */
bool line_queue_add(struct line_queue *q, struct line *l);
/* Copies up to max bytes to out, removes them from the queue, and returns their number; 0: the
 * queue is empty. */
size_t line_queue_read(struct line_queue *q, char *out, size_t max);
void line_queue_clear(struct line_queue *q);

/* What the store's watches share of recent events. Everything is freed when all deliveries that
 * were due at the time of the first one are done. */
struct lines;
struct lines *lines_new(struct loop_group *g);
void lines_free(struct lines *c);

/* One event. Valid until the watch's callback returns. */
struct shared;
struct shared *lines_of(struct lines *c, const struct store_event *ev);
/* Return the object as it is stored now (for a deletion: the last state), and as it was before the
 * change. They must not be modified. NULL: there is none, or it is not JSON. */
const json_t *shared_object(struct shared *s);
const json_t *shared_before(struct shared *s);
/* Returns the line of the event, type ADDED, MODIFIED or DELETED, for a watch with filter f; the
 * caller owns one reference. A DELETED line contains the object's last state that f selected, with
 * the revision of the event. NULL: the object is not JSON. */
struct line *shared_line(struct shared *s, const char *type, const struct filter *f,
			 const struct resource *r);

#endif
