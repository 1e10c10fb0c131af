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
	/* pods that run or are to run */
	json_t *live;
	json_int_t terminating, ready;
	/* counted or not; of an indexed Job: indexes that succeeded */
	json_int_t succeeded, failed;
	bool suspended;
	/* a byte for each index: it has succeeded, a live pod has it; NULL: not indexed */
	char *done, *held;
	size_t nindexes;
};

bool job_is_indexed(const json_t *job);
/* reads status.completedIndexes */
void job_index_start(struct job_view *v);
void job_index_end(struct job_view *v);
/* A pod that is over. */
void job_index_ended(struct job_view *v, const json_t *pod);
json_int_t job_index_count(const struct job_view *v);
/* "0-2,4" */
json_t *job_index_text(const struct job_view *v);
/* A pod for the lowest index that has none; NULL: each has one. */
json_t *job_index_pod(struct job_view *v);

#endif
