#ifndef SIM_JOB_IMPL_H
#define SIM_JOB_IMPL_H

#include "sim/workloads_impl.h"

/*
 * job_impl: job.c and job_index.c among themselves.
 */
#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"
#define JOB_INDEX "batch.kubernetes.io/job-completion-index"

struct job_view {
	struct sim_workloads *s;
	json_t *job, *pods;
	json_t *live; /* pods that run or are to run */
	json_int_t terminating, ready;
	json_int_t succeeded,
		failed; /* counted or not; of an indexed Job: indexes that succeeded */
	bool suspended;
	char *done,
		*held; /* a byte for each index: it has succeeded, a live pod has it; NULL: not indexed */
	size_t nindexes;
};

bool job_is_indexed(const json_t *job);
void job_index_start(struct job_view *v); /* reads status.completedIndexes */
void job_index_end(struct job_view *v);
/* A pod that is over. */
void job_index_ended(struct job_view *v, const json_t *pod);
json_int_t job_index_count(const struct job_view *v);
json_t *job_index_text(const struct job_view *v); /* "0-2,4" */
/* A pod for the lowest index that has none; NULL: each has one. */
json_t *job_index_pod(struct job_view *v);

#endif
