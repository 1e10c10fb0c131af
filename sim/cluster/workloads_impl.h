#ifndef SIM_CLUSTER_WORKLOADS_IMPL_H
#define SIM_CLUSTER_WORKLOADS_IMPL_H

#include "base/map.h"
#include "sim/cluster/objects.h"
#include "sim/cluster/workloads.h"

/*
 * workloads_impl: shared by workloads.c (rounds), owned.c (writes and pods) and the controllers
 * (replicaset.c, deployment.c, job.c).
 */
struct sim_workloads {
	struct sim_rounds *rounds;
	/* Lists that this round has read; pods NULL: not listed, because no object needs them. */
	json_t *pods, *replica_sets, *jobs, *deployments;
	/* Map from the uid of an owner to the reason why the server refused its newest pod (char
	 * *). */
	struct map *refused;
	/* True if the previous round found workloads, or pods of a Job. */
	bool busy;
};

/* replica_set_sync(), deployment_sync() and job_sync() do one round's work for one object. */
void replica_set_sync(struct sim_workloads *s, json_t *rs);
void deployment_sync(struct sim_workloads *s, json_t *d);
void job_sync(struct sim_workloads *s, json_t *job);
/* Removes the finalizer from pods whose Job was deleted. Returns true if any pod had one. */
bool job_free_orphans(struct sim_workloads *s);

/* --- writes; all of them take ownership of body ----------------------------------------------- */

void workloads_patch(struct sim_workloads *s, const struct sim_kind *k, const json_t *obj,
		     const char *sub, json_t *body);
void workloads_delete(struct sim_workloads *s, const struct sim_kind *k, const json_t *obj);
/* Creates an object of kind k for owner. If the server refuses it, s->refused gets the reason under
 * owner's uid, and an event reports it. */
void workloads_create(struct sim_workloads *s, const struct sim_kind *k, const json_t *owner,
		      const struct sim_kind *owner_kind, json_t *body);
/* Writes status to the object unless it is unchanged. Takes ownership of status. */
void workloads_status(struct sim_workloads *s, const struct sim_kind *k, const json_t *obj,
		      json_t *status);

/* --- pods ------------------------------------------------------------------------------------- */

/* Returns the children of owner in `all`, as a new array. Adopts an orphan that owner's selector
 * matches, and releases a child that the selector no longer matches. live: true leaves out pods
 * that have ended or are being deleted. */
json_t *workloads_claim(struct sim_workloads *s, const struct sim_kind *owner_kind,
			const json_t *owner, const struct sim_kind *kind, json_t *all, bool live);
/* Returns a new pod from owner's template, named BASE-xxxxx, which the caller owns. */
json_t *workloads_pod(const struct sim_kind *owner_kind, const json_t *owner, const char *base);
/* Deletes n of the pods, in the order of the ReplicaSet controller: first pods that are furthest
 * from serving, such as those without a node. */
void workloads_shrink(struct sim_workloads *s, json_t *pods, size_t n);
/* Returns how many of n missing pods to create now: only one at a time while the server refuses
 * owner's pods. */
size_t workloads_burst(const struct sim_workloads *s, const json_t *owner, size_t n);

/* Returns a condition as an element of status.conditions. old: the present status.conditions. If
 * the element of this type in `old` has the same status, reason and message, that element is
 * returned unchanged. If only its status is the same, its lastTransitionTime is retained. */
json_t *workloads_condition(const struct sim_workloads *s, const json_t *old, const char *type,
			    const char *status, const char *reason, const char *message);
/* Wall clock, Unix ms. */
int64_t workloads_now(const struct sim_workloads *s);

/* --- rollout.c, job_index.c ------------------------------------------------------------------- */

struct rollout {
	/* replicas: desired number of replicas. surge, unavailable: limits of the Deployment, as
	 * numbers of pods. */
	json_int_t replicas, surge, unavailable;
};
/* Reads the number of replicas and the limits in spec.strategy.rollingUpdate, each a number or a
 * percentage such as "25%". If both limits are 0, maxUnavailable becomes 1. */
void rollout_read(const json_t *deployment, struct rollout *r);
/* Sets spec.replicas of the ReplicaSets to their next value. fresh: ReplicaSet of the present
 * template; NULL: none. old: the other ReplicaSets, oldest first. pods: all pods. */
void rollout_step(const json_t *deployment, json_t *fresh, json_t *old, const json_t *pods);

#endif
