#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/claims/provisioner.h"
#include "api/resources.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/claims.h"
#include "controller/claims/pod_events.h"
#include "controller/claims/stop_line.h"
#include "controller/core/counters.h"
#include "controller/rules/claim.h"
#include "controller/rules/machine.h"
#include "controller/rules/provider.h"
#include "controller/rules/wipe_judge.h"
#include "controller/steps/requests.h"
#include "controller/tenant/sleep.h"
#include "controller/tenant/tenant.h"
#include "planner/plan.h"
#include "planner/world_impl.h"

#define SETTLE_MS 50 /* changes come in bursts: one plan for all of them */
#define RETRY_MS 2000
#define FAILURES_ALLOWED 3 /* claims for one demand, then it backs off */
#define BACKOFF_MS (10 * 60 * 1000)
#define AVOID_DOUBLINGS 4

struct provisioner {
	struct controller *c;
	struct world *world;
	struct loop_timer timer;
	struct loop_timer again; /* avoided machines */
	struct loop_timer later; /* the first back-off ends, or there is more to tell */
	unsigned creating;	 /* claims in flight */
	struct pod_events *news;
	struct map *failed;  /* "tenant|pool" -> struct failed */
	struct map *avoided; /* machine -> struct failed */
	struct map *noted;   /* claim -> struct noted */
	struct metric *plans, *pending;
};

/* Claims that failed one after the other, for one tenant and pool. */
struct failed {
	unsigned n;
	int64_t last, until; /* wall ms: of the last one; no new claim before */
};

/* What was already counted of a claim, which is told again with each change. */
struct noted {
	bool failed, ready;
};

/* --- deltas -------------------------------------------------------------------------------------- */

void provisioner_kick(struct provisioner *s)
{
	if (!loop_timer_active(&s->timer))
		loop_timer_start(&s->timer, SETTLE_MS);
}

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

/* Its spec changed: what failed before is tried at once. */
static void forgive(struct provisioner *s, const char *pool, struct arena *a)
{
	const char *end = arena_printf(a, "|%s", pool);
	struct map_iter it;

	map_for_each (it, s->failed)
		if (str_ends(it.key, end))
			map_del(s->failed, it.key);
}

