#ifndef CONTROLLER_CLAIMS_REFUSED_H
#define CONTROLLER_CLAIMS_REFUSED_H

#include "base/arena.h"
#include "controller/core/context.h"
#include "planner/plan.h"

/*
 * refused: Nodes that have room for a pod as drover counts, and on which kube-scheduler does not
 * bind it.
 *
 * A pod that is left unbound for REFUSED_MS on the Node that plans have for it is not planned on
 * that Node any more; after two such Nodes of one instance type, on none of that type. So it gets
 * another machine, and not the same one again and again. It is learnt of a pod for as long as that
 * waits, a day at most.
 *
 * A kube-scheduler that stands still refuses nothing: it has to have judged or bound some pod of
 * the tenant since there is room for the pod on a Node, or just before. Remembered by this process
 * alone.
 * Tests: tests/unit/controller/claims/test_refused.c, tests/world/test_refused.c
 */
#define REFUSED_MS 60000
#define REFUSED_FORGET_MS ((int64_t)24 * 3600 * 1000)

struct refused;
struct tenants;
/* again(): the pod is to be planned in another way; the world may be held. */
struct refused *refused_new(struct context *c, const struct tenants *tenants,
			    void (*again)(const char *tenant, const char *ns, const char *name,
					  void *arg),
			    void *arg);
void refused_free(struct refused *r);

/* A plan is ready.  Returns after how many ms there may be more to learn of it; 0: never. */
int64_t refused_plan(struct refused *r, const struct plan *plan);

/* kube-scheduler judged or bound a pod of this tenant. */
void refused_sign(struct refused *r, const char *tenant);
/* The pod as it is to be planned: itself, or with what is excluded, in the arena. */
const struct world_pod *refused_apply(const struct refused *r, const struct world_pod *p,
				      struct arena *a);
/* "kube-scheduler did not bind it on Node a, Node b, nor will drover count on type hgx"; NULL:
 * nothing was learnt. */
const char *refused_words(const struct refused *r, const char *tenant, const char *ns,
			  const char *name, struct arena *a);

/* The pod has gone, or has its place. */
void refused_forget(struct refused *r, const char *tenant, const char *ns, const char *name);
void refused_forget_tenant(struct refused *r, const char *tenant);

#endif
