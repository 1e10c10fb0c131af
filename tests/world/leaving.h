#ifndef TESTS_WORLD_LEAVING_H
#define TESTS_WORLD_LEAVING_H

#include "tests/world/world.h"

/*
 * leaving: what tests of machines that leave their tenant do and ask.  The tenant is team-a, its
 * pod "train", and the Drain whose targets are asked for "fans".
 */
void leaving_wait_at(struct box *b, const char *path, const char *text, int64_t limit_s);
void leaving_wait_gone(struct earth *w, struct plane *p, const char *key, int64_t limit_s);
/* An event with that reason whose text has this in it. */
void leaving_wait_event(struct earth *w, struct plane *p, const char *reason, const char *text);
bool leaving_was_told(struct plane *p, const char *reason, const char *text);
/* How many events have that reason, 5 s from now. */
unsigned leaving_events(struct earth *w, const char *reason);
/* An object of that name is there; what: as the store names its kind. */
bool leaving_has(struct plane *p, const char *what, const char *name);
/* "STATUS REASON" of a claim's condition; "": it has none. */
const char *leaving_condition(struct earth *w, struct arena *a, const char *claim,
			      const char *type);
/* What team-a is owed (arg: the world). */
size_t leaving_debts(struct earth *w);
bool leaving_is_owed(void *arg);
bool leaving_is_quits(void *arg);
/* Of its Node: by the taint of drover, cordoned by whomever, neither (arg: the box). */
bool leaving_is_marked(const struct box *b);
bool leaving_is_cordoned(const struct box *b);
bool leaving_is_clear(void *arg);
void leaving_patch_pod(struct earth *w, const char *name, json_t *patch);
void leaving_patch_node(struct box *b, const char *sub, json_t *patch);
void leaving_cordon(struct box *b, bool on);
/* A budget that allows no disruption of any pod with this label. */
void leaving_budget(struct earth *w, const char *pod);
void leaving_lift_budget(struct earth *w);
/* deadline_s: from now; 0: none.  more: further members of spec, in YAML. */
void leaving_drain_of(struct earth *w, const char *name, const char *machine, int64_t deadline_s,
		      const char *more);
void leaving_drain(struct earth *w, const char *name, int64_t deadline_s, const char *more);
void leaving_cancel(struct earth *w, const char *name);
/* As `drover release` does. */
void leaving_release(struct box *b, const char *value);
/* A pod without GPUs, bound to that machine's node. */
void leaving_small_pod(struct box *b, const char *name);
void leaving_set_pool(struct earth *w, json_t *spec);
/* What the Drain "fans" makes of how its machine is. */
void leaving_wait_target(struct earth *w, const char *phase);
/* One machine that serves a pod of team-a. */
struct box *leaving_serving(struct earth *w, uint64_t seed);
/* The same, whose kubelet renews its lease, once the claim's status has followed. */
void leaving_alive(struct earth *w, uint64_t seed);
/* The pod is deleted, and the claim of the first machine. */
void leaving_begin(struct earth *w);
bool leaving_runs_still(const struct earth *w);

#endif
