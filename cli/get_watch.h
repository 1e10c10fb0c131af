#ifndef CLI_GET_WATCH_H
#define CLI_GET_WATCH_H

#include "cli/verbs.h"

/*
 * get_watch: `drover get -w`: the table, then a row for each object that looks another way than
 * before, in the same columns. What changes and shows in no column, ages among it, makes no row.
 * Tests: tests/unit/cli/test_get_watch.c
 */
struct get_watch;

/* Watches the objects of one kind: the one with this name, or if name is NULL those that match
 * look->selector (NULL: all). */
struct get_watch *get_watch_new(struct cli_client *c, const struct cli_look *look,
				enum object_kind_id kind, const char *name);
void get_watch_free(struct get_watch *w);
DEFINE_OWN(get_watch)

/* Why it could not be begun, and never will be; the loop is stopped then. NULL: it goes on; what
 * breaks off is said and begun anew. */
const struct err *get_watch_failed(const struct get_watch *w);

#endif
