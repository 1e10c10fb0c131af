#ifndef TESTS_WORLD_REASON_RULE_H
#define TESTS_WORLD_REASON_RULE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * reason_rule: a rule for messages: no message repeats the reason that is in the field beside it.
 * Checks every object of all clusters: events, conditions, errors, quarantines.
 */
struct sim_world;
/* Checks the rule. False: `why` quotes the first message that repeats its reason. */
bool reason_rule_look(const struct sim_world *w, char *why, size_t size);

#endif
