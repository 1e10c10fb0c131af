/* world_sync: converts objects, pods and Nodes to the planner's structs and puts them into the
 * world, with one function for each kind of change. */
#include "controller/claims/world_sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/avoided.h"
#include "controller/claims/breaker.h"
#include "controller/burst/selects.h"
#include "controller/claims/denied.h"
#include "controller/claims/free_again.h"
#include "controller/claims/gang_holds.h"
#include "controller/burst/permits.h"
#include "controller/claims/refused.h"
#include "controller/core/sending.h"
#include "controller/burst/to_come.h"
#include "controller/billing/used.h"
#include "controller/claims/world_objects.h"
#include "controller/core/claim_index.h"
#include "controller/core/lookup.h"
#include "controller/drain/drains.h"
#include "controller/hardware/segments.h"
#include "controller/rules/claim.h"
#include "controller/rules/proof.h"
#include "controller/rules/provider.h"
#include "controller/tenant/join_probe.h"
#include "controller/tenant/provisioning_requests.h"
#include "controller/tenant/request_objects.h"
#include "controller/tenant/sleep.h"
#include "controller/tenant/tenant.h"
#include "planner/world.h"

/* Interval of updates of the tenants' use. During this interval the use changes only by about a
 * thousandth of a half-life. */
#define USED_MS 60000

struct world_sync {
	struct context *c;
	struct world_sync_spec spec;
	struct world *world;
	struct to_come *to_come;
	bool held;
	/* VirtualClusters whose spec has probe addresses. Key: name of the VirtualCluster; value:
	 * name of its segment */
	struct map *probed;
	/* loop_now() at which the tenants' use was last updated */
	int64_t used_at;
	/* Changes recorded during a pause. Key: a letter for the kind, then
	 * "TENANT/NAMESPACE/NAME" */
	struct map *late;
};

enum late {
	LATE_POOL = 'o',
	LATE_PROVIDER,
	LATE_MACHINE,
	LATE_CLAIM,
	LATE_TENANT,
	LATE_RESET,
	LATE_POD,
	LATE_NODE
};

/* True if the planner's world is paused: the change was recorded, and the caller must not apply it.
 * ns, name: "" if objects of this kind have none. */
static bool is_late(struct world_sync *s, enum late kind, const char *tenant, const char *ns,
		    const char *name)
{
	char *key;

	if (!s->held)
		return false;
	key = mem_printf("%c%s/%s/%s", (char)kind, str_or(tenant, ""), str_or(ns, ""), name);
	if (!map_has(s->late, key))
		map_put(s->late, key, s);
	free(key);
	return true;
}

static void tell(const struct world_sync *s, bool changed)
{
	if (changed)
		s->spec.changed(s->spec.arg);
}

static bool put_pool(struct world_sync *s, const char *name, const struct node_pool *p)
{
	OWN(arena) a = arena_new();
	struct world_pool w;

	if (!p) {
		world_del_pool(s->world, name);
		to_come_put(s->to_come, s->world);
		return true;
	}
	w = world_object_pool(p, a);
	w.name = name;
	to_come_bound(s->c, &w, a);
	world_put_pool(s->world, &w);
	to_come_put(s->to_come, s->world);
	return true;
}

void world_sync_pool(struct world_sync *s, const char *name, const struct node_pool *p)
{
	if (!is_late(s, LATE_POOL, "", "", name))
		tell(s, put_pool(s, name, p));
}

static bool pool_again(const struct kube_entry *e, void *arg)
{
	(void)put_pool(arg, e->name, e->object);
	return true;
}

/* Rebuilds all pools in the planner's world. Needed when an elastic Provider changed, because the
 * Providers that a pool may use depend on the Providers' types. */
static void put_pools(struct world_sync *s)
{
	kube_cache_each(s->c->cache[OBJECT_NODE_POOL], pool_again, s);
}

