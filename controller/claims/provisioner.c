/*
 * provisioner: makes one plan after a burst of changes, in slices, so that the loop is not blocked.
 * Then it creates the plan's claims and reports to its pods, in slices as well. Until all that is
 * done, the planner's world is paused, so that the plan describes one consistent state.
 * claims/world_sync.c maintains the world; claims/breaker.c and claims/failing.c pause claims.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/claims/provisioner.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/avoided.h"
#include "controller/claims/batch.h"
#include "controller/burst/bursts.h"
#include "controller/claims/changes.h"
#include "controller/claims/claim_build.h"
#include "controller/claims/denied.h"
#include "controller/claims/failing.h"
#include "controller/claims/gang_holds.h"
#include "controller/claims/last_plan.h"
#include "controller/burst/homeward.h"
#include "controller/burst/permits.h"
#include "controller/claims/pod_events.h"
#include "controller/claims/reclaims.h"
#include "controller/claims/refused.h"
#include "controller/claims/requests.h"
#include "controller/core/sending.h"
#include "controller/claims/breaker.h"
#include "controller/claims/stops.h"
#include "controller/burst/to_come.h"
#include "controller/claims/replacements.h"
#include "controller/claims/underused.h"
#include "controller/claims/unwanted.h"
#include "controller/claims/waiting.h"
#include "controller/claims/whole.h"
#include "controller/claims/world_sync.h"
#include "controller/core/notify.h"
#include "controller/rules/claim.h"
#include "controller/tenant/status.h"
#include "controller/tenant/tenant.h"
#include "planner/plan.h"

#define SETTLE_MS 50 /* Delay before a plan, so that one plan covers a burst of changes */
/* After a plan no other plan begins for REST times as long as the plan took, as estimated from its
 * work units, but at most REST_MAX_MS. So endless changes use about a fifth of a processor, or more
 * if a plan takes longer than REST_MAX_MS / REST. */
#define REST 4
#define REST_MAX_MS 1000
/* Interval of plans while a pod may become entitled to another tenant's machine by waiting
 * (planner/reclaim.h) */
#define RECLAIM_AGAIN_MS (5 * 60 * 1000)
/* Interval of checks whether this process may act as leader */
#define MAY_ACT_MS 2000
#define SLICE_PODS 100 /* Number of pods reported in one loop turn */
/* Delay before the next plan if a claim of this plan was not created because such claims are
 * paused */
#define AGAIN_MS 1000

struct provisioner {
	struct context *c;
	const struct tenants *tenants;
	struct world_sync *sync;
	struct avoided *avoided;
	struct denied *denied;
	struct failing *failing;
	struct changes changes;
	struct gang_holds *gang_holds;
	struct stops_from stops;
	/* Unix ms at which the first stop that the plan considered may end (stop: something that
	 * the planner may not use now, stops.h); 0: there was no stop */
	int64_t stops_end;
	struct refused *refused;
	struct unwanted *unwanted;
	struct underused *underused;
	struct replacements *replacements;
	struct homeward *homeward;
	struct reclaims *reclaims;
	struct permits *permits;
	struct bursts *bursts;
	struct batch batch;
	struct loop_timer timer;
	/* Schedules a plan for the time when the first back-off ends, or when more has to be
	 * reported */
	struct loop_timer later;
	/* The plan that is being made or reported; run NULL: none */
	struct plan_run *run;
	struct arena *arena;
	/* Result of the plan that `run` makes, allocated in `arena`; NULL until the plan is
	 * finished */
	struct plan *plan;
	/* For each claim of the plan the name of its NodeClaim; NULL: not created */
	const char **claims;
	/* Result of requests_plan() for this plan: true for each pod that represents its
	 * ProvisioningRequest; NULL: no such pods */
	bool *speaks;
	/* Number of pods of the plan that were reported so far */
	size_t told;
	/* True: begin_reports() was called for this plan */
	bool reports;
	/* ms until another plan is needed if nothing changes; 0: never */
	int64_t first;
	/* ms until a pod may count as refused (refused.h); 0: never */
	int64_t learns;
	/* True: something changed during the plan, so another plan follows */
	bool again;
	struct loop_timer slice;
	/* loop_now() at the beginning of the plan */
	int64_t began;
	struct last_plan *last_plan;
	/* loop_now() before which no plan begins */
	int64_t rests;
	struct sending *sending;
	struct waiting *waiting;
	struct pod_events *pod_events;
	struct metric *plans, *pending;
};

