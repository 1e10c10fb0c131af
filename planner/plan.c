/*
 * plan: makes a plan in phases (enum plan_phase). The main phase is a single pass over the queue,
 * in which each pod has its turn (serve.h). Then the timeline and reclaim passes follow.
 */
#include <string.h>

#include "planner/cells.h"
#include "planner/classes.h"
#include "planner/early.h"
#include "planner/gang/gangs.h"
#include "planner/nominated.h"
#include "planner/open_bins.h"
#include "planner/supply/overhead.h"
#include "planner/plan.h"
#include "planner/profiles.h"
#include "planner/queue.h"
#include "planner/supply/quota.h"
#include "planner/reclaim.h"
#include "planner/serve.h"
#include "planner/supply/reserve.h"
#include "planner/supply/resize.h"
#include "planner/supply/supply.h"
#include "planner/timeline.h"

/* Work units (computing time, plan.h) charged for a step that is done once for each node or
 * claim. */
#define HOST_WORK 50
/* Number of pods by which a pod is loaded into the cache before it is read. */
#define AHEAD 8

/* --- phases and slices ------------------------------------------------------------------------ */

enum plan_phase {
	CHARGE,
	QUEUE,
	SORT,
	COUNT,
	PROFILES,
	NODES,
	CLAIMS,
	CELLS,
	SEATS,
	PODS,
	AGAIN,
	RESIZE,
	TIMELINE,
	RECLAIM,
	READY
};

struct plan_run {
	struct planning p;
	enum plan_phase phase;
	/* Value of p.work at which the present slice ends. */
	uint64_t until;
	struct queued *all, **q;
	struct queue *queue;
	/* Pods that may be placed after pods later in the queue were placed. */
	struct waiting {
		struct queued *q;
		/* Index of the pod in plan->pods. */
		size_t at;
	} * waiting;
	size_t nwaiting, kept;
	/* placed: a pod of `waiting` was placed in the present round of do_again(). denied: the
	 * claim of a pod was denied (world_pod.denied). nominated: a pod is nominated for a
	 * node. */
	bool placed, denied, nominated;
	/* 1 + number of pods that do_again() has placed. */
	size_t nplaced;
	/* n: length of q. at: position in the list over which the present phase iterates, such as
	 * all or waiting. */
	size_t n, at;
	struct profiles_run profiles;
	struct resize *resize;
	/* Number of pods that are not placed. */
	size_t left;
	struct reclaim *reclaim;
	/* before: pods that are placed on Nodes before all others. early: pods that this plan
	 * places on Nodes. */
	struct early before, early;
};

static bool slice_is_over(const struct plan_run *r)
{
	return r->p.work >= r->until;
}

static void enter(struct plan_run *r, enum plan_phase phase)
{
	r->phase = phase;
	r->at = 0;
}

static void start(struct plan_run *r)
{
	struct planning *p = &r->p;
	const size_t n = p->w->ndemand;

	if (!n) { /* No pod waits: the plan stays empty. */
		r->phase = READY;
		return;
	}
	p->supply = supply_new(p);
	quota_begin(p);
	p->cells = cells_new(p);
	classes_want(p, "pods");
	r->all = arena_calloc(p->a, n + 1, sizeof(*r->all));
	r->q = arena_calloc(p->a, n + 1, sizeof(struct queued *));
	enter(r, CHARGE);
}

/* Loads a later object of the list into the cache. */
static void load_ahead(const struct world_list *l, size_t at)
{
	if (at + AHEAD < l->n)
		__builtin_prefetch(l->v[at + AHEAD]);
}

static void do_charge(struct plan_run *r)
{
	struct planning *p = &r->p;
	const struct world_list *claims = world_claims(p->w);

	for (; r->at < claims->n && !slice_is_over(r); r->at++) {
		load_ahead(claims, r->at);
		supply_charge(p->supply, claims->v[r->at]);
		p->work += HOST_WORK;
	}
	if (r->at == claims->n)
		enter(r, QUEUE);
}