static bool put_provider(struct world_sync *s, const char *name, const struct provider_object *p)
{
	OWN(arena) a = arena_new();
	struct world_provider w;

	if (!p) {
		world_del_provider(s->world, name);
		to_come_put(s->to_come, s->world);
		return true;
	}
	w = world_object_provider(p, a);
	w.name = name;
	world_put_provider(s->world, &w);
	if (provider_is_elastic(p))
		put_pools(s);
	to_come_put(s->to_come, s->world);
	return true;
}

void world_sync_provider(struct world_sync *s, const char *name, const struct provider_object *p)
{
	if (!is_late(s, LATE_PROVIDER, "", "", name))
		tell(s, put_provider(s, name, p));
}

static bool put_machine(struct world_sync *s, const char *name, const struct machine *m)
{
	OWN(arena) a = arena_new();
	struct world_machine w;
	struct eta_span again;

	if (!m)
		return world_del_machine(s->world, name);
	w = world_object_machine(
		m,
		m->status.last_wipe.record
			? CTX_GET(s->c, OBJECT_WIPE_RECORD, wipe_record, m->status.last_wipe.record)
			: NULL,
		a);
	w.name = name;
	w.domain = breaker_rack(s->c, m);
	if (!w.offered && free_again(s->c, s->spec.tenants, s->spec.eta, m, &again)) {
		w.free_p50_ms = again.p50;
		w.free_p90_ms = again.p90;
	}
	w.returns = !w.offered && free_again_ever(s->c, m);
	if (w.offered && drains_take_out(s->c, m)) {
		w.offered = false;
		w.not_offered = "to be taken out of use";
	}
	if (w.offered && avoided_is(s->spec.avoided, name)) {
		w.offered = false;
		w.not_offered = "avoided: it did not accept its last claim";
	}
	return world_put_machine(s->world, &w);
}

static bool put_claim(struct world_sync *s, const char *name, const struct node_claim *n);

/* Updates a claim after its Machine changed, because the claim's capacity, and whether the claim
 * counts as supply, depend on the Machine. */
static bool put_claim_again(const struct node_claim *n, void *arg)
{
	struct world_sync *s = arg;

	if (!is_late(s, LATE_CLAIM, "", "", n->meta.name))
		tell(s, put_claim(s, n->meta.name, n));
	return true;
}

void world_sync_machine(struct world_sync *s, const char *name, const struct machine *m)
{
	if (!is_late(s, LATE_MACHINE, "", "", name))
		tell(s, put_machine(s, name, m));
	claim_index_each(s->c, CLAIM_BY_MACHINE, name, put_claim_again, s);
}

static bool put_claim(struct world_sync *s, const char *name, const struct node_claim *n)
{
	OWN(arena) a = arena_new();
	struct world_claim w;

	if (!n || !claim_counts(n))
		return world_del_claim(s->world, name);
	w = world_object_claim(n, machine_named_by(s->c, n), provider_of_claim(s->c, n), a);
	w.name = name;
	return world_put_claim(s->world, &w);
}

void world_sync_claim(struct world_sync *s, const char *name, const struct node_claim *n)
{
	if (!is_late(s, LATE_CLAIM, "", "", name))
		tell(s, put_claim(s, name, n));
}

void world_sync_sent(struct world_sync *s, const char *name)
{
	const struct node_claim *n = sending_get(s->spec.sending, name);

	if (n && !is_late(s, LATE_CLAIM, "", "", name))
		(void)put_claim(s, name, n);
}

static void del_tenant(struct world_sync *s, const char *name)
{
	world_del_tenant(s->world, name);
	s->spec.emptied(name, s->spec.arg);
}

struct probed {
	const char *segment;
	bool found;
};

static bool find_probed(const struct kube_entry *e, void *arg)
{
	const struct virtual_cluster *vc = e->object;
	struct probed *p = arg;
	char segment[TENANT_SEGMENT];

	segment_of_tenant(vc, segment);
	p->found = str_eq(segment, p->segment) && proof_is_probed(vc);
	return !p->found;
}

/* True if the tenant, or another tenant in the same segment, has probe addresses in its spec. */
static bool is_probed(const struct world_sync *s, const struct virtual_cluster *vc)
{
	char segment[TENANT_SEGMENT];
	struct probed p = {.segment = segment, .found = proof_is_probed(vc)};

	segment_of_tenant(vc, segment);
	if (!p.found)
		kube_cache_each(s->c->cache[OBJECT_VIRTUAL_CLUSTER], find_probed, &p);
	return p.found;
}

