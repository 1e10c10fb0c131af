#ifndef CLI_STUCK_H
#define CLI_STUCK_H

#include "api/kinds.h"

/*
 * stuck: decides what a drover object needs, and from whom, with the texts of cli/explain.h.
 * `drover why` without a name lists these needs; `drover check` reports the parts of an
 * installation that they affect.
 * Tests: tests/unit/cli/test_why.c
 */
enum need { NEED_PERSON, NEED_LATE, NEED_SLOW, NEED_WAITS, NEED_HELD, NEEDS, NEED_NONE = NEEDS };

/* Returns the row of an object in need: object (TYPE/NAME), state, since, reason, message,
 * waitingFor, nextTry and helps, as far as known; NULL: the object needs nothing. o: the object as
 * the API returns it. now: wall ms. */
json_t *stuck_row(enum object_kind_id kind, const json_t *o, int64_t now, enum need *need);

#endif
