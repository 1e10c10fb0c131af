#ifndef CLI_STUCK_H
#define CLI_STUCK_H

#include "api/kinds.h"

/*
 * stuck: decides whether a drover object needs help, and from whom, from its explanation
 * (controller/explain/explain.h). `drover why` without a name lists the objects that need help;
 * `drover check` reports which parts of an installation these objects affect.
 * Tests: tests/unit/cli/test_why.c
 */
enum need { NEED_OPERATOR, NEED_LATE, NEED_SLOW, NEED_WAITS, NEED_HELD, NEEDS, NEED_NONE = NEEDS };

/* Returns the name of a need in JSON ("Person"). need < NEEDS. */
const char *stuck_need_name(enum need need);
/* Returns the escape sequence that colours texts about objects with this need; "": none. need <
 * NEEDS. */
const char *stuck_need_colour(enum need need);

/* Returns what an object needs. answer: its explanation, with member kind. now: wall ms. */
enum need stuck_need(const json_t *answer, int64_t now);

/* Returns a row for an object that needs help, owned by the caller, and sets *need. The row has the
 * members object (TYPE/NAME), state, since, reason, message, waitingFor, nextTry, helps and
 * command, as far as known. command: the command that helps, to be run unchanged. NULL: the object
 * needs nothing. o: the object as the API returns it. now: wall ms. */
json_t *stuck_row(enum object_kind_id kind, const json_t *o, int64_t now, enum need *need);

#endif