static bool put_tenant(struct world_sync *s, const char *name)
{
	const struct virtual_cluster *vc =
		CTX_GET(s->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, name);
	struct tenant *t = tenant_get(s->spec.tenants, name);
	struct world_tenant w;
	struct join_answer joins;

	if (!vc) {
		del_tenant(s, name);
		return true;
	}
	w = world_object_tenant(vc);
	w.name = name;
	w.version = t ? t->version : NULL;
	w.used_milli = used_average(s->c, vc);
	w.probed = w.proof != WORLD_PROOF_NONE && is_probed(s, vc);
	w.paused |= !t || !tenant_usable(t);
	w.paused_reason = vc->meta.deletion_timestamp ? "TenantDeleted"
			  : vc->spec.paused	      ? "TenantPaused"
			  : t && tenant_sleep_now(t)  ? "Asleep"
			  : t && t->reason	      ? t->reason
						      : "Starting";
	if (t) {
		join_probe_answer(t->joins, vc, &joins);
		w.no_nodes = /* mutant: nodes-not-taken */ joins.takes ? NULL : joins.text;
		if (w.on_host)
			w.version = joins.version;
	}
	return world_put_tenant(s->world, &w);
}

void world_sync_tenant(struct world_sync *s, const char *name)
{
	if (!is_late(s, LATE_TENANT, "", "", name))
		tell(s, put_tenant(s, name));
}

struct sharers {
	struct world_sync *s;
	const char *of, *segment;
};

static bool put_sharer(const struct kube_entry *e, void *arg)
{
	const struct virtual_cluster *vc = e->object;
	const struct sharers *h = arg;
	char segment[TENANT_SEGMENT];

	segment_of_tenant(vc, segment);
	if (str_eq(segment, h->segment) && !str_eq(vc->meta.name, h->of))
		world_sync_tenant(h->s, vc->meta.name);
	return true;
}

static void put_sharers(struct world_sync *s, const char *of, const char *segment)
{
	struct sharers h = {s, of, segment};

	if (segment)
		kube_cache_each(s->c->cache[OBJECT_VIRTUAL_CLUSTER], put_sharer, &h);
}

void world_sync_segment(struct world_sync *s, const char *name)
{
	const struct virtual_cluster *vc =
		CTX_GET(s->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, name);
	char *was = map_take(s->probed, name), segment[TENANT_SEGMENT], *now = NULL;

	if (vc && proof_is_probed(vc)) {
		segment_of_tenant(vc, segment);
		now = mem_strdup(segment);
		map_put(s->probed, name, now);
	}
	if (!str_eq(was, now)) {
		put_sharers(s, name, was);
		put_sharers(s, name, now);
	}
	free(was);
}

void world_sync_tenant_reset(struct world_sync *s, const char *name)
{
	if (is_late(s, LATE_RESET, "", "", name))
		return;
	del_tenant(s, name);
	tell(s, put_tenant(s, name));
}

static bool put_pod(struct world_sync *s, const char *tenant, const char *ns, const char *name,
		    const struct world_pod *p)
{
	OWN(arena) a = arena_new();
	const struct permit *permit;
	struct world_pod w;

	if (!p)
		return world_del_pod(s->world, tenant, ns, name);
	w = *refused_apply(s->spec.refused, p, a);
	w.denied = p->node ? NULL : denied_text(s->spec.denied, tenant, p->uid);
	permit = p->node ? NULL : permits_of_pod(s->spec.permits, p);
	w.permit = permit ? permit->id : NULL;
	/* mutant: burst-policy-passed-by */
	w.owned_only = !p->node && !p->daemon && burst_governs_pod(s->c, p);
	if (!world_put_pod(s->world, &w))
		return false;
	if (p->unschedulable && !p->node)
		s->spec.came(s->spec.arg);
	return true;
}

