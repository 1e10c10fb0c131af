#ifndef PLANNER_ATTACHMENTS_H
#define PLANNER_ATTACHMENTS_H

#include "planner/planning.h"

/*
 * attachments: volumes that several pods share (world_pod.shared), and the bins (candidate nodes,
 * bins.h) to which they are attached.
 *
 * As in kube-scheduler's NodeVolumeLimits, a volume takes one attachment of its CSI driver on each
 * node with at least one of its pods, however many of its pods are there. So a pod needs one
 * attachment for each of its volumes that is not attached to the bin yet.
 *
 * Room still only shrinks while a plan is made: a volume that is newly attached to a bin takes one
 * attachment and saves a later pod at most one. So a bin that did not fit a pod will not fit an
 * equal pod later.
 *
 * A tenant without shared volumes has no sets and no further work.
 * Tests: tests/unit/planner/test_volumes.c
 */
/* Shared volumes of one CSI driver that the pods of a class use. */
struct plan_shared {
	/* Column (planning.h) of the driver's attachments. */
	uint32_t column;
	/* Number of the driver's volumes that no other pod uses. */
	int64_t own;
	/* Numbers of the n shared volumes in the tenant's map, in order of world_pod.shared. */
	uint32_t *volumes;
	size_t n;
};

/* Fills c->shared. row: requests of one pod of the class by column; afterwards the attachments
 * contain only the volumes that no other pod uses. Call when all columns are known, and before the
 * first bin of the tenant is created. */
void attachments_of_class(struct planning *p, struct plan_class *c, int64_t *row);
/* Adds the shared volumes of one pod to the n requests of v, which must be those of c->asks. v must
 * have space for c->nshared more elements. Returns the number of elements appended. */
size_t attachments_add(const struct plan_class *c, struct ask *v, size_t n);
/* Returns how many pods of the class fit on a new node with these free amounts. Uses c->of_new. */
size_t attachments_times_new(const struct plan_class *c, const int64_t *row);

/* Sets of the shared volumes that are attached to the bins of one tenant. */
struct attachments;
/* Returns NULL if no class of the tenant has shared volumes. The functions below accept NULL as the
 * sets of bins to which nothing is attached. */
struct attachments *attachments_new(struct planning *p, const struct plan_tenant *t);
/* Records the shared volumes of the pods that are bound to the node of bin `at`. */
void attachments_load(struct attachments *x, size_t at, const struct world_load *l);
/* Returns the number of volumes of *s that are not attached to bin `at` yet. *steps: raised by the
 * work units of the search. */
size_t attachments_missing(const struct attachments *x, size_t at, const struct plan_shared *s,
			   uint64_t *steps);
/* Returns how many pods of the class fit into bin `at` with the free amounts `row`. */
size_t attachments_times(const struct attachments *x, const struct plan_class *c, size_t at,
			 const int64_t *row);
/* Adds one pod of the class to bin `at`. Returns the attachments that its shared volumes take
 * there; valid until the next call. */
struct asks attachments_take(struct attachments *x, size_t at, const struct plan_class *c);
/* Reverts one attachments_take(). Returns the attachments that are free again; valid until the next
 * call. */
struct asks attachments_release(struct attachments *x, size_t at, const struct plan_class *c);
/* Removes the sets of all bins except the first n. */
void attachments_truncate(struct attachments *x, size_t n);

#endif
