#ifndef BASE_STORE_STORE_SQLITE_H
#define BASE_STORE_STORE_SQLITE_H

#include "base/store/store.h"

/*
 * store_sqlite: the store on disk: SQLite in WAL mode with synchronous=FULL, one write at a time by
 * loop_work(). Reads come from memory, which is loaded at the start. A commit is applied in memory
 * at once and is durable when its done() is called. All commits that wait go to the disk in one
 * transaction. The last `history` events are stored on disk too, so that after a restart watches
 * continue, and revisions continue where they were.
 *
 * A crash or kill -9 can lose only changes whose done() was not called yet. A reader may have seen
 * such a change, and after the restart a different change may get the same revision. A reader that
 * must not see a change that can be lost must wait for an empty commit.
 *
 * After a disk error the commit and all later ones fail with the disk's error, and changes that are
 * not durable are undone in memory. Reads continue; no change whose done() reported success is
 * lost.
 *
 * store_free() waits for a write in progress, at most one transaction.
 */

/* Opens or creates the store in folder; creates the folder, but not its parents. Changes nothing if
 * it fails:
 *
 *   ERR_CONFLICT     another process uses the folder; the error names its pid
 *   ERR_UNSUPPORTED  the database has a newer schema; the error names both versions
 *   ERR_INVALID      the file is damaged, or another program's; the error names it
 *   ERR_DENIED, ERR_CAPACITY and so on: the folder cannot be written, or the disk is full */
struct store *store_sqlite_new(struct loop_group *g, const char *folder, size_t history,
			       struct err *e);

#endif
