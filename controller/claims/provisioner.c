/*
 * provisioner: one plan after a burst of changes; its claims are created, its pods are told.  What
 * it plans on is kept by claims/world_sync.c, who pauses it by claims/stop_line.c and
 * claims/failing.c.
 */
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
#include "controller/claims/avoided.h"
#include "controller/claims/claim_build.h"
#include "controller/claims/failing.h"
#include "controller/claims/pod_events.h"
#include "controller/claims/stop_line.h"
#include "controller/claims/world_sync.h"
#include "controller/core/counters.h"
#include "controller/rules/claim.h"
#include "controller/tenant/tenant.h"
#include "planner/plan.h"
#include "planner/world_impl.h"

#define SETTLE_MS 50 /* changes come in bursts: one plan for all of them */
#define RETRY_MS 2000

struct provisioner {
	struct context *c;
	struct world_sync *sync;
	struct avoided *avoided;
	struct failing *failing;
	struct loop_timer timer;
	struct loop_timer later; /* the first back-off ends, or there is more to tell */
	unsigned creating;	 /* claims in flight */
	struct pod_events *pod_events;
	struct metric *plans, *pending;
};

void provisioner_kick(struct provisioner *s)
{
	if (!loop_timer_active(&s->timer))
		loop_timer_start(&s->timer, SETTLE_MS);
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
	const struct node_pool *pool = CTX_GET(s->c, OBJECT_NODE_POOL, node_pool, p->pool);
	const struct machine *m = CTX_GET(s->c, OBJECT_MACHINE, machine, p->machine);
	const struct object_image *image = pool ? claim_image(pool, p->version) : NULL;

	return (struct stop_line_place){.pool = p->pool,
					.image = image ? image->digest : NULL,
					.provider = p->provider,
					.rack = m ? stop_line_rack(s->c, m) : NULL,
					.tenant = p->tenant};
}

static struct pod_events_hold hold_of(const struct provisioner *s, struct stop_line *l,
				      const struct plan_claim *p)
{
	const struct failing_row *f = failing_of(s->failing, p->tenant, p->pool);
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
	struct context *c = s->c;
	OWN(arena) a = arena_new();
	struct plan *plan;
	struct stop_line *l;
	struct pod_events_hold *held;
	int64_t first = 0, more;

	if (!c->leading || !c->ready || s->creating)
		return;
	plan = plan_make(world_sync_world(s->sync), loop_wall(c->loop), a);
	metric_add(s->plans, NULL, 1);
	metric_set(s->pending, NULL, (double)plan->npods);
	l = stop_line_read(c, a);
	held = arena_calloc(a, plan->nclaims + 1, sizeof(*held));
	for (size_t i = 0; i < plan->nclaims; i++) {
		held[i] = hold_of(s, l, &plan->claims[i]);
		if (held[i].until && (!first || held[i].until < first))
			first = held[i].until;
	}
	if (first)
		first -= loop_wall(c->loop);
	more = pod_events_of_plan(s->pod_events, plan, held);
	if (more && (!first || more < first))
		first = more;
	if (first)
		loop_timer_start(&s->later, first);
	for (size_t i = 0; i < plan->nclaims; i++)
		if (!held[i].line && !held[i].backing_off)
			create(s, &plan->claims[i]);
}

struct world_sync *provisioner_sync(struct provisioner *s)
{
	return s->sync;
}

struct avoided *provisioner_avoided(struct provisioner *s)
{
	return s->avoided;
}

static void on_changed(void *arg)
{
	provisioner_kick(arg);
}

struct provisioner *provisioner_new(struct context *c, const struct tenants *tenants,
				    const struct eta *eta)
{
	struct provisioner *s = mem_new(struct provisioner);
	struct world_sync_spec spec = {.tenants = tenants, .changed = on_changed, .arg = s};

	s->c = c;
	s->pod_events = spec.pod_events = pod_events_new(c, tenants, eta);
	s->avoided = spec.avoided = avoided_new(c);
	s->failing = spec.failing = failing_new(c);
	s->sync = world_sync_new(c, &spec);
	s->plans = metrics_counter(c->metrics, "drover_plans_total", "Plans made.", NULL);
	s->pending = metrics_gauge(c->metrics, "drover_pending_pods",
				   "Pods marked unschedulable in all tenants.", NULL);
	loop_timer_init(&s->timer, c->group, on_plan, s);
	loop_timer_init(&s->later, c->group, on_changed, s);
	return s;
}

void provisioner_free(struct provisioner *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->timer);
	loop_timer_stop(&s->later);
	world_sync_free(s->sync);
	avoided_free(s->avoided);
	failing_free(s->failing);
	pod_events_free(s->pod_events);
	free(s);
}
