#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "api/kinds.h"

/*
 * answer: members of the JSON that cli/explain.h gives.  What is unknown or empty is left out.
 * Tests: tests/unit/cli/test_explain.c, tests/unit/cli/test_why.c
 */
void answer_put(json_t *o, const char *key, const char *text);
/* RFC 3339 */
void answer_time(json_t *o, const char *key, int64_t ms);
/* {reason, message, time}, if there is a reason. */
void answer_error(json_t *o, const char *key, const char *reason, const char *message,
		  int64_t time);
void answer_conditions(json_t *o, const struct conditions *cs);
/* "Ready", "NotReady", or "New" before anybody said. */
const char *answer_ready(const struct conditions *cs);

/* To the list of what helps, each once; format: any number of %s, each of which is the name. */
void answer_help(json_t *o, const char *format, const char *name);
/* as api/reasons.def says */
void answer_help_with(json_t *o, const char *reason, const char *name);
void answer_help_unpause(json_t *o, enum object_kind_id kind, const char *name);
/* If its condition Valid is False. */
void answer_help_valid(json_t *o, enum object_kind_id kind, const struct conditions *cs,
		       const char *name);

#endif
