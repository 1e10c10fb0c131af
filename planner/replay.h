#ifndef PLANNER_REPLAY_H
#define PLANNER_REPLAY_H

#include "base/arena.h"
#include "planner/world.h"

/*
 * replay: a world over time, planned by plan_make(): jobs come, their pods wait, machines boot,
 * serve, are wiped and serve somebody else. No clock and no I/O; equal specs give equal results.
 *
 * A job is pods that are alike. A pod of it starts when a plan places it on a Node, and runs for
 * the job's time; those of a gang start together, once one plan places all of them on Nodes. They
 * tolerate every taint. A claim is a Node after boot_ms. A Node that no pod is on or planned for,
 * for idle_ms, is given back: drain_ms and wipe_ms later its machine is free. Not before settle_ms
 * after one plan comes the next; with nobody waiting there is none.
 *
 * A tenant's jobs are shown to the planner in the order in which they came: one more as long as
 * fewer than window of its pods wait there. Those behind could only fill gaps that the first ones
 * leave, and cost time in each plan.
 *
 * What the world has at the beginning stays: its pods run on without end, those that wait keep
 * waiting and are planned as well; its claims go on from where they are. Machines do not fail, and
 * pools' budgets do not count.
 * Tests: tests/unit/planner/test_replay.c
 */
struct replay_job {
	int64_t at_ms, takes_ms;
	const char *tenant;
	uint32_t pods;
	bool gang;
	/* of each pod */
	struct resources requests;
	int64_t priority;
};

struct replay_times {
	int64_t boot_ms, drain_ms, wipe_ms, settle_ms;
	/* more than 0 */
	int64_t idle_ms;
};

struct replay_spec {
	/* it changes */
	struct world *world;
	const struct replay_job *jobs;
	size_t njobs;
	struct replay_times times;
	/* from 0 on; what comes later does not count */
	int64_t until_ms;
	/* 1 or more, of equal length */
	size_t samples;
	/* of one tenant's pods that wait so many are shown to the planner; 0: all */
	size_t window;
};

/* Means over one stretch of time. */
struct replay_sample {
	/* GPUs that a started pod has */
	/* these pods */
	double used,
		/* GPUs of Nodes */
		serving,
		/* GPUs that pods ask for that have not started */
		waiting, queue;
};

struct replay {
	struct replay_ran {
		/* when the last of its pods started; -1: not until until_ms */
		/* when the last of them ended; -1: likewise */
		int64_t start_ms, end_ms;
	} * jobs; /* as in the spec */
	struct replay_sample *samples;
	size_t nsamples;
	/* of all machines */
	double gpus;
	/* GPUs in use, of Nodes, times milliseconds */
	double used_ms, serving_ms;
	size_t plans, boots, wipes;
};
struct replay *replay_run(const struct replay_spec *s, struct arena *a);

#endif
