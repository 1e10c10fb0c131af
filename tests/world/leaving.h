#ifndef TESTS_WORLD_LEAVING_H
#define TESTS_WORLD_LEAVING_H

#include "tests/world/world.h"

/*
 * leaving: helpers of tests in which machines leave their tenant. The tenant is team-a, its pod is
 * "train", and leaving_wait_target() reads the Drain "fans".
 */
void leaving_wait_at(struct server *b, const char *path, const char *text, int64_t limit_s);
void leaving_wait_gone(struct sim_world *w, struct cluster *p, const char *key, int64_t limit_s);
/* Waits for an event with this reason whose message contains text. */
void leaving_wait_event(struct sim_world *w, struct cluster *p, const char *reason,
			const char *text);
bool leaving_was_told(struct cluster *p, const char *reason, const char *text);
/* Waits 5 s, then returns the number of events with this reason. */
unsigned leaving_events(struct sim_world *w, const char *reason);
/* True if the object exists. what: its kind as in store keys, e.g. "nodes". */
bool leaving_has(struct cluster *p, const char *what, const char *name);
/* Returns "STATUS REASON" of the claim's condition; "": the condition does not exist. */
const char *leaving_condition(struct sim_world *w, struct arena *a, const char *claim,
			      const char *type);
/* leaving_debts() returns the number of pending cleanups of team-a (status.debts).
 * leaving_is_owed() is true if there are any, leaving_is_quits() if there are none (arg: the
 * world). */
size_t leaving_debts(struct sim_world *w);
bool leaving_is_owed(void *arg);
bool leaving_is_quits(void *arg);
/* True if the server's Node has drover's draining taint (leaving_is_marked()), is cordoned by any
 * writer (leaving_is_cordoned()), or is neither (leaving_is_clear(), arg: the server). */
bool leaving_is_marked(const struct server *b);
bool leaving_is_cordoned(const struct server *b);
bool leaving_is_clear(void *arg);
void leaving_patch_pod(struct sim_world *w, const char *name, json_t *patch);
void leaving_patch_node(struct server *b, const char *sub, json_t *patch);
void leaving_cordon(struct server *b, bool on);
/* Creates a disruption budget that allows no disruption of the pod, and labels the pod for it. */
void leaving_budget(struct sim_world *w, const char *pod);
void leaving_lift_budget(struct sim_world *w);
/* Creates a Drain for one machine. deadline_s: seconds from now; 0: no deadline. more: further
 * members of spec, in YAML. */
void leaving_drain_of(struct sim_world *w, const char *name, const char *machine,
		      int64_t deadline_s, const char *more);
void leaving_drain(struct sim_world *w, const char *name, int64_t deadline_s, const char *more);
void leaving_cancel(struct sim_world *w, const char *name);
/* Sets the annotation with which `drover release` releases a machine. */
void leaving_release(struct server *b, const char *value);
/* Creates a pod without GPUs that is bound to the machine's node. */
void leaving_small_pod(struct server *b, const char *name);
void leaving_set_pool(struct sim_world *w, json_t *spec);
/* Waits until the Drain "fans" reports this phase for its first machine. */
void leaving_wait_target(struct sim_world *w, const char *phase);
/* Starts a world with one machine, which serves a pod of team-a. */
struct server *leaving_serving(struct sim_world *w, uint64_t seed);
/* Like leaving_serving(), but the kubelet renews its Lease. Returns once the claim's status is up
 * to date. */
void leaving_alive(struct sim_world *w, uint64_t seed);
/* Deletes the pod "train" and the claim of the first machine. */
void leaving_begin(struct sim_world *w);
/* Takes the machine from free through a pod of team-a and back to free, and checks that no object
 * is left over. */
void leaving_go_round(struct server *b);
bool leaving_runs_still(const struct sim_world *w);

#endif
