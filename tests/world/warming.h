#ifndef TESTS_WORLD_WARMING_H
#define TESTS_WORLD_WARMING_H

#include "tests/world/world.h"

/* warming: helpers of tests of warm machines, that is free machines kept on for the next claim. */
#define WARMING_POOLS "/apis/" OBJECT_API_VERSION "/nodepools"

/* Sets spec.warm.nodes of the pool. */
void warming_want(struct sim_world *w, const char *pool, int nodes);
/* True if the machine is free, assigned to a pool as warm, and on in the provisioning segment with
 * its agent. */
bool warming_is_warm(const struct server *b);
unsigned warming_count(const struct sim_world *w);
struct server *warming_one(struct sim_world *w);
/* Waits until exactly n machines are warm (warming_wait()), or until exactly n are free and off
 * without a medium (warming_wait_off()). */
void warming_wait(struct sim_world *w, unsigned n, int64_t limit_s);
void warming_wait_off(struct sim_world *w, unsigned n, int64_t limit_s);
/* True while the machine powers on to become warm (arg: the server). */
bool warming_boots(void *arg);
/* Creates pod "train" of team-a. Returns the ms until a machine is in state imaging for it. *of:
 * that machine. */
int64_t warming_to_imaging(struct sim_world *w, struct server **of);
/* Kills the agent's process; the machine stays on. */
void warming_kill_agent(struct server *b);

#endif
