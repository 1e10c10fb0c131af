#ifndef BASE_STORE_SQLITE_H
#define BASE_STORE_SQLITE_H

#include "base/store.h"

/*
 * store_sqlite: the store on disk: SQLite in WAL mode, one writer thread.  Reads come from
 * memory, which is loaded at the start; a commit is applied in memory at once and is durable when its
 * done() is called, several of them in one transaction of the disk.  History (for watches) is kept on disk too, as far as
 * `history`, so that watches go on over a restart.
 *
 * A folder belongs to one process: a second one gets ERR_CONFLICT that names the first one's pid.
 * A disk error ends it: that commit and all later ones fail with the disk's text, reads go on (the
 * server then answers 500 to writes); nothing that was acknowledged is lost.
 * A database of a newer schema: ERR_UNSUPPORTED, naming both versions; nothing is changed.  A folder that cannot be
 * written, or is full: an error that names it.
 */
struct store *store_sqlite_new(struct loop_group *g, const char *folder, size_t history,
			       struct err *e);

#endif
