#ifndef TESTS_WORLD_LEAVING_H
#define TESTS_WORLD_LEAVING_H

#include "tests/world/world.h"

/*
 * leaving: what tests of machines that leave their tenant do and ask.  The tenant is team-a, its
 * pod "train", and the Drain whose targets are asked for "fans".
 */
void leaving_wait_at(struct server *b, const char *path, const char *text, int64_t limit_s);
void leaving_wait_gone(struct sim_world *w, struct cluster *p, const char *key, int64_t limit_s);
/* An event with that reason whose text has this in it. */
void leaving_wait_event(struct sim_world *w, struct cluster *p, const char *reason,
			const char *text);
bool leaving_was_told(struct cluster *p, const char *reason, const char *text);
/* How many events have that reason, 5 s from now. */
unsigned leaving_events(struct sim_world *w, const char *reason);
/* An object of that name is there; what: as the store names its kind. */
bool leaving_has(struct cluster *p, const char *what, const char *name);
/* "STATUS REASON" of a claim's condition; "": it has none. */
const char *leaving_condition(struct sim_world *w, struct arena *a, const char *claim,
			      const char *type);
/* What team-a is owed (arg: the world). */
size_t leaving_debts(struct sim_world *w);
bool leaving_is_owed(void *arg);
bool leaving_is_quits(void *arg);
/* Of its Node: by the taint of drover, cordoned by whomever, neither (arg: the server). */
bool leaving_is_marked(const struct server *b);
bool leaving_is_cordoned(const struct server *b);
bool leaving_is_clear(void *arg);
void leaving_patch_pod(struct sim_world *w, const char *name, json_t *patch);
void leaving_patch_node(struct server *b, const char *sub, json_t *patch);
void leaving_cordon(struct server *b, bool on);
/* A budget that allows no disruption of any pod with this label. */
void leaving_budget(struct sim_world *w, const char *pod);
void leaving_lift_budget(struct sim_world *w);
/* deadline_s: from now; 0: none.  more: further members of spec, in YAML. */
void leaving_drain_of(struct sim_world *w, const char *name, const char *machine,
		      int64_t deadline_s, const char *more);
void leaving_drain(struct sim_world *w, const char *name, int64_t deadline_s, const char *more);
void leaving_cancel(struct sim_world *w, const char *name);
/* As `drover release` does. */
void leaving_release(struct server *b, const char *value);
/* A pod without GPUs, bound to that machine's node. */
void leaving_small_pod(struct server *b, const char *name);
void leaving_set_pool(struct sim_world *w, json_t *spec);
/* What the Drain "fans" makes of how its machine is. */
void leaving_wait_target(struct sim_world *w, const char *phase);
/* One machine that serves a pod of team-a. */
struct server *leaving_serving(struct sim_world *w, uint64_t seed);
/* The same, whose kubelet renews its lease, once the claim's status has followed. */
void leaving_alive(struct sim_world *w, uint64_t seed);
/* The pod is deleted, and the claim of the first machine. */
void leaving_begin(struct sim_world *w);
/* From free to free: a pod of team-a runs on it, and nothing of anybody's is left. */
void leaving_go_round(struct server *b);
bool leaving_runs_still(const struct sim_world *w);

#endif
