#ifndef SIM_CLUSTER_JOB_IMPL_H
#define SIM_CLUSTER_JOB_IMPL_H

#include "sim/cluster/workloads_impl.h"

/*
 * job_impl: shared by job.c (the Job controller) and job_index.c (Jobs with indexes).
 */
#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"
#define JOB_INDEX "batch.kubernetes.io/job-completion-index"

struct job_view {
	struct sim_workloads *s;
	json_t *job, *pods;
	/* Pods that run, or that will run. */
	json_t *live;
	json_int_t terminating, ready;
	/* Numbers of pods that ended, including those that the Job's status does not count yet. For
	 * an indexed Job, succeeded is the number of indexes that succeeded. */
	json_int_t succeeded, failed;
	bool suspended;
	/* One byte for each index. done: the index succeeded. held: a live pod has the index. NULL:
	 * the Job is not indexed. */
	char *done, *held;
	size_t nindexes;
};

bool job_is_indexed(const json_t *job);
/* Begins a round: sets v->done from status.completedIndexes. */
void job_index_start(struct job_view *v);
void job_index_end(struct job_view *v);
/* Records a pod that has ended; if it succeeded, its index is done. */
void job_index_ended(struct job_view *v, const json_t *pod);
json_int_t job_index_count(const struct job_view *v);
/* Returns the succeeded indexes as text, for example "0-2,4". */
json_t *job_index_text(const struct job_view *v);
/* Returns a new pod for the lowest index that has neither succeeded nor a live pod; NULL: no such
 * index. */
json_t *job_index_pod(struct job_view *v);

#endif
