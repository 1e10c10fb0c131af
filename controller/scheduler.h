#ifndef CONTROLLER_SCHEDULER_H
#define CONTROLLER_SCHEDULER_H

#include "controller/controller.h"

/*
 * scheduler: demand to claims.  Keeps the planner's world in step with the
 * caches, plans shortly after anything changed, creates NodeClaims, and tells
 * each waiting pod by an event what will happen or why nothing does.
 *
 * A plan is acted on only while leading.  While a claim is being created nothing is
 * planned, so that no demand is served twice.  A claim's machine takes it up
 * by itself (life.h); one that no machine took within 30 s is withdrawn.
 */
struct scheduler;
struct scheduler *scheduler_new(struct controller *c);
void scheduler_free(struct scheduler *s);
void scheduler_kick(struct scheduler *s); /* plan soon */

/* What the plans are made of: for plan_stock(), and not to be changed. */
struct world;
struct world *scheduler_world(struct scheduler *s);

/* This machine did not take the claim that was made for it: not offered for 10 minutes, then 20, up to 2 hours. */
void scheduler_avoid(struct scheduler *s, const char *machine);
/* The tenant's cluster is read anew: forget its pods and nodes. */
void scheduler_tenant_reset(struct scheduler *s, const char *name);

/* Deltas; NULL object: gone. */
void scheduler_pool(struct scheduler *s, const char *name, const struct node_pool *p);
void scheduler_provider(struct scheduler *s, const char *name, const struct provider_object *p);
void scheduler_machine(struct scheduler *s, const char *name, const struct machine *m);
void scheduler_claim(struct scheduler *s, const char *name, const struct node_claim *n);
void scheduler_tenant(struct scheduler *s,
		      const char *name); /* reads the object and the struct tenant */
struct world_pod;
struct tenant_node;
void scheduler_pod(struct scheduler *s, const char *tenant, const char *ns, const char *name,
		   const struct world_pod *p);
void scheduler_node(struct scheduler *s, const char *tenant, const char *name,
		    const struct tenant_node *n);

#endif
