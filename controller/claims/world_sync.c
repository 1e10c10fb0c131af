/* world_sync: objects, pods and Nodes as the planner's structs: one function for each kind of change. */
#include "controller/claims/world_sync.h"

#include "api/machine_states.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/avoided.h"
#include "controller/claims/failing.h"
#include "controller/claims/pod_events.h"
#include "controller/drain/drains.h"
#include "controller/rules/claim.h"
#include "controller/rules/machine.h"
#include "controller/rules/provider.h"
#include "controller/rules/wipe_judge.h"
#include "controller/tenant/sleep.h"
#include "controller/tenant/tenant.h"
#include "planner/world.h"
#include "planner/world_impl.h"

struct world_sync {
	struct context *c;
	struct world_sync_spec spec;
	struct world *world;
};

static struct world_taints taints_of(const struct object_taints *t, struct arena *a)
{
	struct world_taints w = {.v = arena_calloc(a, t->n + 1, sizeof(*w.v)), .n = t->n};

	for (size_t i = 0; i < t->n; i++)
		w.v[i] = (struct world_taint){t->v[i].key, t->v[i].value,
					      object_effect_names[t->v[i].effect]};
	return w;
}

static struct selector requirements_of(const struct object_requirements *r, struct arena *a)
{
	const struct object_label_selector s = {.match_expressions = *r};

	return object_selector(&s, a);
}

void world_sync_pool(struct world_sync *s, const char *name, const struct node_pool *p)
{
	OWN(arena) a = arena_new();
	const struct node_pool_template_spec *t;
	struct world_pool w = {.name = name};

	s->spec.changed(s->spec.arg);
	if (!p) {
		world_del_pool(s->world, name);
		return;
	}
	failing_forgive(s->spec.failing, name);
	t = &p->spec.template_.spec;
	w.weight = p->spec.weight;
	w.tenants = object_selector(&p->spec.virtual_cluster_selector, a);
	w.providers = arena_calloc(a, t->provider_refs.n + 1, sizeof(*w.providers));
	for (size_t i = 0; i < t->provider_refs.n; i++)
		w.providers[w.nproviders++] = t->provider_refs.v[i].name;
	w.requirements = requirements_of(&t->requirements, a);
	w.labels = p->spec.template_.metadata.labels;
	w.taints = taints_of(&t->taints, a);
	w.limits = p->spec.limits;
	w.versions = arena_calloc(a, t->images.n + 1, sizeof(*w.versions));
	for (size_t i = 0; i < t->images.n; i++)
		w.versions[w.nversions++] = t->images.v[i].kubernetes_version;
	w.minimum_level_flash = p->spec.wipe.minimum_level.flash;
	w.minimum_level_hdd = p->spec.wipe.minimum_level.hdd;
	w.minimum_trust = p->spec.wipe.minimum_trust;
	w.paused = p->spec.paused || p->meta.deletion_timestamp;
	w.paused_reason = p->meta.deletion_timestamp ? "PoolDeleted" : "PoolPaused";
	world_put_pool(s->world, &w);
}

void world_sync_provider(struct world_sync *s, const char *name, const struct provider_object *p)
{
	OWN(arena) a = arena_new();
	struct world_provider w = {.name = name};

	s->spec.changed(s->spec.arg);
	if (!p) {
		world_del_provider(s->world, name);
		return;
	}
	w.paused = p->spec.paused || p->meta.deletion_timestamp;
	w.paused_reason = "ProviderPaused";
	w.types.v = arena_calloc(a, p->spec.instance_types.n + 1, sizeof(*w.types.v));
	for (size_t i = 0; i < p->spec.instance_types.n; i++) {
		const struct provider_object_instance_type *t = &p->spec.instance_types.v[i];

		w.types.v[w.types.n++] =
			(struct world_instance_type){t->name, t->capacity, t->labels};
	}
	world_put_provider(s->world, &w);
}

void world_sync_machine(struct world_sync *s, const char *name, const struct machine *m)
{
	struct world_machine w = {.name = name, .level_flash = -1, .level_hdd = -1};
	const struct wipe_record *r;
	bool free_state;

	s->spec.changed(s->spec.arg);
	if (!m) {
		world_del_machine(s->world, name);
		avoided_forget(s->spec.avoided, name);
		return;
	}
	free_state = str_eq(m->status.state, "free");
	w.provider = m->spec.provider_ref.name;
	w.instance_type = m->spec.instance_type;
	w.labels = m->meta.labels;
	w.failures = (unsigned)m->status.failures.n;
	w.warm = warm_is_ready(m);
	w.offered = free_state && m->status.clean && !m->status.claim_ref &&
		    !m->meta.deletion_timestamp && m->spec.management_policy == MACHINE_MANAGE;
	w.not_offered = !free_state	      ? str_or(m->status.state, "known")
			: m->status.claim_ref ? "claimed"
			: !m->status.clean    ? "not clean"
					      : "not managed";
	r = m->status.last_wipe.record
		    ? CTX_GET(s->c, OBJECT_WIPE_RECORD, wipe_record, m->status.last_wipe.record)
		    : NULL;
	if (r) {
		wipe_judge_levels(&r->spec.evidence, &w.level_flash, &w.level_hdd);
		w.trust = r->spec.evidence.agent_trust;
	}
	if (w.offered && drains_take_out(s->c, m)) {
		w.offered = false;
		w.not_offered = "to be taken out of use";
	}
	if (w.offered && warm_is_ending(m)) {
		w.offered = false;
		w.not_offered = "being switched off";
	}
	if (w.offered && avoided_is(s->spec.avoided, name)) {
		w.offered = false;
		w.not_offered = "avoided: it did not take its last claim";
	}
	if (m->status.claim_ref) /* it takes claims again */
		avoided_forget(s->spec.avoided, name);
	world_put_machine(s->world, &w);
}

