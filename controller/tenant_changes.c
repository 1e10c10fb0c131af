/*
 * tenant_changes: handles a changed pod or Node of a tenant, and a tenant that is added or removed.
 *
 * Tests: tests/world/test_news.c, tests/world/test_leave_tenant.c
 */
#include "controller/parts.h"

#include "controller/claims/claims.h"
#include "controller/claims/changes.h"
#include "controller/claims/world_sync.h"
#include "controller/hardware/machine_index.h"
#include "controller/rules/claim.h"
#include "controller/steps/lives.h"
#include "controller/tenant/pending_cleanup.h"
#include "controller/view/tenant_list.h"
#include "controller/view/view.h"

static void on_tenant_pod(const struct tenant *t, const char *ns, const char *name,
			  const struct world_pod *p, void *arg)
{
	struct controller *c = arg;

	changes_pod(c->changes, t->name, ns, name, p);
}

/* Schedules a tick of the machine on which the Node runs. A Node without a claim may run on any
 * machine that is not identified yet: schedules ticks of all machines in state known. */
static void on_tenant_node(const struct tenant *t, const char *name, const struct tenant_node *n,
			   void *arg)
{
	struct controller *c = arg;
	const struct node_claim *claim = CTX_GET(&c->ctx, OBJECT_NODE_CLAIM, node_claim, name);

	world_sync_node(c->sync, t->name, name, n);
	object_changes_kick_machine_of_claim(c, claim);
	if (claim && n && claim_is_ready(claim) != n->world.ready)
		claims_kick(c->claims, name);
	machine_index_each(c->machine_index, MACHINE_BY_UUID, n ? n->system_uuid : NULL,
			   object_changes_kick_machine, c);
	if (!claim)
		lives_kick_known(c->lives);
}

static void on_tenant_changed(const struct tenant *t, void *arg)
{
	struct controller *c = arg;

	world_sync_tenant(c->sync, t->name);
	pending_cleanup_kick(c->pending_cleanup, t->name);
}

static void on_tenant_reset(const struct tenant *t, void *arg)
{
	struct controller *c = arg;

	world_sync_tenant_reset(c->sync, t->name);
}

static void on_tenant_closing(const struct tenant *t, void *arg)
{
	struct controller *c = arg;

	lives_hang_up(c->lives, t);
	pending_cleanup_hang_up(c->pending_cleanup, t->name);
	if (c->tenant_list)
		tenant_list_hang_up(c->tenant_list, t->name);
	if (c->view)
		view_hang_up(c->view, t->name);
}

struct tenant_hooks tenant_changes_hooks(struct controller *c)
{
	return (struct tenant_hooks){.pod = on_tenant_pod,
				     .node = on_tenant_node,
				     .changed = on_tenant_changed,
				     .reset = on_tenant_reset,
				     .closing = on_tenant_closing,
				     .arg = c};
}
