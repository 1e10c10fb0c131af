#ifndef BASE_STORE_STORE_INTERNAL_H
#define BASE_STORE_STORE_INTERNAL_H

#include "base/list.h"
#include "base/store/store.h"

/*
 * store_internal: the interface between store.c and its backends. store.c keeps all keys, the
 * history and the watches in memory, whatever the backend. A backend only makes changes durable, in
 * order, and reports that with store_durable().
 */

/* One version of one key, shared by the index and the history. */
struct store_version {
	unsigned refs;
	uint64_t rev, create_rev;
	/* Value of the version; allocated together with the struct. */
	const char *value;
	size_t value_len;
	char key[];
};
void store_version_unref(struct store_version *v);

/* Index of all keys in order (a skip list). */
struct store_index;
struct store_index *store_index_new(void);
void store_index_free(struct store_index *x);
struct store_version *store_index_get(const struct store_index *x, const char *key);
/* Adds v, and takes ownership of it; returns the version that v replaces, NULL if none. */
struct store_version *store_index_put(struct store_index *x, struct store_version *v);
struct store_version *store_index_take(struct store_index *x, const char *key);
/* store_index_seek() returns the first node whose key is equal to or larger than key; if behind is
 * true, the first node whose key is larger. store_node_next() returns the node after n. NULL: no
 * such node. */
struct store_node;
struct store_node *store_index_seek(const struct store_index *x, const char *key, bool behind);
struct store_node *store_node_next(const struct store_node *n);
struct store_version *store_node_version(const struct store_node *n);

struct store_change_event {
	enum store_event_type type;
	uint64_t rev;
	/* The new version; for a deletion, a version with the last value. */
	struct store_version *version;
	/* The version that was replaced or deleted; NULL: the key did not exist before. */
	struct store_version *before;
};

struct store_ops {
	void (*free)(struct store *s);
	/* Makes all changes up to the store's revision durable (they are in the history,
	 * store_event_at()). Calls store_durable() afterwards, never inside this call. */
	void (*persist)(struct store *s);
	/* Called when an event leaves the history. May be NULL. */
	void (*forget)(struct store *s, const struct store_change_event *ev);
};

/* State of a store. A backend embeds it as the first member of its own struct; ops->free() frees
 * that struct. */
struct store {
	const struct store_ops *ops;
	struct loop_group *group;
	struct store_index *index;
	uint64_t rev, durable;
	/* History: event[(first + i) % cap] has revision first_rev + i. */
	struct store_change_event *event;
	size_t first, nevents, cap, keep;
	uint64_t first_rev;
	struct list commits, watches;
	/* Calls the watches that durable changes concern. */
	struct loop_defer wake;
	bool broken;
	struct err why;
};

void store_base_init(struct store *s, const struct store_ops *ops, struct loop_group *g,
		     size_t history);
void store_base_done(struct store *s);

/* Load the contents of a backend; must be called before any other function. store_load_begin(): the
 * history begins after revision oldest. store_load() adds one known change;
 * c->value NULL: a deletion.
 * Call it in order of revisions; no revision after oldest may be missing. store_load_end() ends
 * loading. */
void store_load_begin(struct store *s, uint64_t oldest);
int store_load(struct store *s, const struct store_entry *c, struct err *e)
	__attribute__((warn_unused_result));
void store_load_end(struct store *s);

/* Returns the event with revision rev from the history. The event stays valid at least until its
 * revision is durable. */
const struct store_change_event *store_event_at(const struct store *s, uint64_t rev);

/* Reports that all changes up to rev are durable. If e is set, the disk has failed: rev is ignored,
 * changes that are not durable are undone, and no later change becomes durable. */
void store_durable(struct store *s, uint64_t rev, const struct err *e);

#endif
