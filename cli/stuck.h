#ifndef CLI_STUCK_H
#define CLI_STUCK_H

#include "cli/screen.h"
#include "controller/explain/need.h"

/*
 * stuck: the row of an object that needs help (controller/explain/need.h). `drover why` without a
 * name lists these rows; `drover check` reports which parts of an installation these objects
 * affect.
 * Tests: tests/unit/cli/test_why.c, tests/unit/cli/test_stuck.c
 */

/* Returns the look of texts about objects with this need. need < NEEDS. */
enum screen_look stuck_need_look(enum need need);

/* Returns a row for an object that needs help, owned by the caller, and sets *need. The row has the
 * members object (TYPE/NAME), state, since, reason, message, waitingFor, nextTry, helps and
 * command, as far as known. command: the command that helps, to be run unchanged. NULL: the object
 * needs nothing. o: the object as the API returns it. now: wall ms. */
json_t *stuck_row(enum object_kind_id kind, const json_t *o, int64_t now, enum need *need);

#endif