bool world_sync_pod(struct world_sync *s, const char *tenant, const char *ns, const char *name,
		    const struct world_pod *p)
{
	bool changed = false;

	if (!is_late(s, LATE_POD, tenant, ns, name)) {
		changed = put_pod(s, tenant, ns, name, p);
		tell(s, changed);
	}
	if (!p || p->node)
		s->spec.settled(tenant, ns, name, s->spec.arg);
	return changed;
}

void world_sync_refused(struct world_sync *s, const char *tenant, const char *ns, const char *name)
{
	OWN(arena) a = arena_new();
	struct tenant *t = tenant_get(s->spec.tenants, tenant);
	const struct world_pod *p = t ? tenant_world_pod(t, ns, name, a) : NULL;

	if (p && !is_late(s, LATE_POD, tenant, ns, name))
		tell(s, put_pod(s, tenant, ns, name, p));
}

struct pods_again {
	struct world_sync *s;
	const char *tenant;
	/* UIDs of the pods to update; NULL: all */
	const char *const *uids;
	size_t n;
};

static bool is_among(const struct pods_again *x, const char *uid)
{
	for (size_t i = 0; i < x->n; i++)
		if (str_eq(x->uids[i], uid))
			return true;
	return !x->uids;
}

static bool pod_again(const struct kube_entry *e, void *arg)
{
	const struct tenant_pod *p = e->object;
	const struct pods_again *x = arg;

	if (!p->world.node && !p->world.done && is_among(x, p->world.uid))
		world_sync_refused(x->s, x->tenant, e->ns, e->name);
	return true;
}

static void future_pod_again(const char *ns, const char *name, void *arg)
{
	const struct pods_again *x = arg;

	world_sync_refused(x->s, x->tenant, ns, name);
}

static void all_again(struct pods_again *x, const struct tenant *t)
{
	if (t->pods)
		kube_cache_each(t->pods, pod_again, x);
	provisioning_requests_each(t->requests, future_pod_again, x);
}

void world_sync_waiting(struct world_sync *s)
{
	struct map_iter it;

	map_for_each (it, s->spec.tenants->map) {
		const struct tenant *t = it.value;
		struct pods_again x = {.s = s, .tenant = t->name};

		all_again(&x, t);
	}
}

void world_sync_denied(struct world_sync *s, const char *tenant, const char *const *uids, size_t n)
{
	const struct tenant *t = tenant_get(s->spec.tenants, tenant);
	struct pods_again x = {s, tenant, uids, n};

	if (t && n)
		all_again(&x, t);
}

void world_sync_permit(struct world_sync *s, const struct permit *p)
{
	world_sync_provider(s, p->provider,
			    CTX_GET(s->c, OBJECT_PROVIDER, provider_object, p->provider));
	for (size_t i = 0; i < p->npods; i++)
		world_sync_refused(s, p->tenant, p->pods[i].ns, p->pods[i].name);
}

static bool put_node(struct world_sync *s, const char *tenant, const char *name,
		     const struct tenant_node *n)
{
	OWN(arena) a = arena_new();
	struct tenant *t = tenant_get(s->spec.tenants, tenant);
	struct world_node w;

	/* Leave out a Node that still has drover's taint: until the taint is removed, the Node's
	 * claim counts as in progress, and the Node is no free capacity. */
	if (!n || n->unregistered)
		return world_del_node(s->world, tenant, name);
	w = t ? tenant_world_node(t, n, a) : n->world;
	return world_put_node(s->world, &w);
}

void world_sync_node(struct world_sync *s, const char *tenant, const char *name,
		     const struct tenant_node *n)
{
	if (!is_late(s, LATE_NODE, tenant, "", name))
		tell(s, put_node(s, tenant, name, n));
}

/* --- pauses ----------------------------------------------------------------------------------- */

static bool put_used(const struct kube_entry *e, void *arg)
{
	const struct virtual_cluster *vc = e->object;
	const struct world_sync *s = arg;

	world_put_used(s->world, vc->meta.name, used_average(s->c, vc));
	return true;
}