void provisioner_kick(struct provisioner *s)
{
	int64_t rest = s->rests - loop_now(s->c->loop);

	if (s->run)
		s->again = true;
	else if (!loop_timer_active(&s->timer))
		loop_timer_start(&s->timer, rest > SETTLE_MS ? rest : SETTLE_MS);
}

/* --- planning --------------------------------------------------------------------------------- */

static struct breaker_scope place_of(const struct provisioner *s, const struct plan_claim *p)
{
	const struct node_pool *pool = CTX_GET(s->c, OBJECT_NODE_POOL, node_pool, p->pool);
	const struct machine *m = CTX_GET(s->c, OBJECT_MACHINE, machine, p->machine);
	const struct object_image *image = pool ? claim_image(pool, p->version) : NULL;

	return (struct breaker_scope){.pool = p->pool,
				      .image = image ? image->digest : NULL,
				      .provider = p->provider,
				      .rack = m ? breaker_rack(s->c, m) : NULL,
				      .tenant = p->tenant};
}

/* True if the claim may be created now. *trial: set to true if the claim is a trial of the circuit
 * breaker. Needed although the plan considered all stops (stops.h), because the plan does not limit
 * trials to one. */
static bool is_admitted(const struct provisioner *s, struct breaker *l, const struct plan_claim *p,
			bool *trial)
{
	const struct breaker_scope at = place_of(s, p);
	struct breaker_cause why;

	*trial = false;
	if (!breaker_admits(l, &at, &why) ||
	    failing_holds(s->failing, p->tenant, p->pool, loop_wall(s->c->loop),
			  breaker_since(l, p->pool, NULL)))
		return false;
	*trial = why.scope != NULL;
	if (*trial)
		breaker_sent(l, &at);
	return true;
}

static bool is_offered(const struct machine *m)
{
	return m && machine_is_in(m, MACHINE_FREE) && m->status.clean && !m->status.claim_ref &&
	       !m->meta.deletion_timestamp;
}

/* True if the pool, tenant and machine of claim p still allow the claim. Needed because objects may
 * have changed since the planner's world was paused for this plan. */
static bool still_wanted(const struct provisioner *s, const struct plan_claim *p)
{
	const struct node_pool *pool = CTX_GET(s->c, OBJECT_NODE_POOL, node_pool, p->pool);
	const struct virtual_cluster *vc =
		CTX_GET(s->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, p->tenant);
	const struct machine *m = CTX_GET(s->c, OBJECT_MACHINE, machine, p->machine);

	return pool && !pool->spec.paused && !pool->meta.deletion_timestamp && vc &&
	       !vc->spec.paused && !vc->meta.deletion_timestamp &&
	       (to_come_is(s->c, p->provider, p->machine)
			? !permits_is(p->machine) || permits_of_machine(s->permits, p->machine)
			: is_offered(m));
}

/* Sends claim p to the API server. replaces: name of the claim that p replaces; NULL: none. Returns
 * the name of the new NodeClaim, in the plan's arena; NULL: not sent. */
static const char *create(struct provisioner *s, const struct plan_claim *p, const char *replaces)
{
	struct err e;
	json_t *o = claims_build(s->c, p, permits_of_machine(s->permits, p->machine), &e);
	const char *name;

	if (!o) {
		log_warn("claim not built", LOG_E(&e));
		return NULL;
	}
	/* Replaces all annotations, so that CLAIM_FOR_PODS is removed: a replacement is not made
	 * for particular pods. */
	if (replaces)
		json_object_set_new(json_at(o, "metadata"), "annotations",
				    json_pack("{s:s}", CLAIM_REPLACES, replaces));
	name = sending_claim(s->sending, o, &e);
	json_decref(o);
	permits_used(s->permits, p->machine);
	if (!name) {
		log_warn("claim not sent", LOG_E(&e));
		return NULL;
	}
	world_sync_sent(s->sync, name);
	return arena_strdup(s->arena, name);
}

/* Ends the present plan, whether it was finished or given up. */
static void plan_over(struct provisioner *s)
{
	uint64_t rest_ms;

	if (!s->run)
		return;
	rest_ms = plan_work(s->run) / PLAN_MS * REST;
	s->rests = loop_now(s->c->loop) + (int64_t)(rest_ms < REST_MAX_MS ? rest_ms : REST_MAX_MS);
	loop_timer_stop(&s->slice);
	underused_stop(s->underused);
	plan_end(s->run);
	s->run = NULL;
	s->plan = NULL;
	arena_free(s->arena);
	s->arena = NULL;
	world_sync_resume(s->sync);
	if (s->again)
		provisioner_kick(s);
	s->again = false;
}

/* Requests a status update for each tenant for which plans begin or stop to leave out pods because
 * they exceed the computing budget of the tenant. */
