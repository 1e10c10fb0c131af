#ifndef TESTS_WORLD_REASON_RULE_H
#define TESTS_WORLD_REASON_RULE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * reason_rule: rules for reasons. No message repeats the reason that is in the field beside it.
 * In worlds with reasons_have_pages each reason of a condition or event that drover wrote is in a
 * list, and so has a page (docs/runbooks).
 * Checks every object of all clusters: events, conditions, errors, quarantines.
 */
struct sim_world;
/* Checks the rules. False: `why` quotes the first message that repeats its reason, or names the
 * first reason without a page. */
bool reason_rule_look(const struct sim_world *w, char *why, size_t size);

#endif
