#ifndef CONTROLLER_CLAIMS_PROVISIONER_H
#define CONTROLLER_CLAIMS_PROVISIONER_H

#include "controller/controller.h"

/*
 * scheduler: demand to claims.  Keeps the planner's world in step with the
 * caches, plans shortly after anything changed, creates NodeClaims, and tells
 * each waiting pod by an event what will happen or why nothing does.
 *
 * A plan is acted on only while leading.  While a claim is being created nothing is
 * planned, so that no demand is served twice.  A claim's machine takes it up
 * by itself (life/life.h); one that no machine took within 30 s is withdrawn.
 */
struct provisioner;
struct provisioner *provisioner_new(struct controller *c);
void provisioner_free(struct provisioner *s);
void provisioner_kick(struct provisioner *s); /* plan soon */

/* What the plans are made of: for plan_stock(), and not to be changed. */
struct world;
struct world *provisioner_world(struct provisioner *s);

/* This machine did not take the claim that was made for it: not offered for 10 minutes, then 20, up to 2 hours. */
void provisioner_avoid(struct provisioner *s, const char *machine);
/* The tenant's cluster is read anew: forget its pods and nodes. */
void provisioner_tenant_reset(struct provisioner *s, const char *name);

/* Deltas; NULL object: gone. */
void provisioner_pool(struct provisioner *s, const char *name, const struct node_pool *p);
void provisioner_provider(struct provisioner *s, const char *name, const struct provider_object *p);
void provisioner_machine(struct provisioner *s, const char *name, const struct machine *m);
void provisioner_claim(struct provisioner *s, const char *name, const struct node_claim *n);
void provisioner_tenant(struct provisioner *s,
			const char *name); /* reads the object and the struct tenant */
struct world_pod;
struct tenant_node;
void provisioner_pod(struct provisioner *s, const char *tenant, const char *ns, const char *name,
		     const struct world_pod *p);
void provisioner_node(struct provisioner *s, const char *tenant, const char *name,
		      const struct tenant_node *n);

#endif
