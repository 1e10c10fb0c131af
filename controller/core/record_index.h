#ifndef CONTROLLER_CORE_RECORD_INDEX_H
#define CONTROLLER_CORE_RECORD_INDEX_H

#include "controller/core/context.h"

/*
 * record_index: finds the WipeRecords of one machine without a scan over all WipeRecords. A fleet
 * has several records for each machine, so that a scan for each machine would be quadratic.
 *
 * The owner of the WipeRecord cache (controller/object_changes.c) updates the index before it
 * notifies anyone of a change, and checks it (core/recheck.h). On the loop thread.
 * Tests: tests/unit/controller/core/test_record_index.c
 */
enum record_key {
	/* key: spec.machine.name */
	RECORD_BY_MACHINE,
	/* key: spec.machine.systemUUID, matched in both byte orders */
	RECORD_BY_UUID,
	/* key: spec.machine.serial, also a value that a vendor gives to many machines: the caller
	 * must not ask for such a value */
	RECORD_BY_SERIAL,
	RECORD_KEYS,
};

struct record_index;
struct record_index *record_index_new(void);
void record_index_free(struct record_index *x);

/* Adds WipeRecord `name` to the index, or updates its entry; r NULL: removes the entry. Returns
 * true if the index has changed. */
bool record_index_put(struct record_index *x, const char *name, const struct wipe_record *r);

/* Calls fn for each cached WipeRecord that has `value` as its key of this kind, until fn returns
 * false. */
void record_index_each(const struct context *c, enum record_key key, const char *value,
		       bool (*fn)(const struct wipe_record *r, void *arg), void *arg);

#endif
