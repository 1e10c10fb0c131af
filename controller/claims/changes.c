#include "controller/claims/changes.h"

#include "controller/claims/avoided.h"
#include "controller/claims/denied.h"
#include "controller/claims/failing.h"
#include "controller/claims/refused.h"
#include "controller/claims/world_sync.h"
#include "controller/core/sending.h"
#include "controller/tenant/request_objects.h"

void changes_pool(const struct changes *s, const char *name, const struct node_pool *p)
{
	if (p)
		failing_forgive(s->failing, name);
	world_sync_pool(s->sync, name, p);
}

void changes_machine(const struct changes *s, const char *name, const struct machine *m)
{
	world_sync_machine(s->sync, name, m);
	/* The Machine was deleted or has accepted a claim, so no longer avoid it. */
	if (!m || m->status.claim_ref)
		avoided_forget(s->avoided, name);
}

void changes_claim(const struct changes *s, const char *name, const struct node_claim *n)
{
	if (n)
		failing_claim(s->failing, n);
	else
		failing_forget_claim(s->failing, name);
	sending_seen(s->sending, name);
	denied_claim(s->denied, name, n);
	world_sync_claim(s->sync, name, n);
}

void changes_pod(const struct changes *s, const char *tenant, const char *ns, const char *name,
		 const struct world_pod *p)
{
	const bool changed = world_sync_pod(s->sync, tenant, ns, name, p);

	if (p && !request_of_pod(name, NULL, NULL) &&
	    (p->unschedulable || (changed && p->node && !p->daemon)))
		refused_sign(s->refused, tenant);
}
