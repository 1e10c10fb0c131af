#ifndef SIM_WORKLOADS_IMPL_H
#define SIM_WORKLOADS_IMPL_H

#include "base/map.h"
#include "sim/objects.h"
#include "sim/workloads.h"

/*
 * workloads_impl: workloads.c and the controllers among themselves.
 */
struct sim_workloads {
	struct sim_rounds *rounds;
	/* Lists of this round; pods NULL: not asked for, because there was no work. */
	json_t *pods, *replica_sets, *jobs, *deployments;
	/* uid of an owner -> why the server refused its newest pod, char * */
	struct map *refused;
	/* the round before found workloads, or pods of a Job */
	bool busy;
};

/* One round's work for one object. */
void replica_set_sync(struct sim_workloads *s, json_t *rs);
void deployment_sync(struct sim_workloads *s, json_t *d);
void job_sync(struct sim_workloads *s, json_t *job);
/* Frees the pods whose Job is gone; true if there were any. */
bool job_free_orphans(struct sim_workloads *s);

/* --- writes; body: taken ---------------------------------------------------------------------- */

void workloads_patch(struct sim_workloads *s, const struct sim_kind *k, const json_t *obj,
		     const char *sub, json_t *body);
void workloads_delete(struct sim_workloads *s, const struct sim_kind *k, const json_t *obj);
/* A refusal is kept in s->refused under owner's uid, and told by an event. */
void workloads_create(struct sim_workloads *s, const struct sim_kind *k, const json_t *owner,
		      const struct sim_kind *owner_kind, json_t *body);
/* Nothing is sent if it is the status already.  status: taken. */
void workloads_status(struct sim_workloads *s, const struct sim_kind *k, const json_t *obj,
		      json_t *status);

/* --- pods ------------------------------------------------------------------------------------- */

/* Children of owner among all, a new array. An orphan that the selector matches is adopted, a child
 * that it no longer matches is released. live: pods that are over or being deleted are left out. */
json_t *workloads_claim(struct sim_workloads *s, const struct sim_kind *owner_kind,
			const json_t *owner, const struct sim_kind *kind, json_t *all, bool live);
/* A pod of owner's template named BASE-xxxxx. */
json_t *workloads_pod(const struct sim_kind *owner_kind, const json_t *owner, const char *base);
/* Deletes n of the pods, those first that are missed least. */
void workloads_shrink(struct sim_workloads *s, json_t *pods, size_t n);
/* How many pods to create now of n that are missing: one at a time while the server refuses
 * them. */
size_t workloads_burst(const struct sim_workloads *s, const json_t *owner, size_t n);

/* A condition as an element of status.conditions. old: status.conditions so far; its element of
 * that type is returned as it is unless status, reason or message differ, and its
 * lastTransitionTime stays unless the status differs. */
json_t *workloads_condition(const struct sim_workloads *s, const json_t *old, const char *type,
			    const char *status, const char *reason, const char *message);
/* Unix ms */
int64_t workloads_now(const struct sim_workloads *s);

/* --- rollout.c, job_index.c ------------------------------------------------------------------- */

struct rollout {
	/* what the Deployment asks for */
	json_int_t replicas, surge, unavailable;
};
/* "25%" or a number of spec.strategy.rollingUpdate; both 0 become maxUnavailable 1. */
void rollout_read(const json_t *deployment, struct rollout *r);
/* Sets spec.replicas of the ReplicaSets to what they shall have next. fresh NULL: there is none.
 * old: oldest first. */
void rollout_step(const json_t *deployment, json_t *fresh, json_t *old, const json_t *pods);

#endif
