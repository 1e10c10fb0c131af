/* budget: counts the machines that have a claim of the pool; rules/disruption_budget.c then decides
 * how many may leave. */
#include "controller/claims/budget.h"

#include "base/str.h"
#include "controller/rules/disruption_budget.h"

struct crowd {
	const struct context *c;
	const struct node_claim *asks;
	struct disruption sum;
	/* True if the machine of claim `asks` is in state serving */
	bool serves;
};

static bool count(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	const struct object_ref *r = m->status.claim_ref;
	struct crowd *cr = arg;
	const struct context *c = cr->c;
	const struct node_claim *n = r ? CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, r->name) : NULL;

	if (!n || !str_eq(n->spec.node_pool_ref.name, cr->asks->spec.node_pool_ref.name))
		return true;
	cr->serves |= str_eq(n->meta.name, cr->asks->meta.name) && disruption_serves(m);
	disruption_count(&cr->sum, m, n, c->decided && c->decided(m, n, c->on_notice_arg));
	return true;
}

int64_t budget_room(const struct context *c, const struct node_claim *n, const char *reason)
{
	struct crowd cr = {.c = c, .asks = n};
	const struct node_pool *p =
		CTX_GET(c, OBJECT_NODE_POOL, node_pool, n->spec.node_pool_ref.name);

	kube_cache_each(c->cache[OBJECT_MACHINE], count, &cr);
	return p ? disruption_budget_allow(p, reason, cr.sum.nodes, loop_wall(c->loop)) -
			       cr.sum.leaving
		 : 0;
}

bool budget_allows(const struct context *c, const struct node_claim *n, const char *reason)
{
	struct crowd cr = {.c = c, .asks = n};
	const struct node_pool *p =
		CTX_GET(c, OBJECT_NODE_POOL, node_pool, n->spec.node_pool_ref.name);

	kube_cache_each(c->cache[OBJECT_MACHINE], count, &cr);
	if (!cr.serves || (str_eq(reason, BUDGET_POOL_DELETED) && !cr.sum.leaving))
		return true;
	return p && cr.sum.leaving <
			    disruption_budget_allow(p, reason, cr.sum.nodes, loop_wall(c->loop));
}
