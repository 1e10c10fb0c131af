#ifndef BASE_STORE_STORE_H
#define BASE_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/loop/loop.h"
#include "base/own.h"

/*
 * store: versioned keys with a watch history, for the embedded API server.
 *
 * One revision counter for the whole store, rising by one with each change.
 * Keys are paths ("pods/ns/name"), values are text.  A transaction is applied
 * at once or not at all; its commit completes by defer, in order, on every
 * implementation.  Reads see what has been applied.
 */
struct store;

struct store_entry {
	const char *key, *value;
	size_t value_len;
	/* of the last change */
	uint64_t rev;
	uint64_t create_rev;
};

enum store_event_type { STORE_PUT, STORE_DELETE };
struct store_event {
	enum store_event_type type;
	/* of a delete: the last value, with the delete's revision */
	struct store_entry entry;
	/* STORE_PUT of a key that was not there */
	bool created;
	/* what was there before, NULL if nothing or no longer known */
	const char *prev_value;
};

void store_free(struct store *s);
DEFINE_OWN(store)

uint64_t store_rev(const struct store *s);
/* Is every change up to this revision durable? Always, once the disk has failed: what is not was
 * undone. */
bool store_is_durable(const struct store *s, uint64_t rev);
/* Oldest revision from which history is still complete. */
uint64_t store_oldest(const struct store *s);

/* False: no such key.  The entry is valid until the next change. */
bool store_get(struct store *s, const char *key, struct store_entry *out);
/* Keys with the prefix, in order, after `after` (NULL: from the start), at most limit (0: all).
 * fn returns false to stop. */
void store_list(struct store *s, const char *prefix, const char *after, size_t limit,
		bool (*fn)(const struct store_entry *e, void *arg), void *arg);
size_t store_count(struct store *s, const char *prefix);

struct store_change {
	const char *key;
	/* NULL: delete */
	const char *value;
	size_t value_len;
	/* -1: whatever; 0: must not exist; else must be at this revision */
	int64_t if_rev;
};
/* All or nothing; ERR_CONFLICT names the key. Each key once; deleting what is not there changes
 * nothing. *rev: the revision of the last change; each change has its own. done (may be NULL) is
 * called by defer once it is durable, e NULL, or with the error of the disk; store_free() calls
 * what is left with ERR_UNAVAILABLE. With n 0, done says that all that could be read at the call is
 * durable. */
int store_commit(struct store *s, const struct store_change *c, size_t n, uint64_t *rev,
		 void (*done)(const struct err *e, void *arg), void *arg, struct err *e)
	__attribute__((warn_unused_result));

/* Events of keys with the prefix after revision `since`, in order, delivered by defer after the
 * commit is durable.  ERR_NOT_FOUND code 410 when since is older than the history. */
struct store_watch;
struct store_watch *store_watch(struct store *s, struct loop_group *g, const char *prefix,
				uint64_t since, void (*fn)(const struct store_event *ev, void *arg),
				void *arg, struct err *e);
void store_watch_free(struct store_watch *w);
/* Every event up to this revision was delivered, or is not under the prefix. */
uint64_t store_watch_seen(const struct store_watch *w);

/* In memory; keeps `history` events. */
struct store *store_mem_new(struct loop_group *g, size_t history);

#endif