static void do_queue(struct plan_run *r)
{
	struct planning *p = &r->p;

	for (; r->at < p->w->npending && !slice_is_over(r); r->at++) {
		const struct world_one *pod = p->w->pending[r->at];
		struct plan_class *c = world_is_demand(pod) ? classes_of(p, pod->shape) : NULL;

		p->work += POD_WORK;
		if (pod->daemon_set)
			overhead_add_daemon_set(p, pod);
		if (r->at + AHEAD < p->w->npending)
			__builtin_prefetch(p->w->pending[r->at + AHEAD]);
		if (!c || !c->tenant->it)
			continue;
		r->nominated |= pod->nominated != NULL;
		r->all[r->n] = (struct queued){
			.pod = pod, .class_ = c, .gang = gangs_of(p, pod, c->tenant)};
		r->q[r->n] = &r->all[r->n];
		r->n++;
	}
	if (r->at == p->w->npending)
		enter(r, SORT);
}

static void do_sort(struct plan_run *r)
{
	struct planning *p = &r->p;
	const struct world_list *nodes = world_nodes(p->w), *claims = world_claims(p->w);

	r->queue = queue_new(r->q, r->n, p->w, r->p.now_ms, p->a);
	classes_columns(p, nodes, claims);
	classes_soft(p, nodes, claims);
	p->work += POD_WORK * r->n;
	enter(r, COUNT);
}

static void do_count(struct plan_run *r)
{
	for (; r->at < r->n && !slice_is_over(r); r->at++) {
		classes_requests(&r->p, r->q[r->at]->class_);
		r->p.work += POD_WORK;
	}
	if (r->at == r->n)
		enter(r, PROFILES);
}

static struct world_shape *profile_of(const void *run, size_t at)
{
	return ((const struct plan_run *)run)->q[at]->pod->profile;
}

static void do_profiles(struct plan_run *r)
{
	if (!profiles_next(&r->profiles, &r->p, r->until, r->n, profile_of, r))
		enter(r, NODES);
}

static void do_nodes(struct plan_run *r)
{
	struct planning *p = &r->p;
	const struct world_list *nodes = world_nodes(p->w);

	for (; r->at < nodes->n && !slice_is_over(r); r->at++) {
		load_ahead(nodes, r->at);
		open_bins_add_node(p, nodes->v[r->at]);
		p->work += HOST_WORK;
	}
	if (r->at == nodes->n)
		enter(r, CLAIMS);
}

static void do_claims(struct plan_run *r)
{
	struct planning *p = &r->p;
	const struct world_list *claims = world_claims(p->w);

	for (; r->at < claims->n && !slice_is_over(r); r->at++) {
		open_bins_add_claim(p, claims->v[r->at]);
		p->work += HOST_WORK;
	}
	if (r->at < claims->n)
		return;
	p->plan->pods = arena_calloc(p->a, r->n + 1, sizeof(*p->plan->pods));
	p->turns = arena_calloc(p->a, r->n + 1, sizeof(struct queued *));
	p->requests_cap = arena_calloc(p->a, r->n + 1, sizeof(*p->requests_cap));
	r->waiting = arena_calloc(p->a, p->groups ? r->n + 1 : 1, sizeof(*r->waiting));
	enter(r, CELLS);
}

static void note_want(struct planning *p, const struct queued *q)
{
	struct plan_tenant *t = q->class_->tenant;

	if (q->pod->check || t->wants)
		return;
	t->wants = true;
	p->wanting++;
}

/* True if the pod may be placed when its turn comes. */
static bool is_awaited(const struct queued *q)
{
	return !q->cut && !q->class_->refused && !q->class_->impossible;
}

/* Records that the tenant's work units do not suffice for the pod: its topology constraints are not
 * recorded (groups_wait()). A gang with such a pod is not placed. */
