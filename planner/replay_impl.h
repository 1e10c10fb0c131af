#ifndef PLANNER_REPLAY_IMPL_H
#define PLANNER_REPLAY_IMPL_H

#include "base/map.h"
#include "planner/planning.h"
#include "planner/replay.h"
#include "planner/world_impl.h"

/*
 * replay_impl: what one replay_run() works with; replay_begin.c reads it from the world,
 * replay_slots.c keeps it, replay.c runs it.
 * Tests: tests/unit/planner/test_replay.c
 */
#define REPLAY_OURS "@" /* the namespace of pods of jobs, and how names begin */
#define REPLAY_NOWHERE UINT32_MAX

enum replay_what { POD_ENDS, JOB_ENDS, NODE_READY, NODE_IDLE, MACHINE_FREE };
struct replay_event {
	int64_t at;
	/* of equal times the earlier made */
	uint64_t seq;
	enum replay_what what;
	uint32_t it, gen;
};

enum replay_slot_state { SLOT_FREE, SLOT_COMING, SLOT_NODE, SLOT_LEAVING, SLOT_OUT };
struct replay_slot {
	/* as it is when it is free */
	struct world_machine m;
	const struct world_instance_type *type;
	double gpus;
	enum replay_slot_state state;
	/* of claim; NULL: none */
	struct arena *arena;
	struct world_claim claim;
	/* NULL: it has no Node */
	const char *tenant, *node;
	/* of jobs, of the world's own */
	uint32_t pods, pinned;
	/* of its idle event */
	uint32_t gen;
	/* the last plan that put a pod there */
	size_t wanted;
};

/* Jobs of one tenant, as they came. */
struct replay_line {
	uint32_t *v;
	/* shown: of them the planner knows */
	size_t n, cap, shown;
	/* pods of those */
	size_t waiting;
};

struct replaying {
	const struct replay_spec *s;
	struct replay *out;
	struct world *w;
	struct replay_slot *slots;
	uint32_t nslots;
	/* name -> struct replay_slot */
	struct map *by_machine;
	/* of the beginning: name, "TENANT/NAME" -> struct replay_slot */
	struct map *by_claim, *by_node;
	/* tenant -> struct replay_line */
	struct map *lines;
	/* of jobs, by time */
	uint32_t *order;
	/* job -> its first pod; one more at the end */
	uint32_t *first;
	/* pod -> job; slot, or NOWHERE */
	uint32_t *owner, *place;
	/* job -> pods that have not started; that have ended */
	uint32_t *left, *ended;
	/* job -> pods for which the plan at hand has a Node */
	uint32_t *ready;
	struct replay_event *heap;
	size_t nheap, cap;
	uint64_t seq;
	/* when the last plan was */
	int64_t now, planned;
	/* jobs, in order */
	size_t come;
	/* its number */
	size_t plan;
	bool dirty;
	double used, serving, waiting, queue;
	/* pods that wait, the world's own */
	size_t foreign;
};

double replay_gpus(const struct resources *r);
void replay_push(struct replaying *r, int64_t after_ms, enum replay_what what, uint32_t it,
		 uint32_t gen);
/* The next; there is one. */
struct replay_event replay_pop(struct replaying *r);
/* Nobody is on it: it is given back in time, unless somebody comes. */
void replay_rests(struct replaying *r, struct replay_slot *s);
/* Deep: what it is given goes away. */
void replay_set_claim(struct replay_slot *s, const struct world_claim *c);
struct replay_slot *replay_of_node(const struct replaying *r, const char *tenant, const char *node);

/* Machines, claims, Nodes and pods of the world, and the jobs. a: for the result; tmp: for the
 * run. */
void replay_begin(struct replaying *r, struct arena *a, struct arena *tmp);

#endif
