#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "api/kinds.h"

/*
 * answer: writes members of the JSON answers of cli/explain.h. Unknown and empty values are left
 * out.
 * Tests: tests/unit/cli/test_explain.c, tests/unit/cli/test_why.c
 */
void answer_put(json_t *o, const char *key, const char *text);
/* Writes ms (wall ms) as RFC 3339; 0 writes nothing. */
void answer_time(json_t *o, const char *key, int64_t ms);
/* Writes {reason, message, time} as key; writes nothing if reason is empty. time: wall ms. */
void answer_error(json_t *o, const char *key, const char *reason, const char *message,
		  int64_t time);
void answer_conditions(json_t *o, const struct conditions *cs);
/* Returns "Ready" or "NotReady" from condition Ready; "New" if there is no such condition yet. */
const char *answer_ready(const struct conditions *cs);

/* Adds a remedy to the list `helps`, unless the list has the same text. Every %s in format is
 * replaced by name. */
void answer_help(json_t *o, const char *format, const char *name);
/* Adds the remedy of reason from api/reasons.def; adds nothing for an unknown reason. */
void answer_help_with(json_t *o, const char *reason, const char *name);
void answer_help_unpause(json_t *o, enum object_kind_id kind, const char *name);
/* Adds the remedy for an invalid spec, if condition Valid is False. */
void answer_help_valid(json_t *o, enum object_kind_id kind, const struct conditions *cs,
		       const char *name);

#endif
