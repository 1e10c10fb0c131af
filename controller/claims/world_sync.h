#ifndef CONTROLLER_CLAIMS_WORLD_SYNC_H
#define CONTROLLER_CLAIMS_WORLD_SYNC_H

#include "controller/core/context.h"

/*
 * world_sync: keeps the planner's world in step with the caches, object by object.
 *
 * Each call says that one thing changed. The world has the change at once; where that made it
 * another world, changed() is called, which must only mark and defer. Most changes are none to a
 * planner: a heartbeat, a status. On the loop thread.
 *
 * While the world is held, as a plan is made of it in slices, it stays as it is: what changed is
 * marked, and read from the caches when it is released, so that many changes of one thing cost one.
 * Tests: tests/unit/controller/claims/test_provisioner.c,
 * tests/unit/controller/claims/test_world_sync.c
 */
struct avoided;
struct eta;
struct failing;
struct permit;
struct permits;
struct pod_events;
struct refused;
struct sending;
struct tenant_node;
struct tenants;
struct world;
struct world_pod;

struct world_sync_spec {
	const struct tenants *tenants;
	struct avoided *avoided;
	const struct eta *eta;
	struct failing *failing;
	const struct permits *permits;
	struct pod_events *pod_events;
	struct refused *refused;
	struct sending *sending;
	void (*changed)(void *arg);
	/* a pod became demand, or demands something else; before changed() */
	void (*came)(void *arg);
	void *arg;
};
struct world_sync;
struct world_sync *world_sync_new(struct context *c, const struct world_sync_spec *spec);
void world_sync_free(struct world_sync *s);

/* What plans are made of, and plan_stock(); not to be changed by anybody else. */
struct world *world_sync_world(struct world_sync *s);

void world_sync_hold(struct world_sync *s);
/* also when it is not held */
void world_sync_release(struct world_sync *s);
/* Somebody plans with it: plan_stock() has to wait. */
bool world_sync_held(const struct world_sync *s);

/* Deltas; NULL object: gone. */
void world_sync_pool(struct world_sync *s, const char *name, const struct node_pool *p);
void world_sync_provider(struct world_sync *s, const char *name, const struct provider_object *p);
void world_sync_machine(struct world_sync *s, const char *name, const struct machine *m);
void world_sync_claim(struct world_sync *s, const char *name, const struct node_claim *n);
/* A plan had it sent: it is in the world from now on, or from its release on; that is nothing new,
 * so no changed(). */
void world_sync_sent(struct world_sync *s, const char *name);
/* reads the object and the struct tenant */
void world_sync_tenant(struct world_sync *s, const char *name);
/* each of them: a BurstPolicy is another */
void world_sync_tenants(struct world_sync *s);
/* The VirtualCluster is another, or gone: those that share its segment are proved by its addresses,
 * too. */
void world_sync_segment(struct world_sync *s, const char *name);
void world_sync_pod(struct world_sync *s, const char *tenant, const char *ns, const char *name,
		    const struct world_pod *p);
/* What kube-scheduler refused it is another (claims/refused.h). */
void world_sync_refused(struct world_sync *s, const char *tenant, const char *ns, const char *name);
/* It has come, or gone. */
void world_sync_permit(struct world_sync *s, const struct permit *p);
void world_sync_node(struct world_sync *s, const char *tenant, const char *name,
		     const struct tenant_node *n);
/* The tenant's cluster is read anew: forget its pods and nodes. */
void world_sync_tenant_reset(struct world_sync *s, const char *name);

#endif
