#ifndef TESTS_WORLD_BURST_SCENE_H
#define TESTS_WORLD_BURST_SCENE_H

#include "tests/world/sky.h"
#include "tests/world/world.h"

/*
 * burst_scene: a world without machines, and a policy "research" of mode Enforce for team-a: a
 * minute's wait, OnDemand, 20 USD an hour, ten minutes of boot and an hour of work: 23.333334 for
 * each instance. The pool has no limit of nodes.
 */
struct burst_scene {
	struct sim_world w;
	struct sky sky;
};

void burst_policy(struct sim_world *w, const char *zones, const char *amount);
/* amount: of the policy for a day, in USD; S6 looks at it. */
struct burst_scene *burst_start(uint64_t seed, const char *amount);
struct burst_scene *burst_start_in(uint64_t seed, const char *zones, const char *amount);
void burst_stop(struct burst_scene *s);

/* Of team-a. */
void burst_pod(struct burst_scene *s, const char *name);
/* waits for it */
void burst_running(struct burst_scene *s, const char *name);
void burst_gone(struct burst_scene *s, const char *name);

/* waits for the end of instances, Machines and claims */
void burst_nothing_left(struct burst_scene *s);
void burst_another_leads(struct burst_scene *s);
const struct fake_instance *burst_newest(const struct burst_scene *s);
/* what its policy says that ended launches cost, in millionths */
int64_t burst_settled(struct sim_world *w);
/* For world_wait(). */
bool burst_is_claimed(void *arg);
bool burst_was_launched(void *arg);

#endif
