#ifndef SIM_CLUSTER_WORKLOADS_H
#define SIM_CLUSTER_WORKLOADS_H

#include "sim/cluster/rounds.h"

/*
 * workloads: a small substitute for kube-controller-manager in the virtual clusters of the demo.
 * Deployments create ReplicaSets; ReplicaSets and Jobs create pods. The controllers poll the API
 * server twice a second. The API server itself handles owner references and finalizers (member
 * controllers of struct apiserver_spec).
 *
 *   workloads.c    rounds, and code shared by the three controllers
 *   replicaset.c, deployment.c, job.c   one controller each
 *   rollout.c      next number of replicas of each ReplicaSet of a Deployment
 *   job_index.c    pods of a Job with completionMode Indexed
 *
 * Not implemented: proportional scaling during a rollout (the new ReplicaSet takes the difference);
 * podFailurePolicy, successPolicy and backoffLimitPerIndex of Jobs; events, except for a pod that
 * the server refuses.
 */
struct sim_workloads;
struct sim_workloads *sim_workloads_new(struct loop_group *g, const struct sim_rounds_spec *spec,
					struct err *e);
void sim_workloads_free(struct sim_workloads *s);
DEFINE_OWN(sim_workloads)

#endif