void provisioner_pool(struct provisioner *s, const char *name, const struct node_pool *p)
{
	OWN(arena) a = arena_new();
	const struct node_pool_template_spec *t;
	struct world_pool w = {.name = name};

	provisioner_kick(s);
	if (!p) {
		world_del_pool(s->world, name);
		return;
	}
	forgive(s, name, a);
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

void provisioner_provider(struct provisioner *s, const char *name, const struct provider_object *p)
{
	OWN(arena) a = arena_new();
	struct world_provider w = {.name = name};

	provisioner_kick(s);
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

static bool avoided(const struct provisioner *s, const char *machine)
{
	const struct failed *f = map_get(s->avoided, machine);

	return f && loop_wall(s->c->loop) < f->until;
}

void provisioner_avoid(struct provisioner *s, const char *machine)
{
	struct failed *f = map_get(s->avoided, machine);
	int64_t ms;

	if (!f) {
		f = mem_new(struct failed);
		map_put(s->avoided, machine, f);
	}
	ms = (int64_t)BACKOFF_MS << (f->n < AVOID_DOUBLINGS ? f->n : AVOID_DOUBLINGS);
	f->n++;
	f->until = loop_wall(s->c->loop) + ms;
	log_warn("machine avoided: it did not take its claim", LOG_S("machine", machine),
		 LOG_I("ms", ms));
	provisioner_machine(s, machine, CONTROLLER_GET(s->c, OBJECT_MACHINE, machine, machine));
	loop_timer_start(&s->again, ms + 1000);
}

/* Machines that were avoided are looked at again. */
static void on_again(void *arg)
{
	struct provisioner *s = arg;
	struct map_iter it;

	map_for_each (it, s->avoided)
		provisioner_machine(s, it.key,
				    CONTROLLER_GET(s->c, OBJECT_MACHINE, machine, it.key));
	if (map_size(s->avoided))
		loop_timer_start(&s->again, BACKOFF_MS);
}

void provisioner_machine(struct provisioner *s, const char *name, const struct machine *m)
{
	struct world_machine w = {.name = name, .level_flash = -1, .level_hdd = -1};
	const struct wipe_record *r;
	bool free_state;

	provisioner_kick(s);
	if (!m) {
		world_del_machine(s->world, name);
		map_del(s->avoided, name);
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
	w.not_offered = free_state ? m->status.claim_ref ? "claimed" : "not managed"
				   : str_or(m->status.state, "known");
	r = m->status.last_wipe.record ? CONTROLLER_GET(s->c, OBJECT_WIPE_RECORD, wipe_record,
							m->status.last_wipe.record)
				       : NULL;
	if (r) {
		wipe_judge_levels(&r->spec.evidence, &w.level_flash, &w.level_hdd);
		w.trust = r->spec.evidence.agent_trust;
	}
	if (w.offered && request_not_offered(s->c, m)) {
		w.offered = false;
		w.not_offered = "to be taken out of use";
	}
	if (w.offered && warm_is_ending(m)) {
		w.offered = false;
		w.not_offered = "being switched off";
	}
	if (w.offered && avoided(s, name)) {
		w.offered = false;
		w.not_offered = "avoided: it did not take its last claim";
	}
	if (m->status.claim_ref) /* it takes claims again */
		map_del(s->avoided, name);
	world_put_machine(s->world, &w);
}

/* Failures in a row, each claim once; one that becomes ready ends the row. */
static void note(struct provisioner *s, const struct node_claim *n, bool failed, bool ready)
{
	OWN(arena) a = arena_new();
	const char *key = arena_printf(a, "%s|%s", n->spec.virtual_cluster_ref.name,
				       n->spec.node_pool_ref.name);
	struct failed *f = map_get(s->failed, key);
	struct noted *was = map_get(s->noted, n->meta.name);
	int64_t now = loop_wall(s->c->loop);

	if (!was) {
		was = mem_new(struct noted);
		map_put(s->noted, n->meta.name, was);
	}
	if (ready && !was->ready)
		map_del(s->failed, key);
	was->ready |= ready;
	if (!failed || was->failed)
		return;
	was->failed = true;
	if (!f) {
		f = mem_new(struct failed);
		map_put(s->failed, key, f);
	}
	f->n++;
	f->last = now;
	if (f->n < FAILURES_ALLOWED)
		return;
	f->until = now + (int64_t)BACKOFF_MS *
				 (1 << (f->n - FAILURES_ALLOWED < 4 ? f->n - FAILURES_ALLOWED : 4));
	log_warn("claims fail: backing off", LOG_S("tenant", n->spec.virtual_cluster_ref.name),
		 LOG_S("pool", n->spec.node_pool_ref.name), LOG_I("failures", f->n),
		 LOG_I("ms", f->until - now));
}

void provisioner_claim(struct provisioner *s, const char *name, const struct node_claim *n)
{
	OWN(arena) a = arena_new();
	struct world_claim w = {.name = name};
	const struct object_ref *r;
	const struct machine *m;
	const struct provider_object *p;
	const struct provider_object_instance_type *t;

	provisioner_kick(s);
	if (!n) {
		world_del_claim(s->world, name);
		map_del(s->noted, name);
		return;
	}
	r = n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;
	m = r ? CONTROLLER_GET(s->c, OBJECT_MACHINE, machine, r->name) : NULL;
	p = m && m->spec.provider_ref.name ? CONTROLLER_GET(s->c, OBJECT_PROVIDER, provider_object,
							    m->spec.provider_ref.name)
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
	w.leaving = n->meta.deletion_timestamp != 0 ||
		    (m && m->status.claim_ref && str_eq(m->status.claim_ref->uid, n->meta.uid) &&
		     machine_state_find(str_or(m->status.state, "")) >= MACHINE_DRAINING);
	w.ready = condition_is_true(&n->status.conditions, "Ready");
	note(s, n, w.failed, w.ready && !w.failed);
	world_put_claim(s->world, &w);
}

void provisioner_tenant(struct provisioner *s, const char *name)
{
	const struct virtual_cluster *vc =
		CONTROLLER_GET(s->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, name);
	struct tenant *t = tenant_get(s->c, name);
	struct world_tenant w = {.name = name};

	provisioner_kick(s);
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

void provisioner_tenant_reset(struct provisioner *s, const char *name)
{
	world_del_tenant(s->world, name);
	provisioner_tenant(s, name);
}

void provisioner_pod(struct provisioner *s, const char *tenant, const char *ns, const char *name,
		     const struct world_pod *p)
{
	provisioner_kick(s);
	if (p)
		world_put_pod(s->world, p);
	else
		world_del_pod(s->world, tenant, ns, name);
	if (!p || p->node)
		pod_events_forget(s->news, tenant, ns, name);
}

void provisioner_node(struct provisioner *s, const char *tenant, const char *name,
		      const struct tenant_node *n)
{
	provisioner_kick(s);
	/* Until drover takes its taint away a machine of ours is a claim on its way, not room. */
	if (n && !n->unregistered)
		world_put_node(s->world, &n->world);
	else
		world_del_node(s->world, tenant, name);
}

/* --- planning ------------------------------------------------------------------------------------ */

static void on_created(json_t *o, const struct err *e, void *arg)
{
	struct provisioner *s = arg;

	s->creating--;
	if (!e) {
		kube_cache_learn(s->c->cache[OBJECT_NODE_CLAIM], o);
		counters_claim_created(s->c->counters,
				       json_str_at(o, "spec", "nodePoolRef", "name"));
		log_info("claim created", LOG_S("claim", json_str_at(o, "metadata", "name")),
			 LOG_S("tenant", json_str_at(o, "spec", "virtualClusterRef", "name")),
			 LOG_S("machine", json_str_at(o, "spec", "machineRef", "name")));
		provisioner_kick(s);
	} else {
		log_warn("claim not created", LOG_E(e));
		loop_timer_start(&s->timer, RETRY_MS);
	}
}

static struct stop_line_place place_of(const struct provisioner *s, const struct plan_claim *p)
{
	const struct node_pool *pool = CONTROLLER_GET(s->c, OBJECT_NODE_POOL, node_pool, p->pool);
	const struct machine *m = CONTROLLER_GET(s->c, OBJECT_MACHINE, machine, p->machine);
	const struct object_image *image = pool ? claim_image(pool, p->version) : NULL;

	return (struct stop_line_place){.pool = p->pool,
					.image = image ? image->digest : NULL,
					.provider = p->provider,
					.rack = m ? stop_line_rack(s->c, m) : NULL,
					.tenant = p->tenant};
}

static struct pod_events_hold hold_of(const struct provisioner *s, struct stop_line *l,
				      const struct plan_claim *p, struct arena *a)
{
	const struct failed *f = map_get(s->failed, arena_printf(a, "%s|%s", p->tenant, p->pool));
	const struct stop_line_place at = place_of(s, p);
	struct pod_events_hold h = {0};

	if (!stop_line_admits(l, &at, &h.stop)) {
		h.line = true;
		h.until = h.stop.next;
	} else if (f && loop_wall(s->c->loop) < f->until &&
		   f->last > stop_line_since(l, p->pool, NULL)) {
		h.backing_off = true;
		h.failures = f->n;
		h.until = f->until;
	} else if (h.stop.scope) {
		stop_line_sent(l, &at);
	}
	return h;
}

static void on_later(void *arg)
{
	provisioner_kick(arg);
}

static void create(struct provisioner *s, const struct plan_claim *p)
{
	struct err e;
	json_t *o = claims_build(s->c, p, &e);

	if (!o) {
		log_warn("claim not built", LOG_E(&e));
		return;
	}
	s->creating++;
	(void)kube_create(s->c->host, &object_resources[OBJECT_NODE_CLAIM], NULL, o, on_created, s);
	json_decref(o);
}

static void on_plan(void *arg)
{
	struct provisioner *s = arg;
	struct controller *c = s->c;
	OWN(arena) a = arena_new();
	struct plan *plan;
	struct stop_line *l;
	struct pod_events_hold *held;
	int64_t first = 0, more;

	if (!c->leading || !controller_ready(c) || s->creating)
		return;
	plan = plan_make(s->world, loop_wall(c->loop), a);
	metric_add(s->plans, NULL, 1);
	metric_set(s->pending, NULL, (double)plan->npods);
	l = stop_line_read(c, a);
	held = arena_calloc(a, plan->nclaims + 1, sizeof(*held));
	for (size_t i = 0; i < plan->nclaims; i++) {
		held[i] = hold_of(s, l, &plan->claims[i], a);
		if (held[i].until && (!first || held[i].until < first))
			first = held[i].until;
	}
	if (first)
		first -= loop_wall(c->loop);
	more = pod_events_of_plan(s->news, plan, held);
	if (more && (!first || more < first))
		first = more;
	if (first)
		loop_timer_start(&s->later, first);
	for (size_t i = 0; i < plan->nclaims; i++)
		if (!held[i].line && !held[i].backing_off)
			create(s, &plan->claims[i]);
}

struct world *provisioner_world(struct provisioner *s)
{
	return s->world;
}

struct provisioner *provisioner_new(struct controller *c)
{
	struct provisioner *s = mem_new(struct provisioner);

	s->c = c;
	s->world = world_new();
	s->news = pod_events_new(c);
	s->failed = map_new(free);
	s->noted = map_new(free);
	s->avoided = map_new(free);
	s->plans = metrics_counter(c->metrics, "drover_plans_total", "Plans made.", NULL);
	s->pending = metrics_gauge(c->metrics, "drover_pending_pods",
				   "Pods marked unschedulable in all tenants.", NULL);
	loop_timer_init(&s->timer, c->group, on_plan, s);
	loop_timer_init(&s->later, c->group, on_later, s);
	loop_timer_init(&s->again, c->group, on_again, s);
	return s;
}

void provisioner_free(struct provisioner *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->timer);
	loop_timer_stop(&s->later);
	loop_timer_stop(&s->again);
	world_free(s->world);
	pod_events_free(s->news);
	map_free(s->failed);
	map_free(s->noted);
	map_free(s->avoided);
	free(s);
}
