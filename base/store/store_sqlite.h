#ifndef BASE_STORE_STORE_SQLITE_H
#define BASE_STORE_STORE_SQLITE_H

#include "base/store/store.h"

/*
 * store_sqlite: the store on disk: SQLite in WAL mode with synchronous=FULL, one write at a time by
 * loop_work().  Reads come from memory, which is loaded at the start; a commit is applied in memory
 * at once and is durable when its done() is called.  All commits that wait go to the disk in one
 * transaction.  History (for watches) is kept on disk too, as far as `history`, so that watches go
 * on over a restart, and revisions go on where they were.
 *
 * What a crash or kill -9 can take is what was not yet acknowledged.  A reader may have seen such a
 * change, and a later one then has its revision; one that must not waits for an empty commit.
 *
 * A disk error ends it: that commit and all later ones fail with the disk's text, what is not
 * durable is undone in memory, reads go on; nothing that was acknowledged is lost.
 *
 * store_free() waits for a write under way, at most one transaction.
 */

/* Makes the folder, but not its parents.  Nothing is changed when it fails:
 * ERR_CONFLICT	   another process has the folder; its pid is named
 * ERR_UNSUPPORTED  the database has a newer schema; both versions are named
 * ERR_INVALID	   the file is damaged, or another program's; it is named
 * ERR_DENIED, ERR_CAPACITY and so on: the folder cannot be written, or the disk is full. */
struct store *store_sqlite_new(struct loop_group *g, const char *folder, size_t history,
			       struct err *e);

#endif
