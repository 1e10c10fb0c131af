#ifndef CONTROLLER_VIEW_CHANGED_ROWS_H
#define CONTROLLER_VIEW_CHANGED_ROWS_H

#include "base/arena.h"
#include "base/data/json.h"
#include "base/map.h"
#include "controller/view/event_ring.h"

/*
 * changed_rows: compares rows of a list with those that the last event showed, and sends the
 * changes to each channel of an event ring. Only digests of the rows are kept.
 * Tests: tests/unit/controller/view/test_events.c
 */
struct row_change {
	const char *name;
	/* Tenant before and after the change; "": none; was NULL: unknown, so perhaps any */
	const char *was, *is;
	/* JSON of the row; NULL: it was deleted */
	const char *text;
	/* JSON of the brief form; NULL: it was deleted, or its brief form has not changed */
	const char *brief;
};

/* Changes of the rows of one topic. All memory but `v` is of the arena. */
struct changed_rows {
	/* EVENT_FLEET or EVENT_ATTENTION */
	enum event_topic topic;
	/* Version of the rows in the events */
	const char *version;
	/* Rows as the last event showed them, of known_rows_new() */
	struct map *known;
	struct arena *a;
	struct row_change *v;
	size_t n, cap;
};

/* Returns an empty map of rows that an event showed, by name, owned by the caller. */
struct map *known_rows_new(void);
/* Records that the reader has a row of this name, or had one, with unknown content. */
void known_rows_add_unknown(struct map *known, const char *name);

/* Adds the row to the changes if it differs from the one in the last event. brief: its brief form,
 * or o itself. tenant NULL: the row has none. */
void changed_rows_compare(struct changed_rows *x, const char *name, const char *tenant,
			  const json_t *o, const json_t *brief);
/* Adds that the row of this name, which x->known has, was deleted. */
void changed_rows_delete(struct changed_rows *x, const char *name);
/* Sends the changes, one event to each channel that they concern. */
void changed_rows_send(const struct changed_rows *x, struct event_ring *ring);
/* Frees x->v. */
void changed_rows_done(struct changed_rows *x);

#endif
