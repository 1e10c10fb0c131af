#ifndef CLI_STUCK_H
#define CLI_STUCK_H

#include "api/kinds.h"

/*
 * stuck: what an object of drover's needs, and of whom, in the words of cli/explain.h: `drover why`
 * without a name lists them, `drover check` says which parts of an installation they stop.
 * Tests: tests/unit/cli/test_why.c
 */
enum need { NEED_PERSON, NEED_LATE, NEED_SLOW, NEED_WAITS, NEED_HELD, NEEDS, NEED_NONE = NEEDS };

/* o: as the API has it. object (TYPE/NAME), state, since, reason, message, waitingFor, nextTry and
 * helps, as far as they are known; NULL: it needs nothing. now: wall ms. */
json_t *stuck_row(enum object_kind_id kind, const json_t *o, int64_t now, enum need *need);

#endif
