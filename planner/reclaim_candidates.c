/*
 * reclaim_candidates: units are found by union-find (a disjoint-set structure); the root of a unit
 * is its first machine.
 */
#include "planner/reclaim_candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/queue.h"
#include "planner/reclaim.h"

#define MILLI ((__int128)1000000)
#define CPUS 100 /* Number of CPUs that weigh as much as one GPU. */

/* Numbers of claims, pods, gangs and units for one portion. */
#define PORTION 256

enum portion { CLAIMS, PODS, GANGS, LINKS, SUMS, DONE };

struct reclaim_search {
	struct planning *p;
	struct candidate *v;
	size_t nv;
	int64_t now;
	enum portion portion;
	/* Number of claims or units that the present portion has processed. */
	size_t at;
	/* Kind of the last machine, and the duration of that machine's move in ms; NULL: none
	 * yet. */
	const struct world_kind *kind;
	int64_t kind_ms;
	/* Position among the pods or gangs; on: it is valid. */
	struct map_iter it;
	bool on;
};

__int128 reclaim_weight_of(const struct resources *r)
{
	const struct quantity *gpus = resources_get(r, PLANNING_GPU),
			      *cpus = resources_get(r, "cpu");

	return gpus && gpus->nano > 0 ? gpus->nano / MILLI : cpus ? cpus->nano / MILLI / CPUS : 0;
}

static int64_t move_ms_of(const struct world_provider *p, const char *type)
{
	for (size_t i = 0; p && i < p->types.n; i++)
		if (str_eq(p->types.v[i].name, type) && p->types.v[i].move_ms > 0)
			return p->types.v[i].move_ms;
	return RECLAIM_MOVE_MS;
}

int64_t reclaim_move_ms_of(const struct planning *p, const struct world_machine *m)
{
	return move_ms_of(world_find(p->w->providers, m->provider), m->instance_type);
}

static bool may_go(const struct world_claim *c, const struct world_pool *pool,
		   const struct plan_tenant *t)
{
	return c->ready && !c->failed && !c->leaving && c->machine && pool && !pool->paused &&
	       pool->reclaim != WORLD_RECLAIM_NEVER && t->it && !t->it->paused;
}

/* As reclaim_move_ms_of(); machines of one kind often follow each other. */
static int64_t move_ms(struct reclaim_search *s, const struct world_stock *m)
{
	if (s->kind != m->group->kind)
		s->kind_ms = reclaim_move_ms_of(s->p, &m->m);
	s->kind = m->group->kind;
	return s->kind_ms;
}

/* Returns the Node that has the claim's name; NULL: none. */
static struct world_host *node_of(const struct planning *p, const struct world_claimed *held)
{
	const struct world_claim *c = &held->claim;

	return held->host && str_eq(held->host->node.name, c->name)
		       ? held->host
		       : world_find(p->w->nodes, arena_printf(p->a, "%s/%s", c->tenant, c->name));
}

static void add_candidate(struct reclaim_search *s, struct world_claimed *held)
{
	const struct world_claim *c = &planning_claimed(s->p, held)->claim;
	const struct world_host *h;

	if (!held->machine || !may_go(c, held->pool, held->tenant))
		return;
	h = node_of(s->p, held);
	if (h) {
		h->load->plan = s->p->w->plan;
		h->load->candidate = s->nv;
	}
	s->v[s->nv] = (struct candidate){
		.claim = c,
		.move = reclaim_weight_of(&c->capacity) * move_ms(s, held->machine),
		.root = s->nv,
		.next = SIZE_MAX,
		.tenant = held->tenant,
		.pool = held->pool,
		.m = held->machine,
		.priority = INT64_MIN,
		.barred = !h || h->node.unschedulable || s->now - c->created_ms < RECLAIM_KEEP_MS};
	s->nv++;
}

/* Returns the candidate whose Node has the load; NULL: none. */
static struct candidate *of_load(struct reclaim_search *s, const struct world_load *l)
{
	return l && l->plan == s->p->w->plan ? &s->v[l->candidate] : NULL;
}

static size_t root_of(struct reclaim_search *s, size_t i)
{
	while (s->v[i].root != i)
		i = s->v[i].root = s->v[s->v[i].root].root;
	return i;
}

static void add_pod(struct reclaim_search *s, struct candidate *c, const struct world_one *pod)
{
	const int64_t began = pod->since > 0 ? pod->since : c->claim->created_ms;

	if (pod->daemon || pod->terminating)
		return;
	const int64_t priority = queue_clamp(s->p->w, c->tenant->it, pod->priority);

	c->priority = priority > c->priority ? priority : c->priority;
	if (s->now - began > c->age)
		c->age = s->now - began;
	if (!pod->saves && !c->claim->saves && s->now > began)
		c->lost += reclaim_weight_of(&pod->shape->pod.requests) * (s->now - began);
}

