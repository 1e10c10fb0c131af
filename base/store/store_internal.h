#ifndef BASE_STORE_STORE_INTERNAL_H
#define BASE_STORE_STORE_INTERNAL_H

#include "base/list.h"
#include "base/store/store.h"

/*
 * store_internal: store.c keeps all keys, the history and the watches in
 * memory, whatever lies below; a backend only makes changes durable, in order,
 * and then says so with store_durable().
 */

/* One state of one key, shared by the index and the history. */
struct store_version {
	unsigned refs;
	uint64_t rev, create_rev;
	/* behind the key, in the same piece of memory */
	const char *value;
	size_t value_len;
	char key[];
};
void store_version_unref(struct store_version *v);

/* Keys in order: a skip list. */
struct store_index;
struct store_index *store_index_new(void);
void store_index_free(struct store_index *x);
struct store_version *store_index_get(const struct store_index *x, const char *key);
/* Takes v; gives the version that it replaces, NULL if there was none. */
struct store_version *store_index_put(struct store_index *x, struct store_version *v);
struct store_version *store_index_take(struct store_index *x, const char *key);
/* First key that is not before `key`, or is behind it; then the next. */
struct store_node;
struct store_node *store_index_seek(const struct store_index *x, const char *key, bool behind);
struct store_node *store_node_next(const struct store_node *n);
struct store_version *store_node_version(const struct store_node *n);

struct store_change_event {
	enum store_event_type type;
	uint64_t rev;
	/* the new, or the last */
	struct store_version *version;
	/* NULL: created */
	struct store_version *before;
};

struct store_ops {
	void (*free)(struct store *s);
	/* Make everything up to the store's revision durable (what is new stands in the history,
	 * store_event_at()), then call store_durable() later, never inside. */
	void (*persist)(struct store *s);
	/* The event has left the history.  May be NULL. */
	void (*forget)(struct store *s, const struct store_change_event *ev);
};

/* A backend embeds it as the first member; free() ends it. */
struct store {
	const struct store_ops *ops;
	struct loop_group *group;
	struct store_index *index;
	uint64_t rev, durable;
	/* history: event[(first + i) % cap] has revision first_rev + i. */
	struct store_change_event *event;
	size_t first, nevents, cap, keep;
	uint64_t first_rev;
	struct list commits, watches;
	bool broken;
	struct err why;
};

void store_base_init(struct store *s, const struct store_ops *ops, struct loop_group *g,
		     size_t history);
void store_base_done(struct store *s);

/* Loading, before anything else: the history begins behind `oldest`; then each change that is still
 * known, in order of revision, those of the history without a gap.  value NULL: a deletion. */
void store_load_begin(struct store *s, uint64_t oldest);
int store_load(struct store *s, uint64_t rev, uint64_t create_rev, const char *key,
	       const char *value, size_t value_len, struct err *e)
	__attribute__((warn_unused_result));
void store_load_end(struct store *s);

/* An event of the history; it stays there at least until it is durable. */
const struct store_change_event *store_event_at(const struct store *s, uint64_t rev);

/* All changes up to rev are on the disk; or (e) nothing more ever will be: what is not durable is
 * undone, and rev does not matter. */
void store_durable(struct store *s, uint64_t rev, const struct err *e);

#endif
