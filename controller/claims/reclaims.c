#include "controller/claims/reclaims.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/budget.h"
#include "controller/tenant/tenant.h"

struct reclaims {
	struct context *c;
	const struct tenants *tenants;
	/* Claims whose machine is to be taken back. Key: name of a NodeClaim; value: its UID */
	struct map *wanted;
};

bool reclaims_wants(const struct reclaims *r, const struct node_claim *n)
{
	return r && str_eq(map_get(r->wanted, n->meta.name), n->meta.uid);
}

void reclaims_clear(struct reclaims *r)
{
	map_clear(r->wanted);
}

/* --- events ----------------------------------------------------------------------------------- */

struct pod_message {
	const struct tenant *t;
	const char *node, *text;
};

static bool tell_pod(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *pod = en->object;
	const struct world_pod *p = &pod->world;
	const struct pod_message *told = arg;
	const struct kube_ref ref = {
		.api_version = "v1", .kind = "Pod", .ns = p->ns, .name = p->name, .uid = p->uid};

	if (str_eq(p->node, told->node) && !p->daemon && !p->terminating)
		kube_event(told->t->events, &ref, "Warning", LEAVE_RECLAIMED, "Reclaim",
			   told->text);
	return true;
}

static void tell_tenant(const struct reclaims *r, const char *name, const char *type,
			const char *text)
{
	const struct virtual_cluster *vc =
		CTX_GET(r->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, name);

	if (vc)
		ctx_event(r->c, OBJECT_VIRTUAL_CLUSTER, &vc->meta, type, LEAVE_RECLAIMED, text);
}

/* Sends the events for the reclaimed machine k. The tenant that loses the machine does not learn
 * the other tenant's name. */
static void tell(const struct reclaims *r, const struct plan_reclaim *k)
{
	const char *because = k->borrowed ? "it exceeds the tenant's quota, and a tenant of the "
					    "cohort that is within its own quota waits"
					  : "a tenant of a higher priority waits";
	struct pod_message told = {.t = tenant_get(r->tenants, k->tenant), .node = k->claim};
	char text[600];

	str_format(text, sizeof(text), "Node %.80s (machine %.80s) is taken back: %s", k->claim,
		   k->machine, because);
	tell_tenant(r, k->tenant, "Warning", text);
	told.text = text;
	if (told.t && told.t->events && told.t->pods)
		kube_cache_each(told.t->pods, tell_pod, &told);
	str_format(text, sizeof(text),
		   "machine %.80s is taken back from tenant %.80s for pod %.80s/%.80s", k->machine,
		   k->tenant, k->ns, k->name);
	tell_tenant(r, k->to, "Normal", text);
	log_info("machine is taken back", LOG_S("machine", k->machine), LOG_S("claim", k->claim),
		 LOG_S("tenant", k->tenant), LOG_S("for", k->to), LOG_S("ns", k->ns),
		 LOG_S("pod", k->name));
}

/* --- proposals of a plan ---------------------------------------------------------------------- */

static bool is_of_one(const struct plan_reclaim *a, const struct plan_reclaim *b)
{
	return str_eq(a->to, b->to) && str_eq(a->ns, b->ns) && str_eq(a->name, b->name);
}

/* True if the claims of all n proposals exist and all are within the budgets of their pools. */
static bool are_allowed(const struct reclaims *r, const struct plan_reclaim *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct node_claim *c =
			CTX_GET(r->c, OBJECT_NODE_CLAIM, node_claim, v[i].claim);
		int64_t of_pool = 0;

		for (size_t k = 0; k < n; k++)
			of_pool += str_eq(v[k].pool, v[i].pool);
		if (!c || c->meta.deletion_timestamp ||
		    (!reclaims_wants(r, c) && budget_room(r->c, c, LEAVE_RECLAIMED) < of_pool))
			return false;
	}
	return true;
}

static void want(struct reclaims *r, struct map *was, const struct plan_reclaim *k)
{
	const struct node_claim *n = CTX_GET(r->c, OBJECT_NODE_CLAIM, node_claim, k->claim);
	const bool is_new = !str_eq(map_get(was, k->claim), n->meta.uid);

	map_put(r->wanted, k->claim, mem_strdup(n->meta.uid));
	if (!is_new)
		return;
	tell(r, k);
	notify(r->c, NOTICE_MACHINE, k->machine);
}

void reclaims_plan(struct reclaims *r, const struct plan *p)
{
	OWN(map) was = r->wanted;

	r->wanted = map_new(free);
	for (size_t from = 0, to; from < p->nreclaims; from = to) {
		for (to = from + 1;
		     to < p->nreclaims && is_of_one(&p->reclaims[to], &p->reclaims[from]); to++)
			;
		if (are_allowed(r, p->reclaims + from, to - from))
			for (size_t i = from; i < to; i++)
				want(r, was, &p->reclaims[i]);
	}
}

struct reclaims *reclaims_new(struct context *c, const struct tenants *tenants)
{
	struct reclaims *r = mem_new(struct reclaims);

	*r = (struct reclaims){.c = c, .tenants = tenants, .wanted = map_new(free)};
	return r;
}

void reclaims_free(struct reclaims *r)
{
	if (!r)
		return;
	map_free(r->wanted);
	free(r);
}