static void tell_budgets(struct provisioner *s)
{
	OWN(map) over = map_new(NULL);
	struct map_iter it;

	for (size_t i = 0; i < s->plan->npods; i++) {
		const struct plan_pod *p = &s->plan->pods[i];

		if (p->outcome == PLAN_NOTHING && p->nreasons &&
		    p->reasons[0].code == PLAN_OVER_BUDGET && !map_has(over, p->tenant))
			map_put(over, p->tenant, s);
	}
	map_for_each (it, s->tenants->map)
		if (tenant_budget_plan(it.value, map_has(over, it.key)))
			tenant_status_write(it.value);
}

static void on_its_way(const struct node_claim *n, void *arg)
{
	breaker_claim(arg, n);
}

/* Ensures that another plan is made at Unix ms `at`, or earlier; at 0: does nothing. */
static void is_due(struct provisioner *s, int64_t at)
{
	const int64_t left = at - loop_wall(s->c->loop);

	if (at && (!s->first || left < s->first))
		s->first = left > 0 ? left : 1;
}

static void create_all(struct provisioner *s)
{
	const struct plan *plan = s->plan;
	struct whole_claim *v = arena_calloc(s->arena, plan->nclaims + 1, sizeof(*v));
	struct breaker *l = plan->nclaims ? breaker_read(s->c, s->arena) : NULL;

	if (l)
		sending_each(s->sending, on_its_way, l);
	for (size_t i = 0; i < plan->nclaims; i++) {
		const bool admitted = is_admitted(s, l, &plan->claims[i], &v[i].probe);

		/* Skip claims that are no longer wanted: the next plan, which is due, decides
		 * anew. */
		v[i].goes = admitted && still_wanted(s, &plan->claims[i]);
		if (!admitted)
			is_due(s, loop_wall(s->c->loop) + AGAIN_MS);
	}
	whole_gangs(plan, v, s->arena);
	requests_only_check(plan, v, s->arena);
	for (size_t i = 0; i < plan->nclaims; i++)
		if (v[i].goes)
			permits_count(s->permits, plan->claims[i].machine);
	for (size_t i = 0; i < plan->nclaims; i++)
		if (v[i].goes)
			s->claims[i] = create(s, &plan->claims[i], NULL);
}

/* Acts on a finished plan, in the loop turn in which the plan is finished. Claims are created
 * first, because reports can wait. */
static void on_ready(struct provisioner *s)
{
	const struct plan *plan = s->plan;

	metric_add(s->plans, NULL, 1);
	metric_set(s->pending, NULL, (double)plan->npods);
	s->claims = arena_calloc(s->arena, plan->nclaims + 1, sizeof(*s->claims));
	s->told = 0;
	s->first = 0;
	s->reports = false;
	is_due(s, gang_holds_after(s->gang_holds, plan, loop_wall(s->c->loop)));
	is_due(s, plan->npods ? s->stops_end : 0);
	is_due(s, plan->settles);
	create_all(s);
	last_plan_set(s->last_plan, plan, s->claims, loop_wall(s->c->loop),
		      loop_now(s->c->loop) - s->began);
	unwanted_plan(s->unwanted, plan);
	underused_plan(s->underused, plan);
	reclaims_plan(s->reclaims, plan);
	bursts_plan(s->bursts, plan);
}

/* Prepares the reports about a finished plan. In a turn of its own, because it goes through all
 * pods several times. */
static void begin_reports(struct provisioner *s)
{
	s->reports = true;
	s->learns = refused_plan(s->refused, s->plan);
	waiting_begin(s->waiting);
	s->speaks = requests_plan(s->tenants, s->plan, s->arena);
	tell_budgets(s);
}

/* Creates a claim that replaces another one (replacements.h, homeward.h), if this plan creates no
 * other claim and no pod waits. */
static void plan_replacements(struct provisioner *s)
{
	struct world *w = world_sync_world(s->sync);
	const bool waits = underused_others_wait(s->underused, NULL);
	struct plan_claim p;
	struct breaker *l;
	bool trial;
	const struct node_claim *of =
		replacements_plan(s->replacements, s->plan, w, waits, s->arena, &p);

	if (!of)
		of = homeward_plan(s->homeward, s->plan, w, waits, s->arena, &p);
	if (!of)
		return;
	l = breaker_read(s->c, s->arena);
	sending_each(s->sending, on_its_way, l);
	if (is_admitted(s, l, &p, &trial) && still_wanted(s, &p))
		(void)create(s, &p, of->meta.name);
}

