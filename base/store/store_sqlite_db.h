#ifndef BASE_STORE_STORE_SQLITE_DB_H
#define BASE_STORE_STORE_SQLITE_DB_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/own.h"

/*
 * store_sqlite_db: the folder of store_sqlite and the database in it. The functions block. Any
 * thread may call them, but only one at a time.
 *
 *   FOLDER/lock       locked with flock() by the process that uses the folder; contains its pid
 *   FOLDER/store.db   SQLite, with store.db-wal; readable by its owner only (it contains Secrets)
 *
 *   version (rev, create_rev, key, value, sum)   one change each; value NULL: the key was deleted;
 *                                                sum: checksum of the other columns
 *   history (oldest)                             versions after this revision are complete
 *
 * A version is deleted when the event that replaced it leaves the history. The version of a
 * deletion is deleted when its own event leaves the history. So up to the revision `oldest`, the
 * table has at most one version of each key: the last one, if the key existed then or an event in
 * the history refers to that version as its previous value.
 * Tests: tests/unit/base/store/test_store_sqlite.c, tests/unit/base/store/test_store_faults.c
 */
struct store_db;
struct store;

/* Opens the database in folder; creates the database and the folder (but not the folder's parents)
 * if they are missing. Fails with the errors listed in store_sqlite.h. */
struct store_db *store_db_open(const char *folder, struct err *e);
void store_db_free(struct store_db *d);
DEFINE_OWN(store_db)

/* Loads the whole database into s by store_load(). Does not modify a damaged file. */
int store_db_load(struct store_db *d, struct store *s, struct err *e)
	__attribute__((warn_unused_result));

struct store_db_row {
	uint64_t rev, create_rev;
	/* Key and value; value NULL: the key was deleted. */
	const char *key, *value;
	size_t value_len;
};
struct store_db_batch {
	const struct store_db_row *row;
	size_t nrows;
	/* Revisions of the versions to delete. */
	const uint64_t *gone;
	size_t ngone;
	/* New value of history.oldest; used only if ngone > 0. */
	uint64_t oldest;
};

/* Writes the whole batch to disk, or fails. After a failure the caller must not call it again. */
int store_db_write(struct store_db *d, const struct store_db_batch *b, struct err *e)
	__attribute__((warn_unused_result));

#endif