void world_sync_claim(struct world_sync *s, const char *name, const struct node_claim *n)
{
	OWN(arena) a = arena_new();
	struct world_claim w = {.name = name};
	const struct object_ref *r;
	const struct machine *m;
	const struct provider_object *p;
	const struct provider_object_instance_type *t;

	s->spec.changed(s->spec.arg);
	if (!n) {
		world_del_claim(s->world, name);
		failing_forget_claim(s->spec.failing, name);
		return;
	}
	r = n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;
	m = r ? CTX_GET(s->c, OBJECT_MACHINE, machine, r->name) : NULL;
	p = m && m->spec.provider_ref.name
		    ? CTX_GET(s->c, OBJECT_PROVIDER, provider_object, m->spec.provider_ref.name)
		    : NULL;
	t = p ? provider_instance_type(p, claim_instance_type(n)) : NULL;
	w.tenant = n->spec.virtual_cluster_ref.name;
	w.pool = n->spec.node_pool_ref.name;
	w.machine = r ? r->name : NULL;
	w.instance_type = claim_instance_type(n);
	w.provider = p ? p->meta.name : NULL;
	w.labels = n->spec.labels;
	w.taints = taints_of(&n->spec.taints, a);
	if (t)
		w.capacity = t->capacity;
	w.failed = str_eq(n->status.phase, "Failed");
	w.leaving = n->meta.deletion_timestamp != 0 || claim_node_gone(n) ||
		    (m && m->status.claim_ref && str_eq(m->status.claim_ref->uid, n->meta.uid) &&
		     machine_state_find(str_or(m->status.state, "")) >= MACHINE_DRAINING);
	w.ready = condition_is_true(&n->status.conditions, "Ready");
	failing_claim(s->spec.failing, n, w.failed, w.ready && !w.failed);
	world_put_claim(s->world, &w);
}

void world_sync_tenant(struct world_sync *s, const char *name)
{
	const struct virtual_cluster *vc =
		CTX_GET(s->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, name);
	struct tenant *t = tenant_get(s->spec.tenants, name);
	struct world_tenant w = {.name = name};

	s->spec.changed(s->spec.arg);
	if (!vc) {
		world_del_tenant(s->world, name);
		return;
	}
	w.labels = vc->meta.labels;
	w.quota = vc->spec.quota;
	w.weight = vc->spec.weight;
	w.priority = vc->spec.priority;
	w.version = t ? t->version : NULL;
	w.paused = vc->spec.paused || vc->meta.deletion_timestamp || !t || !tenant_usable(t);
	w.paused_reason = vc->meta.deletion_timestamp ? "TenantDeleted"
			  : vc->spec.paused	      ? "TenantPaused"
			  : t && tenant_sleep_now(t)  ? "Asleep"
			  : t && t->reason	      ? t->reason
						      : "Starting";
	world_put_tenant(s->world, &w);
}

void world_sync_tenant_reset(struct world_sync *s, const char *name)
{
	world_del_tenant(s->world, name);
	pod_events_forget_tenant(s->spec.pod_events, name);
	world_sync_tenant(s, name);
}

void world_sync_pod(struct world_sync *s, const char *tenant, const char *ns, const char *name,
		    const struct world_pod *p)
{
	s->spec.changed(s->spec.arg);
	if (p)
		world_put_pod(s->world, p);
	else
		world_del_pod(s->world, tenant, ns, name);
	if (!p || p->node)
		pod_events_forget(s->spec.pod_events, tenant, ns, name);
}

void world_sync_node(struct world_sync *s, const char *tenant, const char *name,
		     const struct tenant_node *n)
{
	s->spec.changed(s->spec.arg);
	/* Until drover takes its taint away a machine of ours is a claim on its way, not room. */
	if (n && !n->unregistered)
		world_put_node(s->world, &n->world);
	else
		world_del_node(s->world, tenant, name);
}

struct world *world_sync_world(struct world_sync *s)
{
	return s->world;
}

struct world_sync *world_sync_new(struct context *c, const struct world_sync_spec *spec)
{
	struct world_sync *s = mem_new(struct world_sync);

	*s = (struct world_sync){.c = c, .spec = *spec, .world = world_new()};
	return s;
}

void world_sync_free(struct world_sync *s)
{
	if (!s)
		return;
	world_free(s->world);
	free(s);
}
