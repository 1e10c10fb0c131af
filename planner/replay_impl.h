#ifndef PLANNER_REPLAY_IMPL_H
#define PLANNER_REPLAY_IMPL_H

#include "base/map.h"
#include "planner/planning.h"
#include "planner/replay.h"
#include "planner/world_impl.h"

/*
 * replay_impl: state of one replay_run(). replay_begin.c creates it from the world, replay_slots.c
 * updates it, replay.c runs the simulation.
 * Tests: tests/unit/planner/test_replay.c
 */
/* Namespace of the jobs' pods, and prefix of names that the replay creates. */
#define REPLAY_OURS "@"
#define REPLAY_NOWHERE UINT32_MAX

enum replay_what { POD_ENDS, JOB_ENDS, NODE_READY, NODE_IDLE, MACHINE_FREE };
struct replay_event {
	int64_t at;
	/* Order of creation; orders events of equal time. */
	uint64_t seq;
	enum replay_what what;
	uint32_t it, gen;
};

enum replay_slot_state { SLOT_FREE, SLOT_COMING, SLOT_NODE, SLOT_LEAVING, SLOT_OUT };
struct replay_slot {
	/* The machine as it is when free. */
	struct world_machine m;
	const struct world_instance_type *type;
	double gpus;
	enum replay_slot_state state;
	/* Owns the strings of claim; NULL: no claim. */
	struct arena *arena;
	struct world_claim claim;
	/* node NULL: no Node. */
	const char *tenant, *node;
	/* pods: pods of jobs. pinned: pods of the initial world. */
	uint32_t pods, pinned;
	/* Number of its valid idle event. */
	uint32_t gen;
	/* Number of the last plan that placed a pod on it. */
	size_t wanted;
};

/* Jobs of one tenant, in order of arrival. */
struct replay_line {
	uint32_t *v;
	/* shown: how many of them the planner knows. */
	size_t n, cap, shown;
	/* Waiting pods of the shown jobs. */
	size_t waiting;
};

struct replaying {
	const struct replay_spec *s;
	struct replay *out;
	struct world *w;
	struct replay_slot *slots;
	uint32_t nslots;
	/* Name -> struct replay_slot. */
	struct map *by_machine;
	/* Objects of the initial world: by_claim name, by_node "TENANT/NAME" -> struct
	 * replay_slot. */
	struct map *by_claim, *by_node;
	/* Tenant -> struct replay_line. */
	struct map *lines;
	/* Indexes of jobs, sorted by time. */
	uint32_t *order;
	/* Job -> its first pod; one more entry at the end. */
	uint32_t *first;
	/* Pod -> job (owner); pod -> slot or REPLAY_NOWHERE (place). */
	uint32_t *owner, *place;
	/* Job -> number of pods that have not started (left), that have ended (ended). */
	uint32_t *left, *ended;
	/* Job -> number of pods that the present plan places on Nodes. */
	uint32_t *ready;
	struct replay_event *heap;
	size_t nheap, cap;
	uint64_t seq;
	/* planned: time of the last plan. */
	int64_t now, planned;
	/* Number of jobs that have arrived, in order. */
	size_t come;
	/* Number of the last plan. */
	size_t plan;
	bool dirty;
	double used, serving, waiting, queue;
	/* Number of waiting pods of the initial world. */
	size_t foreign;
};

double replay_gpus(const struct resources *r);
void replay_push(struct replaying *r, int64_t after_ms, enum replay_what what, uint32_t it,
		 uint32_t gen);
/* Returns the next event; the heap must not be empty. */
struct replay_event replay_pop(struct replaying *r);
/* Schedules the return of a slot's Node if no pod is on it; the event is void if a pod comes
 * first. */
void replay_rests(struct replaying *r, struct replay_slot *s);
/* Replaces the slot's claim by a deep copy of c. */
void replay_set_claim(struct replay_slot *s, const struct world_claim *c);
struct replay_slot *replay_of_node(const struct replaying *r, const char *tenant, const char *node);

/* Reads machines, claims, Nodes and pods of the world, and the jobs. a: arena of the result; tmp:
 * arena of the run. */
void replay_begin(struct replaying *r, struct arena *a, struct arena *tmp);

#endif