static void on_slice(void *arg)
{
	struct provisioner *s = arg;
	int64_t more;

	if (!s->c->leading) {
		plan_over(s);
		return;
	}
	if (!s->plan) {
		s->plan = plan_step(s->run, PLAN_SLICE);
		if (s->plan)
			on_ready(s);
	} else if (!s->reports) {
		begin_reports(s);
	} else if (!underused_runs(s->underused)) {
		more = pod_events_of_plan(s->pod_events, s->plan, s->claims, s->speaks, s->told,
					  SLICE_PODS);
		s->told += SLICE_PODS;
		if (more && (!s->first || more < s->first))
			s->first = more;
	}
	if (!s->plan || !s->reports || s->told < s->plan->npods ||
	    underused_step(s->underused, world_sync_world(s->sync))) {
		loop_timer_start(&s->slice, 0);
		return;
	}
	waiting_end(s->waiting);
	plan_replacements(s);
	/* Make a plan in time to report to the waiting pods again, even if nothing changes. */
	if (s->plan->npods && (!s->first || s->first > POD_EVENTS_AGAIN_MS))
		s->first = POD_EVENTS_AGAIN_MS;
	if (s->plan->waits_for_more && (!s->first || s->first > RECLAIM_AGAIN_MS))
		s->first = RECLAIM_AGAIN_MS;
	if (s->learns && (!s->first || s->learns < s->first))
		s->first = s->learns;
	more = underused_next_ms(s->underused);
	if (more && (!s->first || more < s->first))
		s->first = more;
	more = homeward_next_ms(s->homeward);
	if (more && (!s->first || more < s->first))
		s->first = more;
	if (s->first)
		loop_timer_start(&s->later, s->first);
	plan_over(s);
}

static void on_plan(void *arg)
{
	struct provisioner *s = arg;
	struct context *c = s->c;
	int64_t left = batch_left(&s->batch, loop_now(c->loop));
	struct breaker *breaker;

	if (s->run) {
		s->again = true;
		return;
	}
	if (!c->leading || !c->ready)
		return;
	if (!ctx_may_act(c) && left < MAY_ACT_MS)
		left = MAY_ACT_MS;
	if (left) {
		loop_timer_start(&s->timer, left);
		return;
	}
	batch_planned(&s->batch);
	permits_begin(s->permits);
	gang_holds_before(s->gang_holds, world_sync_world(s->sync), loop_wall(c->loop));
	world_sync_pause(s->sync);
	s->arena = arena_new();
	breaker = breaker_read(c, s->arena);
	sending_each(s->sending, on_its_way, breaker);
	s->stops_end = stops_put(&s->stops, breaker, world_sync_world(s->sync));
	s->began = loop_now(c->loop);
	mem_keep_freed(true);
	s->run = plan_begin(world_sync_world(s->sync), loop_wall(c->loop), s->arena);
	loop_timer_start(&s->slice, 0);
}

const struct changes *provisioner_changes(const struct provisioner *s)
{
	return &s->changes;
}

struct world_sync *provisioner_sync(struct provisioner *s)
{
	return s->sync;
}

struct avoided *provisioner_avoided(struct provisioner *s)
{
	return s->avoided;
}

struct unwanted *provisioner_unwanted(struct provisioner *s)
{
	return s->unwanted;
}

struct underused *provisioner_underused(struct provisioner *s)
{
	return s->underused;
}

struct replacements *provisioner_replacements(struct provisioner *s)
{
	return s->replacements;
}

struct homeward *provisioner_homeward(struct provisioner *s)
{
	return s->homeward;
}

struct reclaims *provisioner_reclaims(struct provisioner *s)
{
	return s->reclaims;
}

struct permits *provisioner_permits(struct provisioner *s)
{
	return s->permits;
}

const struct waiting *provisioner_waiting(const struct provisioner *s)
{
	return s->waiting;
}

const struct last_plan *provisioner_last_plan(const struct provisioner *s)
{
	return s->last_plan;
}

struct bursts *provisioner_bursts(struct provisioner *s)
{
	return s->bursts;
}

static void on_came(void *arg)
{
	struct provisioner *s = arg;

	batch_came(&s->batch, loop_now(s->c->loop));
}

static void on_changed(void *arg)
{
	struct provisioner *s = arg;

	underused_changed(s->underused);
	provisioner_kick(s);
}

static void on_later(void *arg)
{
	provisioner_kick(arg);
}

static void on_refused(const char *tenant, const char *ns, const char *name, void *arg)
{
	const struct provisioner *s = arg;

	world_sync_refused(s->sync, tenant, ns, name);
}

