#ifndef CLI_GET_WATCH_H
#define CLI_GET_WATCH_H

#include "cli/verbs.h"

/*
 * get_watch: `drover get -w`. Prints the table, then a new row for an object whenever one of the
 * printed columns of the object changes. Growing ages do not count as changes.
 * Tests: tests/unit/cli/test_get_watch.c
 */
struct get_watch;

/* Starts to watch objects of one kind and prints them: the object with this name, or, if name is
 * NULL, those that match look->selector (NULL: all). */
struct get_watch *get_watch_new(struct cli_client *c, const struct cli_get_options *opts,
				enum object_kind_id kind, const char *name);
void get_watch_free(struct get_watch *w);
DEFINE_OWN(get_watch)

/* Returns the error if the watch could not start; get_watch has then stopped the loop and does not
 * try again. NULL: the watch runs; it reports an interruption and reconnects by itself. */
const struct err *get_watch_failed(const struct get_watch *w);

#endif
