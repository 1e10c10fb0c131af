#ifndef TESTS_WORLD_REASON_RULE_H
#define TESTS_WORLD_REASON_RULE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * reason_rule: no text repeats the reason that stands beside it. Looks at every object of all
 * clusters: events, conditions, errors, quarantines.
 */
struct sim_world;
/* false: why not */
bool reason_rule_look(const struct sim_world *w, char *why, size_t size);

#endif