static void cut(struct queued *q)
{
	q->cut = true;
	if (q->gang)
		q->gang->cut = true;
}

/* All tenants have the same work units for placing, however many pods were recorded. */
static void begin_placing(struct planning *p)
{
	struct map_iter it;

	map_for_each (it, p->tenants) {
		((struct plan_tenant *)it.value)->work = 0;
		reserve_begin(p, it.value);
	}
}

static void do_cells(struct plan_run *r)
{
	struct planning *p = &r->p;

	for (; r->at < r->n && !slice_is_over(r); r->at++) {
		struct queued *q = r->q[r->at];
		struct plan_profile *profile =
			p->groups ? groups_found(p->groups, q->pod->profile) : NULL;

		if (p->groups && !(profile && profile->pending))
			cut(q);
		q->cell = cells_of(p, q->class_, q->cut ? NULL : profile);
		if (is_awaited(q)) {
			cells_join(q->cell);
			q->class_->tenant->awaited++;
			note_want(p, q);
		}
		p->work += POD_WORK / 2;
	}
	if (r->at < r->n)
		return;
	begin_placing(p);
	if (r->nominated)
		nominated_placement(p, r->q, r->n);
	early_place(&r->before, p, r->all);
	enter(r, SEATS);
}

static void do_seats(struct plan_run *r)
{
	for (; r->at < r->n && !slice_is_over(r); r->at++) {
		serve_seat(&r->p, r->q[r->at]);
		if (r->q[r->at]->gang)
			gangs_add(&r->p, r->q[r->at]);
	}
	if (r->at == r->n)
		enter(r, PODS);
}

/* Writes to the zeroed *out what is known before the pod's turn. */
static void begin_pod(const struct queued *q, struct plan_pod *out)
{
	out->tenant = q->pod->tenant;
	out->ns = q->pod->ns;
	out->name = q->pod->name;
	out->uid = q->pod->uid;
	out->gang_key = q->pod->member ? gang_key(q->pod->member->gang) : NULL;
	out->check = q->pod->check;
	if (q->gang) {
		out->gang_size = q->class_->pod->gang_wait ? 0 : q->gang->size;
		out->gang_begun = q->gang->begun;
	}
}

/* Records the placement of the pod of entry q, if the pod is placed. */
static void note_placed(struct plan_run *r, const struct queued *q)
{
	if (q->seat)
		early_note(&r->early, &r->p, q, (size_t)(q - r->all), q->seat - 1);
}

static void do_pods(struct plan_run *r)
{
	struct planning *p = &r->p;

	for (; r->at < r->n && !slice_is_over(r); r->at++) {
		struct queued *q = queue_next(r->queue);

		q->at = r->at;
		begin_pod(q, &p->plan->pods[r->at]);
		if (!q->seat && is_awaited(q))
			cells_leave(q->cell);
		q->class_->tenant->awaited -= is_awaited(q);
		if (serve_pod(p, q, &p->plan->pods[r->at]))
			r->waiting[r->nwaiting++] = (struct waiting){q, r->at};
		note_placed(r, q);
		p->turns[p->nturns++] = q;
		r->denied |= q->pod->denied != NULL;
	}
	if (r->at < r->n)
		return;
	p->plan->npods = r->n;
	enter(r, AGAIN);
}

/* Numbers the pods by their position in the queue. Returns how many of them are not placed. */
static size_t number(struct plan *p)
{
	size_t place = 0, left = 0;

	for (size_t i = 0; i < p->npods; i++) {
		const bool is_left = p->pods[i].outcome == PLAN_NOTHING;

		left += is_left;
		if (!is_left || !serve_fits_nothing(&p->pods[i]))
			p->pods[i].place = ++place;
	}
	return left;
}

/* Puts the text of the pod's own denial into reasons ClaimDenied. The pods of a class share their
 * reasons, but each may be denied by another user, with another text. */