/* Joins all machines with pods of the gang into one unit (they can only be taken back together). If
 * a pod of the gang is on a machine that may not be taken back, bars the whole unit: none of its
 * machines may be taken. */
static void join_gang(struct reclaim_search *s, const struct world_gang *g)
{
	struct candidate *first = NULL;
	bool barred = false;

	for (const struct world_member *m = g->first; m; m = m->after) {
		struct candidate *c = of_load(s, m->pod->load);
		size_t a, b;

		s->p->work += 2;
		barred |= m->pod->load && !c;
		if (!c)
			continue;
		first = first ? first : c;
		a = root_of(s, (size_t)(first - s->v));
		b = root_of(s, (size_t)(c - s->v));
		s->v[a < b ? b : a].root = a < b ? a : b;
	}
	if (first && barred)
		first->barred = true;
}

static void look_at_claims(struct reclaim_search *s)
{
	const struct world_list *claims = world_claims(s->p->w);
	const size_t end = s->at + PORTION < claims->n ? s->at + PORTION : claims->n;

	for (; s->at < end; s->at++)
		add_candidate(s, claims->v[s->at]);
	s->p->work += 30 * PORTION;
}

static void look_at_pods(struct reclaim_search *s)
{
	for (size_t i = 0; i < PORTION && s->on; i++, s->on = map_next(s->p->w->pods, &s->it)) {
		const struct world_one *pod = s->it.value;
		struct candidate *c = of_load(s, pod->load);

		if (c)
			add_pod(s, c, pod);
	}
	s->p->work += 10 * PORTION;
}

static void look_at_gangs(struct reclaim_search *s)
{
	for (size_t i = 0; i < PORTION && s->on; i++, s->on = map_next(s->p->w->gangs, &s->it))
		join_gang(s, s->it.value);
	s->p->work += PORTION;
}

/* Links the machines of each unit into a list. Iterates from the end, so the list is sorted and
 * begins with the root, which is the first machine of its unit. */
static void link_units(struct reclaim_search *s)
{
	for (size_t i = s->nv; i-- > 0;) {
		struct candidate *c = &s->v[i], *root = &s->v[root_of(s, i)];

		if (c != root) {
			c->next = root->next;
			root->next = i;
		}
	}
	s->p->work += s->nv;
}

static void sum_units(struct reclaim_search *s)
{
	const size_t end = s->at + PORTION < s->nv ? s->at + PORTION : s->nv;

	for (; s->at < end; s->at++) {
		struct candidate *c = &s->v[s->at], *root = &s->v[root_of(s, s->at)];

		root->unit.n++;
		root->unit.barred |= c->barred;
		root->unit.age = c->age > root->unit.age ? c->age : root->unit.age;
		root->unit.cost += c->lost + c->move;
	}
	s->p->work += 10 * PORTION;
}

struct reclaim_search *reclaim_search_new(struct planning *p, int64_t now_ms)
{
	struct reclaim_search *s = arena_new_obj(p->a, struct reclaim_search);

	*s = (struct reclaim_search){.p = p, .now = now_ms};
	s->v = arena_calloc(p->a, world_claims(p->w)->n + 1, sizeof(*s->v));
	return s;
}

static void begin(struct reclaim_search *s, enum portion portion)
{
	s->portion = portion;
	s->at = 0;
	s->on = portion == PODS	   ? map_first(s->p->w->pods, &s->it)
		: portion == GANGS ? map_first(s->p->w->gangs, &s->it)
				   : false;
}

bool reclaim_search_next(struct reclaim_search *s)
{
	switch (s->portion) {
	case CLAIMS:
		look_at_claims(s);
		if (s->at == world_claims(s->p->w)->n)
			begin(s, s->nv ? PODS : DONE);
		break;
	case PODS:
		look_at_pods(s);
		if (!s->on)
			begin(s, GANGS);
		break;
	case GANGS:
		look_at_gangs(s);
		if (!s->on)
			begin(s, LINKS);
		break;
	case LINKS:
		link_units(s);
		begin(s, SUMS);
		break;
	case SUMS:
		sum_units(s);
		if (s->at == s->nv)
			begin(s, DONE);
		break;
	case DONE:
		break;
	}
	return s->portion != DONE;
}

struct candidate *reclaim_search_found(const struct reclaim_search *s, size_t *n)
{
	*n = s->nv;
	return s->v;
}
