#ifndef CONTROLLER_CLAIMS_WORLD_SYNC_H
#define CONTROLLER_CLAIMS_WORLD_SYNC_H

#include "controller/core/context.h"

/*
 * world_sync: keeps the planner's world up to date with the caches, object by object.
 *
 * Each call reports one change, which is applied to the world at once. If the change can affect the
 * outcome of a plan, changed() is called, which must only set a flag and defer. Most changes, such
 * as a heartbeat or a status, make no difference to a plan. On the loop thread.
 *
 * While a plan is made in slices, the world is paused (world_sync_pause()): it does not change.
 * Changes are recorded meanwhile, and read from the caches when the pause ends
 * (world_sync_resume()), so that many changes of one object cost one update.
 * Tests: tests/unit/controller/claims/test_provisioner.c,
 * tests/unit/controller/claims/test_world_sync.c
 */
struct avoided;
struct denied;
struct eta;
struct permit;
struct permits;
struct refused;
struct sending;
struct tenant_node;
struct tenants;
struct world;
struct world_pod;

struct world_sync_spec {
	const struct tenants *tenants;
	const struct avoided *avoided;
	const struct denied *denied;
	const struct eta *eta;
	const struct permits *permits;
	const struct refused *refused;
	const struct sending *sending;
	void (*changed)(void *arg);
	/* Called when a pod began to wait for a machine, or when its requirements changed; before
	 * changed() */
	void (*came)(void *arg);
	/* Called when a pod is deleted or bound to a Node. If this was reported during a pause,
	 * called again when the pause ends, because the plan may have reported on the pod since
	 * then. */
	void (*settled)(const char *tenant, const char *ns, const char *name, void *arg);
	/* Called when the tenant's pods were removed from the world, because the tenant is gone or
	 * its pods are read again */
	void (*emptied)(const char *tenant, void *arg);
	void *arg;
};
struct world_sync;
struct world_sync *world_sync_new(struct context *c, const struct world_sync_spec *spec);
void world_sync_free(struct world_sync *s);

/* Returns the planner's world, for plans and plan_stock(). The caller must not change the objects
 * in it. */
struct world *world_sync_world(struct world_sync *s);

void world_sync_pause(struct world_sync *s);
/* Ends the pause of the planner's world and applies the recorded changes. Does nothing if the world
 * is not paused. */
void world_sync_resume(struct world_sync *s);
/* True while the planner's world is paused for a plan. plan_stock() must not be called then. */
bool world_sync_is_paused(const struct world_sync *s);

/* world_sync_pool(), world_sync_provider(), world_sync_machine() and world_sync_claim() report a
 * changed object. NULL object: it was deleted. */
void world_sync_pool(struct world_sync *s, const char *name, const struct node_pool *p);
void world_sync_provider(struct world_sync *s, const char *name, const struct provider_object *p);
void world_sync_machine(struct world_sync *s, const char *name, const struct machine *m);
void world_sync_claim(struct world_sync *s, const char *name, const struct node_claim *n);
/* Adds the claim of that name, which a plan has just sent, to the planner's world: at once, or when
 * the pause ends. Does not call changed(), because the plan knows the claim. */
void world_sync_sent(struct world_sync *s, const char *name);
/* Reports a change of the VirtualCluster of that name or of its struct tenant. Reads both from
 * their caches. */
void world_sync_tenant(struct world_sync *s, const char *name);
/* Updates all waiting pods in the planner's world. Call when spec of a BurstPolicy changed. */
void world_sync_waiting(struct world_sync *s);
/* Reports that the VirtualCluster of that name was changed or deleted. Updates the other tenants in
 * the same segment, because its probe addresses count as proof for them, too. */
void world_sync_segment(struct world_sync *s, const char *name);
/* Returns true if the world changed now. */
bool world_sync_pod(struct world_sync *s, const char *tenant, const char *ns, const char *name,
		    const struct world_pod *p);
/* Reports that the pod's exclusions changed (claims/refused.h). */
void world_sync_refused(struct world_sync *s, const char *tenant, const char *ns, const char *name);
/* Reports that claims of n pods of the tenant, of which the UIDs are given, were denied or are no
 * longer denied (claims/denied.h). Looks at all waiting pods of the tenant. */
void world_sync_denied(struct world_sync *s, const char *tenant, const char *const *uids, size_t n);
/* Reports that permit p was added or removed. */
void world_sync_permit(struct world_sync *s, const struct permit *p);
void world_sync_node(struct world_sync *s, const char *tenant, const char *name,
		     const struct tenant_node *n);
/* Removes the pods and Nodes of the tenant from the planner's world. Call when the tenant's cluster
 * is read again. */
void world_sync_tenant_reset(struct world_sync *s, const char *name);

#endif
