#ifndef PLANNER_REPLAY_IMPL_H
#define PLANNER_REPLAY_IMPL_H

#include "base/map.h"
#include "planner/plan.h"
#include "planner/planning.h"
#include "planner/replay/replay.h"

/*
 * replay_impl: state of one replay_run(). Each machine is a slot. begin.c creates the state from
 * the world, slots.c updates slots, pods.c the pods of jobs, clouds.c runs work in clouds,
 * replay.c runs the simulation.
 * Tests: tests/unit/planner/replay/test_replay.c
 */
/* Namespace of the simulated jobs' pods, and prefix of all names that the replay creates. */
#define REPLAY_OURS "@"
#define REPLAY_NOWHERE UINT32_MAX

enum replay_what {
	POD_ENDS,
	JOB_ENDS,
	CLOUDS_LOOK,
	CLOUD_STARTS,
	CLOUD_ENDS,
	/* Events of slots; replay_event.it is the index of the slot. */
	NODE_READY,
	NODE_IDLE,
	MACHINE_FREE
};
struct replay_event {
	int64_t at;
	/* Number of the event in the order of creation; orders events of equal time. */
	uint64_t seq;
	enum replay_what what;
	uint32_t it, gen;
};

enum replay_slot_state { SLOT_FREE, SLOT_COMING, SLOT_NODE, SLOT_LEAVING, SLOT_OUT };
struct replay_slot {
	/* The machine as the world describes it while the machine is free. */
	struct world_machine m;
	const struct world_instance_type *type;
	double gpus;
	enum replay_slot_state state;
	/* Owns the strings of `claim`; NULL: no claim. */
	struct arena *arena;
	struct world_claim claim;
	/* Tenant and name of the slot's Node; node NULL: no Node. */
	const char *tenant, *node;
	/* Number of pods on the Node. pods: pods of simulated jobs. pinned: pods of the initial
	 * world, which never end. */
	uint32_t pods, pinned;
	/* Value of replay_event.gen in the slot's only valid NODE_IDLE event; NODE_IDLE events with
	 * a different gen are ignored. */
	uint32_t gen;
	/* Number of the last plan that placed a pod on the slot. */
	size_t wanted;
};

/* Jobs of one tenant, in order of arrival. v: indexes of the jobs. */
struct replay_line {
	uint32_t *v;
	/* shown: number of jobs, from the start of v, that are visible to the planner. */
	size_t n, cap, shown;
	/* Number of waiting pods of the visible jobs. */
	size_t waiting;
};

struct replay_clouds;
struct replaying {
	const struct replay_spec *s;
	struct replay *out;
	struct world *w;
	struct replay_slot *slots;
	uint32_t nslots;
	/* Machine name -> struct replay_slot. */
	struct map *by_machine;
	/* Maps to struct replay_slot for objects of the initial world. Key of by_claim: claim name.
	 * Key of by_node: "TENANT/NAME" of the Node. */
	struct map *by_claim, *by_node;
	/* Tenant name -> struct replay_line. */
	struct map *lines;
	/* Indexes of all jobs, sorted by time of arrival. */
	uint32_t *order;
	/* By job: number of the job's first pod. One more entry at the end contains the number of
	 * all pods. */
	uint32_t *first;
	/* By pod. owner: index of the pod's job. place: index of the slot on which the pod is;
	 * REPLAY_NOWHERE: none. */
	uint32_t *owner, *place;
	/* By job: number of pods that have not started (left) and that have ended (ended). */
	uint32_t *left, *ended;
	/* By job: number of pods that the present plan places on Nodes. */
	uint32_t *ready;
	struct replay_event *heap;
	size_t nheap, cap;
	uint64_t seq;
	/* now: simulated time in ms. planned: time of the last plan. */
	int64_t now, planned;
	/* Number of jobs that have arrived; order[come] is the next one. */
	size_t come;
	/* Number of the last plan, counted from 1. */
	size_t plan;
	bool dirty;
	double used, serving, waiting, queue, cloud;
	/* Number of waiting pods of the initial world. */
	size_t foreign;
	/* NULL: no bursts. */
	struct replay_clouds *clouds;
};

double replay_gpus(const struct resources *r);
void replay_push(struct replaying *r, int64_t after_ms, enum replay_what what, uint32_t it,
		 uint32_t gen);
/* Removes and returns the next event; the heap must not be empty. */
struct replay_event replay_pop(struct replaying *r);
/* If no pod is on the slot's Node, schedules a NODE_IDLE event after idle_ms. If a pod is placed on
 * the Node earlier, the event becomes invalid (replay_slot.gen). */
void replay_rests(struct replaying *r, struct replay_slot *s);
/* Replaces the slot's claim by a deep copy of c. */
void replay_set_claim(struct replay_slot *s, const struct world_claim *c);
struct replay_slot *replay_of_node(const struct replaying *r, const char *tenant, const char *node);

/* Pods of simulated jobs (pods.c). replay_put_pod() puts one into the world; node NULL: it
 * waits. */
void replay_put_pod(struct replaying *r, uint32_t pod, const char *node);
/* Removes the simulated pod from the world. */
void replay_del_pod(struct replaying *r, uint32_t pod);
/* Makes jobs of the line visible to the planner until `window` pods wait. */
void replay_show(struct replaying *r, struct replay_line *l);
struct replay_line *replay_line_of(struct replaying *r, const char *tenant);
/* Returns the number of the simulated pod that *x is about; REPLAY_NOWHERE: x is a pod of the
 * initial world. */
uint32_t replay_pod_of(const struct plan_pod *x);
/* Counts one pod of the job as started, or as ended, now. */
void replay_pod_started(struct replaying *r, uint32_t job);
void replay_pod_ended(struct replaying *r, uint32_t job);

/* Work in clouds (clouds.c). All but replay_clouds_new() accept replaying.clouds NULL. a: arena of
 * the result. */
struct replay_clouds *replay_clouds_new(const struct replay_spec *s, struct arena *a);
void replay_clouds_free(struct replay_clouds *c);
/* Takes over the work that plan p does not place. */
void replay_clouds_plan(struct replaying *r, const struct plan *p);
/* Decides on that work, and launches. timed: called by a CLOUDS_LOOK event. */
void replay_clouds_look(struct replaying *r, bool timed);
/* Copies all launches to *out. */
void replay_clouds_result(const struct replay_clouds *c, struct replay *out);
/* Starts, and ends, the work of launch number i. */
void replay_cloud_starts(struct replaying *r, uint32_t i);
void replay_cloud_ends(struct replaying *r, uint32_t i);

/* Fills *r: reads machines, claims, Nodes and pods of the world into slots, and sorts the jobs. a:
 * arena of the result; tmp: arena that lives as long as the run. */
void replay_begin(struct replaying *r, struct arena *a, struct arena *tmp);

#endif
