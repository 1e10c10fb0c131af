#ifndef TESTS_WORLD_GANG_RULE_H
#define TESTS_WORLD_GANG_RULE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * gang_rule: invariant S5 in the simulated world. A gang starts whole or not at all: machines for
 * only a part of a gang are not claimed for long.
 *
 * A gang consists of the pods with the same annotation drover.dev/gang; drover.dev/gang-size is its
 * size. A pod has a machine if a claim names the pod or the pod is bound to a node. Once all pods
 * of a gang have had machines, the gang has begun, and the rule no longer covers losses.
 */
struct gang_seen {
	char name[120];
	/* loop_now() since when only a part of the gang has machines; 0: all pods or none have
	 * machines. */
	int64_t in_part_since;
	bool begun;
};
struct gang_rule {
	struct gang_seen v[16];
	unsigned n;
	/* loop_now() of the last check. */
	int64_t looked_at;
};
struct sim_world;

/* Longest time in ms during which only a part of a gang may have claims. The claims of a gang are
 * written one after the other, and leaders may die between two of them. */
#define GANG_RULE_LIMIT_MS (5 * 60 * 1000)
/* Checks S5, at most once a second. False: `why` names the gang of which only a part has
 * machines. */
bool gang_rule_look(struct sim_world *w, char why[static 200]);

#endif