static void tell_denial(struct plan_pod *out, const char *denied, struct arena *a)
{
	struct plan_reason *v = NULL;

	for (size_t i = 0; i < out->nreasons; i++) {
		if (out->reasons[i].code != PLAN_DENIED)
			continue;
		if (!v) {
			v = arena_calloc(a, out->nreasons, sizeof(*v));
			memcpy(v, out->reasons, out->nreasons * sizeof(*v));
		}
		v[i].text = arena_printf(a, "pool %s: %s", v[i].pool, denied);
	}
	if (v)
		out->reasons = v;
}

static void tell_denials(const struct planning *p)
{
	for (size_t i = 0; i < p->nturns; i++)
		if (p->turns[i]->pod->denied)
			tell_denial(&p->plan->pods[i], p->turns[i]->pod->denied, p->a);
}

static void begin(struct plan_run *r, struct world *w, int64_t now_ms, struct arena *a);

static void end(const struct planning *p)
{
	planning_end(p);
	map_free(p->tenants);
	map_free(p->columns);
}

/* Begins the plan again, within the same slice. */
static void begin_again(struct plan_run *r)
{
	const struct plan_run old = *r;

	end(&old.p);
	begin(r, old.p.w, old.p.now_ms, old.p.a);
	r->p.work = old.p.work;
	r->until = old.until;
}

static bool has_reserved(const struct planning *p)
{
	struct map_iter it;

	map_for_each (it, p->tenants)
		if (((struct plan_tenant *)it.value)->reserves)
			return true;
	return false;
}

/* Makes the plan again, without reserved room, if a pod waits for a machine and room was reserved
 * for other pods of its tenant: then a pod behind it in the queue may have got the room. Returns
 * true if the plan is made again. */
static bool plans_again(struct plan_run *r)
{
	bool again = false;

	if (!has_reserved(&r->p))
		return false;
	for (size_t i = 0; i < r->n; i++) {
		const struct plan_tenant *t = r->p.turns[i]->class_->tenant;

		r->p.work++;
		if (!t->reserves || r->p.plan->pods[i].outcome != PLAN_NOTHING ||
		    serve_fits_nothing(&r->p.plan->pods[i]))
			continue;
		map_put(r->p.unreserved, t->it->name, r->p.w);
		again = true;
	}
	if (again)
		begin_again(r);
	return again;
}

/* Makes the plan again, with pods on Nodes before all others, if such a pod counts for one before
 * it in the queue that waits for a machine. Returns true if the plan is made again. */
static bool binds_before(struct plan_run *r)
{
	struct early next;

	if (!early_again(&r->early, &next))
		return false;
	r->before = next;
	begin_again(r);
	return true;
}

/* Serves the pod again. Of each cell only the first pod is tried until another pod is placed.
 * False: the pod is not placed now, but may be placed after other pods. */
static bool try_again(struct plan_run *r, const struct waiting *w)
{
	struct plan_cell *c = w->q->cell;
	const struct plan_pod *out = &r->p.plan->pods[w->at];
	bool waits;

	if (c->tried == r->nplaced || !serve_may_go_on(w->q))
		return false;
	waits = serve_pod(&r->p, w->q, &r->p.plan->pods[w->at]);
	if (out->outcome == PLAN_NOTHING) {
		c->tried = r->nplaced;
		return !waits;
	}
	note_placed(r, w->q);
	r->nplaced++;
	r->placed = true;
	return true;
}

/* Tries the pods of r->waiting again, in rounds, until a round places no pod. Then numbers the pods
 * by queue position. */
static void do_again(struct plan_run *r)
{
	struct planning *p = &r->p;

	for (; r->at < r->nwaiting && !slice_is_over(r); r->at++) {
		struct waiting *w = &r->waiting[r->at];

		planning_charge(p, w->q->class_->tenant, POD_WORK / 4);
		if (!try_again(r, w))
			r->waiting[r->kept++] = *w;
	}
	if (r->at < r->nwaiting)
		return;
	if (!r->placed) {
		if (plans_again(r) || binds_before(r))
			return;
		if (r->denied)
			tell_denials(p);
		r->left = number(p->plan);
		r->resize = resize_new(p);
		enter(r, RESIZE);
		return;
	}
	r->nwaiting = r->kept;
	r->kept = 0;
	r->placed = false;
	enter(r, AGAIN);
}

