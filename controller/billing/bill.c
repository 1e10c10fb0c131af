#include "controller/billing/bill.h"

#include "base/market.h"
#include "base/log.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/rules/provider.h"

/* Finds the tenant that is charged for the machine, its UID, and the pool. They come from the
 * machine's claim. If the claim no longer exists, they come from the machine's status, which
 * contains them until the machine is clean. False: the machine has no tenant. */
static bool owner_of(const struct context *c, const struct machine *m, const char **tenant,
		     const char **uid, const char **pool)
{
	const struct object_ref *r = m->status.claim_ref;
	const struct node_claim *n = r ? CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, r->name) : NULL;

	if (n && str_eq(n->meta.uid, r->uid)) {
		*tenant = n->spec.virtual_cluster_ref.name;
		*uid = n->spec.virtual_cluster_ref.uid;
		*pool = n->spec.node_pool_ref.name;
	} else {
		*tenant = m->status.tenant.name;
		*uid = m->status.tenant.uid;
		*pool = m->status.pool;
	}
	return *tenant != NULL;
}

/* Returns the price of one machine for one hour: for spot and reserved instances the instance's own
 * price, else the price of its type t. */
static int64_t price_of(const struct machine *m, const struct provider_object_instance_type *t)
{
	const struct machine_instance *i = m->status.instance;

	if (!i || i->market < 0 || !i->currency || i->market == MARKET_ON_DEMAND)
		return t->price_per_hour;
	return i->micros_per_hour;
}

bool bill_of_machine(const struct context *c, const struct machine *m, enum machine_state state,
		     struct arena *a, const char **tenant, struct virtual_cluster_charge *like)
{
	const struct provider_object *p =
		CTX_GET(c, OBJECT_PROVIDER, provider_object, m->spec.provider_ref.name);
	const struct provider_object_instance_type *t =
		p && m->spec.instance_type ? provider_instance_type(p, m->spec.instance_type)
					   : NULL;
	const char *name, *uid, *pool;
	const struct virtual_cluster *vc;

	*like = (struct virtual_cluster_charge){.price_per_hour = -1};
	if (!ledger_phase(state, &like->phase) || !owner_of(c, m, &name, &uid, &pool))
		return false;
	vc = CTX_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, name);
	if (!vc || (uid && *uid && !str_eq(uid, vc->meta.uid)))
		return false;
	*tenant = arena_strdup(a, name);
	like->pool = arena_strdup(a, pool);
	like->provider = arena_strdup(a, m->spec.provider_ref.name);
	like->instance_type = arena_strdup(a, m->spec.instance_type);
	like->price_per_hour = t ? price_of(m, t) : -1;
	like->currency = t ? arena_strdup(a, t->currency) : NULL;
	like->gpus = provider_type_gpus(t);
	return true;
}

bool bill_changed(const struct context *c, const struct virtual_cluster *vc,
		  const struct virtual_cluster_charges *held, struct arena *a,
		  struct virtual_cluster_cost *cost)
{
	const struct virtual_cluster_charges none = {0};
	size_t dropped;

	held = held ? held : &none;
	*cost = ledger_at(vc->status.cost, loop_wall(c->loop), a);
	if (ledger_holds(cost, held))
		return false;
	dropped = ledger_hold(cost, held, a);
	if (dropped)
		log_warn("sums of old months were dropped", LOG_S("tenant", vc->meta.name),
			 LOG_I("sums", (int64_t)dropped));
	return true;
}