void world_sync_pause(struct world_sync *s)
{
	const int64_t now = loop_now(s->c->loop);

	if (!s->used_at || now - s->used_at >= USED_MS) {
		s->used_at = now;
		kube_cache_each(s->c->cache[OBJECT_VIRTUAL_CLUSTER], put_used, s);
	}
	s->held = true;
}

bool world_sync_is_paused(const struct world_sync *s)
{
	return s->held;
}

/* Updates one recorded object from the caches. late: a letter for the kind, then
 * "TENANT/NAMESPACE/NAME". (No name contains a slash.) */
static bool catch_up(struct world_sync *s, const char *late)
{
	OWN(arena) a = arena_new();
	char *tenant = arena_strdup(a, late + 1), *ns = strchr(tenant, '/'), *name;
	const struct node_claim *sent;
	const struct world_pod *p;
	struct tenant *t;

	*ns++ = '\0';
	name = strchr(ns, '/');
	*name++ = '\0';
	t = tenant_get(s->spec.tenants, tenant);
	switch ((enum late)late[0]) {
	case LATE_POOL:
		return put_pool(s, name, CTX_GET(s->c, OBJECT_NODE_POOL, node_pool, name));
	case LATE_PROVIDER:
		return put_provider(s, name, CTX_GET(s->c, OBJECT_PROVIDER, provider_object, name));
	case LATE_MACHINE:
		return put_machine(s, name, CTX_GET(s->c, OBJECT_MACHINE, machine, name));
	case LATE_CLAIM:
		sent = sending_get(s->spec.sending, name);
		if (!sent)
			return put_claim(s, name,
					 CTX_GET(s->c, OBJECT_NODE_CLAIM, node_claim, name));
		(void)put_claim(s, name, sent);
		return false;
	case LATE_RESET: /* world_sync_resume() has already deleted the tenant; add it again. */
	case LATE_TENANT:
		return put_tenant(s, name);
	case LATE_POD:
		p = t ? tenant_world_pod(t, ns, name, a) : NULL;
		if (!p || p->node)
			s->spec.settled(tenant, ns, name, s->spec.arg);
		return put_pod(s, tenant, ns, name, p);
	case LATE_NODE:
		return put_node(s, tenant, name, t ? tenant_node_get(t, name) : NULL);
	}
	return false;
}

void world_sync_resume(struct world_sync *s)
{
	struct map_iter it;
	bool changed = false;

	s->held = false;
	map_for_each (it, s->late)
		if (it.key[0] == LATE_RESET)
			del_tenant(s, strrchr(it.key, '/') + 1);
	map_for_each (it, s->late)
		changed |= catch_up(s, it.key);
	map_clear(s->late);
	tell(s, changed);
}

struct world *world_sync_world(struct world_sync *s)
{
	return s->world;
}

static void put_settings(struct world_sync *s)
{
	static const char *const usual[] = {"nvidia.com/gpu.clique", "topology.drover.dev/rack",
					    "topology.drover.dev/leaf", "topology.drover.dev/spine",
					    NULL};
	const char *const *keys = s->c->o.gang_levels ? s->c->o.gang_levels : usual;
	size_t n = 0;

	_Static_assert(CONTEXT_LEVELS <= WORLD_LEVELS, "all levels are the world's");
	while (keys[n])
		n++;
	world_put_levels(s->world, keys, n);
	world_put_hold(s->world, gang_holds_ms(s->c));
	world_put_aging(s->world, &(struct world_aging){s->c->o.aging_points, s->c->o.aging_most});
	world_put_clamp(s->world, !s->c->o.pods_rank_everywhere);
}

struct world_sync *world_sync_new(struct context *c, const struct world_sync_spec *spec)
{
	struct world_sync *s = mem_new(struct world_sync);

	*s = (struct world_sync){.c = c,
				 .spec = *spec,
				 .world = world_new(),
				 .late = map_new(NULL),
				 .to_come = to_come_new(c, spec->permits),
				 .probed = map_new(free)};
	put_settings(s);
	return s;
}

void world_sync_free(struct world_sync *s)
{
	if (!s)
		return;
	to_come_free(s->to_come);
	world_free(s->world);
	map_free(s->late);
	map_free(s->probed);
	free(s);
}