static void on_denied(const char *tenant, const char *const *uids, size_t n, void *arg)
{
	const struct provisioner *s = arg;

	world_sync_denied(s->sync, tenant, uids, n);
}

/* The pod is deleted or bound: forget what was reported to it. */
static void on_settled(const char *tenant, const char *ns, const char *name, void *arg)
{
	const struct provisioner *s = arg;

	pod_events_forget(s->pod_events, tenant, ns, name);
	refused_forget(s->refused, tenant, ns, name);
}

static void on_emptied(const char *tenant, void *arg)
{
	const struct provisioner *s = arg;

	pod_events_forget_tenant(s->pod_events, tenant);
	refused_forget_tenant(s->refused, tenant);
}

static void on_permit(const struct permit *p, void *arg)
{
	const struct provisioner *s = arg;

	world_sync_permit(s->sync, p);
}

/* Updates the claim of that name in the planner's world: the claim is in the cache now, or does not
 * exist. */
static void on_sent(const char *name, void *arg)
{
	const struct provisioner *s = arg;

	changes_claim(&s->changes, name, CTX_GET(s->c, OBJECT_NODE_CLAIM, node_claim, name));
}

static void on_published(void *arg)
{
	const struct provisioner *s = arg;

	notify(s->c, NOTICE_POOL, NULL);
}

struct provisioner *provisioner_new(struct context *c, const struct tenants *tenants,
				    const struct eta *eta, const struct drivers *drivers,
				    struct fleet *fleet)
{
	struct provisioner *s = mem_new(struct provisioner);
	struct world_sync_spec spec = {.tenants = tenants,
				       .eta = eta,
				       .changed = on_changed,
				       .came = on_came,
				       .settled = on_settled,
				       .emptied = on_emptied,
				       .arg = s};

	s->c = c;
	s->tenants = tenants;
	s->batch = (struct batch){.idle_ms = c->o.batch_idle_ms, .most_ms = c->o.batch_most_ms};
	spec.refused = s->refused = refused_new(c, tenants, on_refused, s);
	spec.avoided = s->avoided = avoided_new(c);
	spec.denied = s->denied = denied_new(on_denied, s);
	s->failing = failing_new(c);
	s->gang_holds = gang_holds_new(c);
	s->stops = (struct stops_from){c, s->failing, drivers, fleet};
	s->unwanted = unwanted_new(c, tenants);
	s->underused = underused_new(c, tenants);
	s->reclaims = reclaims_new(c, tenants);
	s->replacements = replacements_new(c, on_later, s);
	s->homeward = homeward_new(c, tenants, eta);
	spec.sending = s->sending = sending_new(c, on_sent, s);
	s->last_plan = last_plan_new();
	s->waiting = waiting_new(c, on_published, s);
	s->pod_events = pod_events_new(c, tenants, eta, s->refused, s->sending, s->waiting);
	s->permits = permits_new(on_permit, s);
	spec.permits = s->permits;
	s->bursts = bursts_new(&(struct bursts_spec){
		{c, fleet, s->permits, s->sending}, tenants, eta, s->permits});
	s->sync = world_sync_new(c, &spec);
	s->changes = (struct changes){s->sync,	  s->avoided, s->denied,
				      s->failing, s->refused, s->sending};
	s->plans = metrics_counter(c->metrics, "drover_plans_total",
				   "Plans that the planner completed.", NULL);
	s->pending = metrics_gauge(c->metrics, "drover_pending_pods",
				   "Pods marked unschedulable in all tenants, and future pods "
				   "of ProvisioningRequests.",
				   NULL);
	metric_transient(s->pending); /* The leader alone shows it. */
	loop_timer_init(&s->timer, c->group, on_plan, s);
	loop_timer_init(&s->later, c->group, on_later, s);
	loop_timer_init(&s->slice, c->group, on_slice, s);
	return s;
}

void provisioner_free(struct provisioner *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->timer);
	loop_timer_stop(&s->later);
	loop_timer_stop(&s->slice);
	if (s->run)
		plan_end(s->run);
	arena_free(s->arena);
	world_sync_free(s->sync);
	permits_free(s->permits);
	sending_free(s->sending);
	avoided_free(s->avoided);
	denied_free(s->denied);
	failing_free(s->failing);
	gang_holds_free(s->gang_holds);
	refused_free(s->refused);
	unwanted_free(s->unwanted);
	underused_free(s->underused);
	reclaims_free(s->reclaims);
	replacements_free(s->replacements);
	homeward_free(s->homeward);
	bursts_free(s->bursts);
	pod_events_free(s->pod_events);
	waiting_free(s->waiting);
	last_plan_free(s->last_plan);
	free(s);
}
