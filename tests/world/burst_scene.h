#ifndef TESTS_WORLD_BURST_SCENE_H
#define TESTS_WORLD_BURST_SCENE_H

#include "tests/world/sky.h"
#include "tests/world/world.h"

/*
 * burst_scene: a world without own machines, and BurstPolicy "research" in mode Enforce for team-a.
 * The policy has a queue wait of one minute, market OnDemand, a limit of 20 USD an hour, ten
 * minutes of boot and one hour of minimum work. So each instance commits 23.333334 USD. The pool
 * has no node limit.
 */
struct burst_scene {
	struct sim_world w;
	struct sky sky;
};

void burst_policy(struct sim_world *w, const char *zones, const char *amount);
/* Starts the scene. amount: the policy's budget for a day in USD, also for the check of S6
 * (burst_rule.h). */
struct burst_scene *burst_start(uint64_t seed, const char *amount);
struct burst_scene *burst_start_in(uint64_t seed, const char *zones, const char *amount);
void burst_stop(struct burst_scene *s);

/* Creates a pod of team-a that belongs to Job "train", with these annotations. Takes ownership of
 * notes. */
void burst_job_pod(struct sim_world *w, const char *name, json_t *notes);
/* Creates a pod of team-a. */
void burst_pod(struct burst_scene *s, const char *name);
/* Creates a pod that no instance suits. The burst decision does not check the labels that a pod
 * requires; the plan does. */
void burst_unfit_pod(struct burst_scene *s, const char *name);
/* Waits until the pod runs. */
void burst_running(struct burst_scene *s, const char *name);
void burst_gone(struct burst_scene *s, const char *name);

/* Waits until no instance, Machine or claim is left. */
void burst_nothing_left(struct burst_scene *s);
void burst_another_leads(struct burst_scene *s);
const struct fake_instance *burst_newest(const struct burst_scene *s);
/* Returns what the policy's ledger records as the cost of ended launches, in millionths. */
int64_t burst_settled(struct sim_world *w);
/* True if a NodeClaim exists (arg: the scene). For world_wait(). */
bool burst_is_claimed(void *arg);
bool burst_was_launched(void *arg);

#endif
