#ifndef TESTS_WORLD_WARMING_H
#define TESTS_WORLD_WARMING_H

#include "tests/world/world.h"

/* warming: what tests of machines that are kept on for the next claim do and ask. */
#define WARMING_POOLS "/apis/" OBJECT_API_VERSION "/nodepools"

/* spec.warm.nodes of a pool. */
void warming_want(struct sim_world *w, const char *pool, int nodes);
/* Free, kept for a pool, on in the provisioning network with its agent. */
bool warming_is_warm(const struct server *b);
unsigned warming_count(const struct sim_world *w);
struct server *warming_one(struct sim_world *w);
/* Exactly so many are warm; so many are free and off, and nothing of it is left. */
void warming_wait(struct sim_world *w, unsigned n, int64_t limit_s);
void warming_wait_off(struct sim_world *w, unsigned n, int64_t limit_s);
/* It comes up to be kept (arg: the server). */
bool warming_boots(void *arg);
/* From the pod "train" of team-a on, until its machine writes the image: how long that took, in
 * ms. */
int64_t warming_to_imaging(struct sim_world *w, struct server **of);
/* The agent's process is gone, the machine stays on. */
void warming_kill_agent(struct server *b);

#endif
