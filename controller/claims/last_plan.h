#ifndef CONTROLLER_CLAIMS_LAST_PLAN_H
#define CONTROLLER_CLAIMS_LAST_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/own.h"

/*
 * last_plan: copy of what the newest plan (planner/plan.h) decided, for readers of the leader
 * (controller/view/plan.h). The plan itself lives only while the provisioner acts on it.
 *
 * Each list is truncated to LAST_PLAN_ROWS, each text to LAST_PLAN_TEXT bytes. Pods that only check
 * whether there is capacity are left out. All functions run on the loop thread.
 * Tests: tests/unit/controller/claims/test_last_plan.c
 */
#define LAST_PLAN_ROWS 500
#define LAST_PLAN_TEXT 320
/* Maximum number of machine names in one hold (machines reserved for a gang) */
#define LAST_PLAN_MACHINES 64

struct plan;

/* A claim that the plan opened. */
struct last_plan_claim {
	const char *tenant, *pool, *provider, *machine, *instance_type;
	/* Name of the NodeClaim. NULL: it was not created, because the claim was no longer wanted
	 * or new claims there are paused. */
	const char *claim;
	/* Key of the gang; NULL: no gang */
	const char *gang;
	/* Number of pods placed on the claim */
	size_t pods;
};

/* Machines reserved for a gang. */
struct last_plan_hold {
	const char *tenant, *gang;
	/* The first n names */
	const char **machines;
	size_t n;
	/* Number of all machines reserved for the gang; above n if `machines` is truncated */
	size_t total;
	int64_t gpus_milli;
	/* True if nothing is reserved now, because the tenant has used up its time. */
	bool rests;
};

/* A machine taken from the claim of one tenant for a waiting pod of another one. */
struct last_plan_reclaim {
	const char *claim, *machine, *tenant, *pool;
	/* for_pod: NAMESPACE/NAME */
	const char *for_tenant, *for_pod;
	bool borrowed;
};

/* Pods that were not placed, with the same first reason. */
struct last_plan_reason {
	/* pool "": the reason is not about a single pool. */
	const char *reason, *pool;
	size_t pods;
};

/* total of a list: number of elements before truncation. */
struct last_plan_view {
	/* Differs from the numbers of earlier plans */
	uint64_t number;
	/* Time when the plan was complete, wall ms, and its duration in ms */
	int64_t at, took_ms;
	/* Number of waiting pods by what the plan decided */
	size_t on_node, on_claim, on_new, unplaced;
	struct last_plan_claim *claims;
	size_t nclaims, total_claims;
	struct last_plan_hold *holds;
	size_t nholds, total_holds;
	struct last_plan_reclaim *reclaims;
	size_t nreclaims, total_reclaims;
	/* In the order of their first pod in the queue */
	struct last_plan_reason *reasons;
	size_t nreasons, total_reasons;
};

struct last_plan;
struct last_plan *last_plan_new(void);
void last_plan_free(struct last_plan *k);
DEFINE_OWN(last_plan)

/* Copies the plan. claims: for each claim of the plan the name of its NodeClaim, NULL if it was not
 * created. at: wall ms. */
void last_plan_set(struct last_plan *k, const struct plan *plan, const char *const *claims,
		   int64_t at, int64_t took_ms);
/* Returns the copy, valid until the next last_plan_set(); before the first plan, a copy with number
 * 0 and empty lists. */
const struct last_plan_view *last_plan_get(const struct last_plan *k);

#endif
