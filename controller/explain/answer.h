#ifndef CONTROLLER_EXPLAIN_ANSWER_H
#define CONTROLLER_EXPLAIN_ANSWER_H

#include "api/kinds.h"

/*
 * answer: helpers that write the members of an explanation (variable `answer`), which is the JSON
 * object that controller/explain/explain.h describes. Unknown and empty values are left out.
 * Tests: tests/unit/cli/test_explain.c, tests/unit/cli/test_why.c
 */
void answer_put(json_t *o, const char *key, const char *text);
/* Sets member key to ms (wall ms) as RFC 3339; sets nothing if ms is 0. */
void answer_time(json_t *o, const char *key, int64_t ms);
/* Sets member key to {reason, message, time}; sets nothing if reason is empty. time: wall ms. */
void answer_error(json_t *o, const char *key, const char *reason, const char *message,
		  int64_t time);
void answer_conditions(json_t *o, const struct conditions *cs);
/* Returns the condition of this type among those that answer_conditions() wrote, if its status is
 * False; else NULL. */
const json_t *answer_false_condition(const json_t *o, const char *type);
/* Returns "Ready" or "NotReady", from condition Ready; "New" if cs has no condition Ready yet. */
const char *answer_ready(const struct conditions *cs);

/* Adds a text that tells what the operator can do to the list `helps` of o, unless the list has the
 * same text. Every %s in format is replaced by name. */
void answer_help(json_t *o, const char *format, const char *name);
/* Adds to `helps` what the operator can do about reason, from api/reasons.def. Adds nothing for an
 * unknown reason. name: name of the machine. */
void answer_help_with(json_t *o, const char *reason, const char *name);
void answer_help_unpause(json_t *o, enum object_kind_id kind, const char *name);
/* If condition Valid is False, adds to `helps` how to correct the invalid spec of the object. */
void answer_help_valid(json_t *o, enum object_kind_id kind, const struct conditions *cs,
		       const char *name);

/* Returns the commands of drover in the list `helps` of o that can be run unchanged, as an array of
 * strings that the caller owns: each with its operand and options, without the text around it.
 * Commands in which a word in capital letters, such as MACHINE, stands for a value are left out. */
json_t *answer_commands(const json_t *o);
/* Returns the first of answer_commands(), allocated in a; NULL: none. */
const char *answer_command(const json_t *o, struct arena *a);

/* Returns s in single quotes, so that a shell reads it as one word. Control characters become
 * spaces. Allocated in a. */
const char *answer_quoted(const char *s, struct arena *a);

#endif
