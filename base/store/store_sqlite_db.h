#ifndef BASE_STORE_STORE_SQLITE_DB_H
#define BASE_STORE_STORE_SQLITE_DB_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/own.h"

/*
 * store_sqlite_db: the folder of store_sqlite, and the database in it. Blocks. One thread at a
 * time, which need not always be the same.
 *
 *   FOLDER/lock		held with flock() by the process that uses it, whose pid it names
 *   FOLDER/store.db		SQLite, with store.db-wal; readable by its owner only (it holds Secrets)
 *
 *   version (rev, create_rev, key, value, sum)	a change each; value NULL: the key was
 *   						deleted; sum: over the rest
 *   history (oldest)				versions after this revision are complete
 *
 * A version goes when the event that replaced it leaves the history, a deletion with its own event.
 * So up to `oldest` there is one version of each key that was there then, or is the value before an
 * event of the history.
 * Tests: tests/unit/base/store/test_store_sqlite.c, tests/unit/base/store/test_store_faults.c
 */
struct store_db;
struct store;

/* Makes the folder (but not its parents) and the database when they are absent.  Errors as in
 * store_sqlite.h; a damaged file is ERR_INVALID. */
struct store_db *store_db_open(const char *folder, struct err *e);
void store_db_free(struct store_db *d);
DEFINE_OWN(store_db)

/* Everything into s, by store_load().  A file that is damaged is left as it is. */
int store_db_load(struct store_db *d, struct store *s, struct err *e)
	__attribute__((warn_unused_result));

struct store_db_row {
	uint64_t rev, create_rev;
	/* value NULL: deleted */
	const char *key, *value;
	size_t value_len;
};
struct store_db_batch {
	const struct store_db_row *row;
	size_t nrows;
	/* revisions whose versions go */
	const uint64_t *gone;
	size_t ngone;
	/* with ngone only */
	uint64_t oldest;
};

/* All of it is on the disk, or an error; after one, do not write again. */
int store_db_write(struct store_db *d, const struct store_db_batch *b, struct err *e)
	__attribute__((warn_unused_result));

#endif
