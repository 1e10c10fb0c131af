#ifndef PLANNER_REPLAY_REPLAY_H
#define PLANNER_REPLAY_REPLAY_H

#include "base/arena.h"
#include "planner/burst/burst.h"
#include "planner/world.h"

/*
 * replay: simulates a world over time with plan_make(): jobs arrive, their pods wait, machines
 * boot, serve, are wiped and serve other tenants. No clock and no I/O; equal specs give equal
 * results.
 *
 * A job consists of equal pods, which tolerate every taint. A pod starts when a plan places it on a
 * Node, and runs for the job's duration. The pods of a gang start together, as soon as one plan
 * places all of them on Nodes.
 *
 * A claim becomes a Node after boot_ms. A Node is given back if it has had no pods for idle_ms and
 * no pod is planned for it; its machine is free drain_ms plus wipe_ms later. A plan is made at
 * least settle_ms after the previous plan. No plan is made while no pod waits.
 *
 * The planner sees a tenant's jobs in order of arrival. A further job becomes visible while fewer
 * than `window` of the tenant's visible pods wait. Jobs behind these could only fill small gaps,
 * and would cost computing time in each plan.
 *
 * With policies (replay_spec.bursts), burst_decide() decides on the jobs that a plan does not
 * place, after each plan and at least every REPLAY_LOOK_MS. A gang, or a pod of another job, that
 * it sends to a cloud leaves the queue of the planner. It runs on instances of its own from
 * cost.boot_ms and the time for moving its data after the decision until its end, and costs what it
 * was charged. Clouds refuse nothing. Policies of mode Shadow launch nothing, those of mode
 * Recommend what is approved.
 *
 * Objects of the initial world remain: its bound pods run without end; its waiting pods keep
 * waiting and are planned, too; its claims continue from their present state. Machines do not fail,
 * and disruption budgets of pools are ignored.
 * Tests: tests/unit/planner/replay/test_replay.c, tests/unit/planner/replay/test_clouds.c
 */
#define REPLAY_LOOK_MS ((int64_t)60 * 1000)

struct replay_job {
	int64_t at_ms, takes_ms;
	const char *tenant;
	uint32_t pods;
	bool gang;
	/* Requests of each pod of the job. */
	struct resources requests;
	int64_t priority;
	/* GPU product (label REPLAY_PRODUCT) that the pods require; NULL: any. */
	const char *product;
	/* The members from here on matter to BurstPolicies only. saves, interval_ms, approved,
	 * data_class, data: as in struct burst_work. start_by_ms: latest start; 0: no deadline. */
	bool saves, approved;
	const char *data_class;
	int64_t interval_ms, start_by_ms;
	struct burst_names data;
};
#define REPLAY_PRODUCT "nvidia.com/gpu.product"

struct replay_times {
	int64_t boot_ms, drain_ms, wipe_ms, settle_ms;
	/* Time without pods after which a Node is given back; must be greater than 0. */
	int64_t idle_ms;
};

struct replay_spec {
	/* The initial world; replay_run() changes it. */
	struct world *world;
	const struct replay_job *jobs;
	size_t njobs;
	struct replay_times times;
	/* End of the simulated time, in ms; the simulation begins at 0. */
	int64_t until_ms;
	/* Number of samples into which the simulated time is divided; at least 1. */
	size_t samples;
	/* Number of waiting pods of one tenant from which on no further job is shown to the
	 * planner; 0: all jobs are shown. */
	size_t window;
	/* Input of burst_decide() without the work, which the replay adds. `now` is the Unix time
	 * in ms at which the replay begins; launches: earlier launches. NULL: no bursts. */
	const struct burst_input *bursts;
};

/* Averages over one sample period; each sample period has equal length. */
struct replay_sample {
	/* GPUs that running pods request. */
	double used;
	/* GPUs of machines that serve as Nodes. */
	double serving;
	/* GPUs requested by pods that have not started. */
	double waiting;
	/* Number of pods that have not started. */
	double queue;
	/* GPUs that running pods in clouds request. */
	double cloud;
};

/* Instances that a policy launched for one piece of work. */
struct replay_launch {
	const struct burst_policy_in *policy;
	const struct burst_offer *offer;
	/* Index of the job in replay_spec.jobs, and number of its pods that ran here. */
	uint32_t job, pods;
	/* Times of the launch and of the work's end; end_ms -1: not before until_ms. */
	int64_t at_ms, end_ms;
	int64_t nodes;
	/* What the launch costs, in millionths of the policy's currency. */
	int64_t cost;
};

struct replay {
	/* One entry per job, in the order of replay_spec.jobs. */
	struct replay_ran {
		/* Time at which the last pod of the job started; -1: not before until_ms. */
		int64_t start_ms;
		/* Time at which the last pod of the job ended; -1: not before until_ms. */
		int64_t end_ms;
		/* With bursts: the last policy that decided on the job without launching anything,
		 * and its reason; policy NULL: none did, or the last decision was a launch. */
		const struct burst_policy_in *policy;
		enum burst_code code;
	} * jobs;
	struct replay_sample *samples;
	size_t nsamples;
	/* GPUs of all machines of the world. */
	double gpus;
	/* used_ms: GPUs of running pods, times ms. serving_ms: GPUs of Nodes, times ms. */
	double used_ms, serving_ms;
	size_t plans, boots, wipes;
	/* All launches, in the order of their decisions. */
	struct replay_launch *launches;
	size_t nlaunches;
};
struct replay *replay_run(const struct replay_spec *s, struct arena *a);

#endif
