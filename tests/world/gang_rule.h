#ifndef TESTS_WORLD_GANG_RULE_H
#define TESTS_WORLD_GANG_RULE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * gang_rule: S5 in the simulated world: a gang starts whole or not at all; a part of one is not
 * held for long.
 *
 * A gang is what its pods say it is (annotations drover.dev/gang and drover.dev/gang-size), and it
 * is held by the claims that name its pods. One that was whole once has begun: what it loses later
 * is another matter.
 */
struct gang_seen {
	char name[120];
	/* loop_now(); 0: not at all, or whole */
	int64_t in_part_since;
	bool begun;
};
struct gang_rule {
	struct gang_seen v[16];
	unsigned n;
	/* loop_now() */
	int64_t looked_at;
};
struct sim_world;

/* So long claims may be on their way: written one after the other, by leaders that may die between
 * two of them. */
#define GANG_RULE_LIMIT_MS (5 * 60 * 1000)
/* Looks once a second.  False: why says which gang is held in part. */
bool gang_rule_look(struct sim_world *w, char why[static 200]);

#endif
