#ifndef CONTROLLER_CLAIMS_REFUSED_H
#define CONTROLLER_CLAIMS_REFUSED_H

#include "base/arena.h"
#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * refused: Nodes on which a pod would fit by drover's calculation, but to which kube-scheduler does
 * not bind the pod.
 *
 * A pod may stay unbound for REFUSED_MS while plans place it on the same Node. Plans then no longer
 * place the pod on that Node. After two such Nodes of one instance type, they place it on no Node
 * of that type. So the pod gets another machine instead of waiting for the same Node again and
 * again. These exclusions last as long as the pod waits, at most a day.
 *
 * Nothing is excluded while kube-scheduler is down. It counts as working for a tenant if it has
 * judged or bound some pod of the tenant since the Node had room for the pod, or shortly before.
 * Kept in this process only.
 * Tests: tests/unit/controller/claims/test_refused.c, tests/world/test_refused.c
 */
#define REFUSED_MS 60000
#define REFUSED_FORGET_MS ((int64_t)24 * 3600 * 1000)

struct refused;
struct tenants;
/* again(): called when the pod's exclusions changed, so that the pod has to be planned again. The
 * planner's world may be paused at that time. */
struct refused *refused_new(struct context *c, const struct tenants *tenants,
			    void (*again)(const char *tenant, const char *ns, const char *name,
					  void *arg),
			    void *arg);
void refused_free(struct refused *r);

/* Compares a finished plan with the pods' Nodes and excludes Nodes where needed. Returns the ms
 * after which to call this again with a plan, because a pod may count as refused then; 0: never. */
int64_t refused_plan(struct refused *r, const struct plan *plan);

/* Records that kube-scheduler judged or bound a pod of this tenant. */
void refused_sign(struct refused *r, const char *tenant);
/* Returns p, or a copy of p in the arena to which the pod's excluded Nodes and types are added. */
const struct world_pod *refused_apply(const struct refused *r, const struct world_pod *p,
				      struct arena *a);
/* Returns "kube-scheduler did not bind it within a minute on Node a, Node b: drover plans no more
 * machines for it of type hgx"; NULL: nothing is excluded for the pod. */
const char *refused_words(const struct refused *r, const char *tenant, const char *ns,
			  const char *name, struct arena *a);

/* Forgets the pod. Call when it is deleted or bound to a Node. */
void refused_forget(struct refused *r, const char *tenant, const char *ns, const char *name);
void refused_forget_tenant(struct refused *r, const char *tenant);

#endif
