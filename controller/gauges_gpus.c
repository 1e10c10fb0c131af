#include "controller/gauges_gpus.h"

#include <stdlib.h>

#include "api/machine_states.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/machine_gpus.h"
#include "controller/gpu_tally.h"
#include "controller/rules/gpu_use.h"
#include "controller/tenant/devices.h"
#include "controller/tenant/tenant.h"

struct gauges_gpus {
	const struct context *c;
	const struct tenants *tenants;
	struct gpu_tally *tally;
	/* Name of a claim, which is also that of its Node -> struct gpu_parts: requests of the pods
	 * on the Node */
	struct map *requests;
};

/* --- pods ------------------------------------------------------------------------------------- */

struct tenant_gpus {
	struct gauges_gpus *g;
	const struct tenant *t;
	struct arena *a;
};

static bool is_node_of(const struct context *c, const char *node, const char *tenant)
{
	const struct node_claim *n = CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, node);

	return n && str_eq(n->spec.virtual_cluster_ref.name, tenant);
}

static struct gpu_parts *requests_on(struct gauges_gpus *g, const char *node)
{
	struct gpu_parts *p = map_get(g->requests, node);

	if (!p) {
		p = mem_new(struct gpu_parts);
		map_put(g->requests, node, p);
	}
	return p;
}

static bool add_pod(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	struct tenant_gpus *y = arg;
	const struct world_pod *w = &p->world;

	if (!w->node || w->done || !is_node_of(y->g->c, w->node, y->t->name))
		return true;
	if (p->ndevices)
		w = devices_of_pod(y->t->devices, p, w, y->a);
	gpu_parts_add(requests_on(y->g, p->world.node), &w->requests);
	return true;
}

static bool is_read(const struct tenant *t)
{
	return t && t->nodes && t->pods && kube_cache_synced(t->nodes) &&
	       kube_cache_synced(t->pods);
}

void gauges_gpus_tenant(struct gauges_gpus *g, const struct tenant *t)
{
	OWN(arena) a = arena_new();
	struct tenant_gpus y = {g, t, a};

	if (is_read(t))
		kube_cache_each(t->pods, add_pod, &y);
}

/* --- machines --------------------------------------------------------------------------------- */

static bool is_reachable(const struct machine *m)
{
	const struct condition *c = condition_get(&m->status.conditions, "Reachable");

	return !c || c->status != CONDITION_FALSE;
}

/* Labels of a machine's GPUs. */
struct user {
	/* Claim that has the machine; NULL: none, or its NodeClaim is not in the cache */
	const struct node_claim *claim;
	/* NULL: none */
	const char *pool, *tenant;
};

/* Returns pool and tenant of the claim, because status has them only from imaging on, or until the
 * claim has ended; without a claim those in status. */
static struct user user_of(const struct context *c, const struct machine *m)
{
	const struct object_ref *r = m->status.claim_ref;
	const struct node_claim *n = r ? CTX_GET(c, OBJECT_NODE_CLAIM, node_claim, r->name) : NULL;

	if (!n)
		return (struct user){NULL, m->status.pool, m->status.tenant.name};
	return (struct user){n, n->spec.node_pool_ref.name, n->spec.virtual_cluster_ref.name};
}

/* Counts the GPUs of a machine whose Node belongs to a tenant. spare: state of the GPUs that no pod
 * requests. */
static void add_node(struct gauges_gpus *g, const struct user *of, double gpus,
		     enum gpu_state spare)
{
	const struct node_claim *n = of->claim;
	const char *pool = of->pool, *tenant = of->tenant;
	const struct tenant *t = n ? tenant_get(g->tenants, str_or(tenant, "")) : NULL;
	const struct tenant_node *node = t ? tenant_node_of(g->tenants, n) : NULL;
	const struct gpu_parts *asked = n ? map_get(g->requests, n->meta.name) : NULL;
	struct gpu_use u;

	if (!is_read(t)) {
		gpu_tally_add(g->tally, pool, tenant, GPU_UNKNOWN, gpus);
		return;
	}
	if (!node || !node->world.ready) {
		gpu_tally_add(g->tally, pool, tenant, GPU_OUT_OF_ORDER, gpus);
		return;
	}
	u = gpu_use_of(gpus, &node->capacity, &node->world.allocatable,
		       asked ? *asked : (struct gpu_parts){0},
		       devices_on(t->devices, n->meta.name) > 0);
	gpu_tally_add(g->tally, pool, tenant, GPU_ALLOCATED, u.requested);
	gpu_tally_add(g->tally, pool, tenant, spare, u.idle);
	gpu_tally_add(g->tally, pool, tenant, GPU_OUT_OF_ORDER, u.failed);
}

/* True if no tenant and no cleanup can have the machine, and nobody can use it either. */
static bool is_out_of_order(const struct machine *m)
{
	return m->status.hold || !is_reachable(m);
}

void gauges_gpus_machine(struct gauges_gpus *g, const struct machine *m)
{
	const double gpus = (double)machine_gpus(g->c, m);
	const struct user of = user_of(g->c, m);

	switch (machine_state_find(str_or(m->status.state, "known"))) {
	case MACHINE_RETIRED:
	case MACHINE_GONE:
		break;
	case MACHINE_KNOWN:
	case MACHINE_STATES:
	case MACHINE_STATE_NONE:
		gpu_tally_add(g->tally, NULL, NULL, GPU_UNKNOWN, gpus);
		break;
	case MACHINE_FREE:
		gpu_tally_add(g->tally, m->status.warm_for ? m->status.warm_for->name : NULL, NULL,
			      is_out_of_order(m) ? GPU_OUT_OF_ORDER : GPU_FREE, gpus);
		break;
	case MACHINE_CLAIMED:
	case MACHINE_IMAGING:
	case MACHINE_ATTACHING:
	case MACHINE_BOOTING:
	case MACHINE_JOINING:
	case MACHINE_GATING:
		gpu_tally_add(g->tally, of.pool, of.tenant, GPU_STARTING, gpus);
		break;
	case MACHINE_SERVING:
		add_node(g, &of, gpus, GPU_IDLE);
		break;
	case MACHINE_DRAINING:
		add_node(g, &of, gpus, GPU_LEAVING);
		break;
	case MACHINE_STOPPING:
	case MACHINE_ISOLATING:
	case MACHINE_LEAVING:
		gpu_tally_add(g->tally, of.pool, of.tenant, GPU_LEAVING, gpus);
		break;
	case MACHINE_DIRTY:
	case MACHINE_INSPECTING:
	case MACHINE_WIPING:
	case MACHINE_VERIFYING:
		gpu_tally_add(g->tally, of.pool, NULL, GPU_WIPING, gpus);
		break;
	case MACHINE_QUARANTINED:
		gpu_tally_add(g->tally, of.pool, NULL, GPU_OUT_OF_ORDER, gpus);
		break;
	}
}

void gauges_gpus_begin(struct gauges_gpus *g)
{
	map_clear(g->requests);
	gpu_tally_begin(g->tally);
}

void gauges_gpus_show(struct gauges_gpus *g)
{
	gpu_tally_show(g->tally);
	map_clear(g->requests);
}

struct gauges_gpus *gauges_gpus_new(const struct context *c, const struct tenants *tenants)
{
	struct gauges_gpus *g = mem_new(struct gauges_gpus);

	g->c = c;
	g->tenants = tenants;
	g->requests = map_new(free);
	g->tally = gpu_tally_new(c->metrics);
	return g;
}

void gauges_gpus_free(struct gauges_gpus *g)
{
	if (!g)
		return;
	gpu_tally_free(g->tally);
	map_free(g->requests);
	free(g);
}
