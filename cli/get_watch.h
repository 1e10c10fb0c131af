#ifndef CLI_GET_WATCH_H
#define CLI_GET_WATCH_H

#include "cli/verbs.h"

/*
 * get_watch: `drover get -w`. Prints the table, then a row whenever a column of an object changes.
 * A change that no column shows makes no row; ages do not count.
 * Tests: tests/unit/cli/test_get_watch.c
 */
struct get_watch;

/* Watches the objects of one kind: the one with this name, or if name is NULL those that match
 * look->selector (NULL: all). */
struct get_watch *get_watch_new(struct cli_client *c, const struct cli_look *look,
				enum object_kind_id kind, const char *name);
void get_watch_free(struct get_watch *w);
DEFINE_OWN(get_watch)

/* Returns why the watch could not start; the loop has been stopped and the watch will not start
 * later. NULL: the watch runs; an interruption is printed and the watch reconnects. */
const struct err *get_watch_failed(const struct get_watch *w);

#endif
