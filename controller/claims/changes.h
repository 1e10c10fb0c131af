#ifndef CONTROLLER_CLAIMS_CHANGES_H
#define CONTROLLER_CLAIMS_CHANGES_H

#include "api/kinds.h"
#include "planner/world.h"

/*
 * changes: passes a changed object or pod to the planner's world (world_sync.h), and to the parts
 * that remember something about it: claims being sent, machines that are avoided, pools that fail,
 * pods that were refused or denied. On the loop thread.
 * Tests: tests/unit/controller/claims/test_provisioner.c, tests/world/test_approval.c
 */
struct avoided;
struct denied;
struct failing;
struct refused;
struct sending;
struct world_sync;
struct changes {
	struct world_sync *sync;
	struct avoided *avoided;
	struct denied *denied;
	struct failing *failing;
	struct refused *refused;
	struct sending *sending;
};

/* NULL object: it was deleted. changes_pool(): only if the pool's spec changed. */
void changes_pool(const struct changes *s, const char *name, const struct node_pool *p);
void changes_machine(const struct changes *s, const char *name, const struct machine *m);
void changes_claim(const struct changes *s, const char *name, const struct node_claim *n);
void changes_pod(const struct changes *s, const char *tenant, const char *ns, const char *name,
		 const struct world_pod *p);

#endif
