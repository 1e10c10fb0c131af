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
 * One revision counter for the whole store increases by one with each change. Keys are paths
 * ("pods/ns/name"), values are text. A transaction is applied completely or not at all. In every
 * implementation done() is called from a deferral, in order of the commits. Reads see applied
 * changes at once, before they are durable.
 */
struct store;

struct store_entry {
	const char *key, *value;
	size_t value_len;
	/* Revision of the last change of the key. */
	uint64_t rev;
	uint64_t create_rev;
};

enum store_event_type { STORE_PUT, STORE_DELETE };
struct store_event {
	enum store_event_type type;
	/* The key's new value; for a delete its last value, with the revision of the delete. */
	struct store_entry entry;
	/* True: the key did not exist before (only STORE_PUT). */
	bool created;
	/* The previous value; NULL: there was none, or it is no longer in the history. */
	const char *prev_value;
};

void store_free(struct store *s);
DEFINE_OWN(store)

uint64_t store_rev(const struct store *s);
/* True if every change up to rev is durable. After a disk error the result is always true, because
 * changes that were not durable were undone. */
bool store_is_durable(const struct store *s, uint64_t rev);
/* Returns the oldest revision from which the history is complete. */
uint64_t store_oldest(const struct store *s);

/* Reads a key into *out, which is valid until the next change. False: no such key. */
bool store_get(struct store *s, const char *key, struct store_entry *out);
/* Calls fn for keys that begin with prefix, in order, for at most limit of them (0 means all).
 * Begins with the first key behind `after`; after NULL: with the first key. fn returns false to
 * stop. */
void store_list(struct store *s, const char *prefix, const char *after, size_t limit,
		bool (*fn)(const struct store_entry *e, void *arg), void *arg);
size_t store_count(struct store *s, const char *prefix);

struct store_change {
	const char *key;
	/* New value; NULL: delete the key. */
	const char *value;
	size_t value_len;
	/* Condition for the change. -1: none; 0: the key must not exist; any other value: the key
	 * must have this revision. */
	int64_t if_rev;
};
/* Applies all n changes or none; ERR_CONFLICT names the key whose condition failed. Each key may
 * occur once; deleting a missing key changes nothing. *rev: revision of the last change; each
 * change has its own revision.
 *
 * done() (may be NULL) is called from a deferral: with e NULL once the commit is durable, or with
 * the disk error. store_free() calls each done() that was not called yet, with ERR_UNAVAILABLE. A
 * commit with n 0 changes nothing; its done() is called when everything that was readable at the
 * time of store_commit() is durable. */
int store_commit(struct store *s, const struct store_change *c, size_t n, uint64_t *rev,
		 void (*done)(const struct err *e, void *arg), void *arg, struct err *e)
	__attribute__((warn_unused_result));

/* Watches keys that begin with prefix: calls fn for each event after revision `since`, in order,
 * from deferrals, once the event is durable. NULL with ERR_NOT_FOUND and code 410 if since is older
 * than the history. */
struct store_watch;
struct store_watch *store_watch(struct store *s, struct loop_group *g, const char *prefix,
				uint64_t since, void (*fn)(const struct store_event *ev, void *arg),
				void *arg, struct err *e);
void store_watch_free(struct store_watch *w);
/* Returns the revision up to which every event was delivered or does not concern the watch. */
uint64_t store_watch_seen(const struct store_watch *w);

/* Creates a store in memory whose history has at least the last `history` events. */
struct store *store_mem_new(struct loop_group *g, size_t history);

#endif