static void do_resize(struct plan_run *r)
{
	struct planning *p = &r->p;

	while (resize_next(r->resize))
		if (slice_is_over(r))
			return;
	if (!r->left) {
		r->phase = READY;
		return;
	}
	if (!p->timeline)
		p->timeline = timeline_new(p);
	timeline_start(p->timeline, r->q, r->n);
	enter(r, TIMELINE);
}

static void do_timeline(struct plan_run *r)
{
	while (timeline_next(r->p.timeline))
		if (slice_is_over(r))
			return;
	r->reclaim = reclaim_new(&r->p, r->q, r->n, r->p.now_ms);
	enter(r, RECLAIM);
}

static void do_reclaim(struct plan_run *r)
{
	while (reclaim_next(r->reclaim))
		if (slice_is_over(r))
			return;
	r->phase = READY;
}

static void begin(struct plan_run *r, struct world *w, int64_t now_ms, struct arena *a)
{
	struct map *unreserved = r->p.unreserved;
	const struct early before = r->before;

	*r = (struct plan_run){.p = {.w = w,
				     .a = a,
				     .now_ms = now_ms,
				     .tenants = map_new(NULL),
				     .columns = map_new(NULL),
				     .unreserved = unreserved,
				     .plan = arena_new_obj(a, struct plan)},
			       .nplaced = 1,
			       .before = before,
			       .early = {.rounds = before.rounds}};
	w->plan++;
	start(r);
}

struct plan_run *plan_begin(struct world *w, int64_t now_ms, struct arena *a)
{
	struct plan_run *r = arena_new_obj(a, struct plan_run);

	r->p.unreserved = map_new(NULL);
	begin(r, w, now_ms, a);
	return r;
}

struct plan *plan_step(struct plan_run *r, uint64_t units)
{
	static void (*const does[])(struct plan_run * r) = {
		[CHARGE] = do_charge,	  [QUEUE] = do_queue,	    [SORT] = do_sort,
		[COUNT] = do_count,	  [PROFILES] = do_profiles, [NODES] = do_nodes,
		[CLAIMS] = do_claims,	  [CELLS] = do_cells,	    [SEATS] = do_seats,
		[PODS] = do_pods,	  [AGAIN] = do_again,	    [RESIZE] = do_resize,
		[TIMELINE] = do_timeline, [RECLAIM] = do_reclaim,
	};

	r->until = units > UINT64_MAX - r->p.work ? UINT64_MAX : r->p.work + units;
	while (r->phase != READY && !slice_is_over(r))
		does[r->phase](r);
	return r->phase == READY ? r->p.plan : NULL;
}

void plan_end(struct plan_run *r)
{
	end(&r->p);
	map_free(r->p.unreserved);
}

uint64_t plan_work(const struct plan_run *r)
{
	return r->p.work;
}

struct plan *plan_make(struct world *w, int64_t now_ms, struct arena *a)
{
	struct plan_run *r = plan_begin(w, now_ms, a);
	struct plan *plan = plan_step(r, UINT64_MAX);

	plan_end(r);
	return plan;
}

struct plan_stock plan_stock(struct world *w, const char *pool, struct arena *a)
{
	OWN(map) tenants = map_new(NULL);
	struct planning p = {.w = w, .a = a, .tenants = tenants};
	const struct world_list *claims = world_claims(w);
	struct plan_stock out;

	w->plan++;
	p.supply = supply_new(&p);
	for (size_t i = 0; i < claims->n; i++)
		supply_charge(p.supply, claims->v[i]);
	supply_list(&p, pool, &out);
	planning_end(&p);
	return out;
}
