#ifndef SIM_WORKLOADS_H
#define SIM_WORKLOADS_H

#include "sim/rounds.h"

/*
 * workloads: what a virtual cluster of the demo needs of kube-controller-manager: Deployments make
 * ReplicaSets, ReplicaSets and Jobs make pods. It looks at the API server twice a second. Owners
 * and finalizers are the API server's (struct apiserver_spec, controllers).
 *
 *   sim/workloads.c	rounds, and what the three controllers share
 *   sim/replicaset.c, sim/deployment.c, sim/job.c	one controller each
 *   sim/rollout.c	how many replicas each ReplicaSet of a Deployment has next
 *   sim/job_index.c	pods of a Job of completionMode Indexed
 *
 * Not done: proportional scaling while a rollout is under way (the new ReplicaSet takes the
 * difference); of Jobs podFailurePolicy, successPolicy and backoffLimitPerIndex; events, save for a
 * pod that the server refuses.
 */
struct sim_workloads;
struct sim_workloads *sim_workloads_new(struct loop_group *g, const struct sim_rounds_spec *spec,
					struct err *e);
void sim_workloads_free(struct sim_workloads *s);
DEFINE_OWN(sim_workloads)

#endif
