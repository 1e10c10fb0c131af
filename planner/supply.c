#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/supply.h"

struct supply {
	struct planning *p;
	struct supply_pool *pools; /* by weight, then name */
	size_t npools;
	struct map *by_name; /* the same */
	size_t taken;	     /* machines, by this plan */
};

static int by_weight(const void *x, const void *y)
{
	const struct world_pool *a = ((const struct supply_pool *)x)->it,
				*b = ((const struct supply_pool *)y)->it;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct supply *supply_new(struct planning *p)
{
	struct supply *s = arena_new_obj(p->a, struct supply);
	struct map_iter it;

	s->p = p;
	s->pools = arena_calloc(p->a, map_size(p->w->pools) + 1, sizeof(*s->pools));
	map_for_each (it, p->w->pools)
		s->pools[s->npools++].it = ((struct world_object *)it.value)->it;
	qsort(s->pools, s->npools, sizeof(*s->pools), by_weight);
	s->by_name = planning_map(p);
	for (size_t i = 0; i < s->npools; i++)
		map_put(s->by_name, s->pools[i].it->name, &s->pools[i]);
	return s;
}

void supply_charge(struct supply *s, const struct world_claim *c)
{
	struct supply_pool *pool = map_get(s->by_name, str_or(c->pool, ""));
	struct world_stock *m = c->machine ? map_get(s->p->w->machines, c->machine) : NULL;

	if (c->failed && !c->machine)
		return;
	tally_charge(&planning_tenant(s->p, c->tenant)->tally, &c->capacity, s->p->a);
	if (pool)
		tally_charge(&pool->tally, &c->capacity, s->p->a);
	if (m)
		m->used = s->p->w->plan;
}

struct labels supply_labels_of_claim(struct supply *s, const struct world_claim *c)
{
	const struct world_provider *p = world_find(s->p->w->providers, c->provider);
	const struct world_stock *m = c->machine ? map_get(s->p->w->machines, c->machine) : NULL;
	const struct labels *type = NULL;

	for (size_t i = 0; p && i < p->types.n; i++)
		if (str_eq(p->types.v[i].name, c->instance_type))
			type = &p->types.v[i].labels;
	return supply_node_labels(s->p->a, type, c->instance_type, m ? &m->m.labels : NULL,
				  &c->labels, c->pool);
}

/* --- offering ------------------------------------------------------------------------------------ */

static bool open_to(const struct world_pool *p, const struct world_tenant *t)
{
	return !p->paused && !t->no_nodes && (t->on_host ? p->host : !p->not_private) &&
	       supply_version(p, t->version);
}

static bool is_free(const struct supply *s, const struct supply_pool *pool,
		    const struct world_stock *m)
{
	return m->m.offered && m->used != s->p->w->plan && supply_wiped_enough(&m->m, pool->it);
}

static struct world_stock *free_machine(const struct supply *s, const struct supply_pool *pool,
					struct supply_option *o)
{
	for (; o->group && o->next < o->group->n; o->next++)
		if (is_free(s, pool, o->group->v[o->next]))
			return o->group->v[o->next];
	return NULL;
}

static bool allowed(const struct plan_class *c, const struct supply_pool *pool,
		    const struct supply_option *o)
{
	const struct resources *quota = &c->tenant->it->quota, *limits = &pool->it->limits;

	return !(quota->n && tally_passes(&c->tenant->tally, quota, &o->type->capacity)) &&
	       !(limits->n && tally_passes(&pool->tally, limits, &o->type->capacity));
}

static void admit(struct supply *s, struct plan_class *c)
{
	c->admitted = s->taken;
	if (!s->p->topology)
		return;
	topology_forget_new(s->p->topology, c);
	for (size_t i = 0; i < c->npools; i++)
		for (size_t k = c->pools[i].first; k < c->pools[i].n; k++) {
			struct supply_option *o = c->pools[i].options[k];

			planning_charge(s->p, c->tenant, 4);

			if (free_machine(s, c->pools[i].pool, o) && allowed(c, c->pools[i].pool, o))
				topology_admits_new(s->p->topology, c, o->domains);
		}
}

void supply_ask(struct supply *s, struct plan_class *c)
{
	if (c->asked)
		return;
	c->asked = true;
	c->pools = arena_calloc(s->p->a, s->npools + 1, sizeof(*c->pools));
	for (size_t i = 0; i < s->npools; i++) {
		struct class_pool *cp = &c->pools[c->npools];

		if (!selector_matches(&s->pools[i].it->tenants, &c->tenant->it->labels))
			continue;
		c->npools++;
		cp->pool = &s->pools[i];
		if (!open_to(cp->pool->it, c->tenant->it))
			continue;
		if (!cp->pool->options)
			supply_options(s->p, cp->pool);
		planning_charge(s->p, c->tenant, cp->pool->noptions * (4 + c->cost));
		supply_narrow(s->p, c, cp);
	}
	admit(s, c);
}

bool supply_ask_again(struct supply *s, struct plan_class *c)
{
	if (!s->p->topology || c->admitted == s->taken)
		return false;
	admit(s, c);
	return true;
}

struct pick {
	struct class_pool *from; /* NULL: nothing yet */
	struct supply_option *option;
	struct world_stock *machine;
	int64_t score;
};

/* Preferences first; of one type the machine that is worth more, whatever its labels. */
static bool is_better(const struct pick *than, const struct class_pool *from,
		      const struct supply_option *o, const struct world_stock *m, int64_t score)
{
	if (!than->from || score != than->score)
		return !than->from || score > than->score;
	return than->from == from && than->option->type == o->type &&
	       supply_by_worth(&m->m, &than->machine->m) < 0;
}

/* Machines only go and sums only grow while a plan is made: what is out is out for good. */
static void look_in(const struct supply *s, const struct plan_class *c, struct class_pool *cp,
		    const struct topology_view *view, struct pick *pick)
{
	cp->blocked = false;
	for (size_t i = cp->first; i < cp->n; i++) {
		struct supply_option *o = cp->options[i];
		const int64_t score = cp->score ? cp->score[i] : 0;
		struct world_stock *m;

		planning_charge(s->p, c->tenant, 2);
		if (!cp->score && pick->from == cp && pick->option->type != o->type)
			return;
		if (pick->from && score < pick->score)
			continue;
		m = free_machine(s, cp->pool, o);
		if (!m || !allowed(c, cp->pool, o)) {
			if (i == cp->first)
				cp->first++;
			continue;
		}
		if (view && !topology_new_ok(view, o->domains)) {
			cp->blocked = true;
			continue;
		}
		if (is_better(pick, cp, o, m, score))
			*pick = (struct pick){cp, o, m, score};
	}
}

bool supply_take(struct supply *s, struct plan_class *c, const struct topology_view *view,
		 struct supply_offer *out, struct plan_reason **reasons, size_t *nreasons)
{
	const bool picky = c->pod->preferences.n || s->p->soft;
	const struct resources *capacity;
	struct pick pick = {0};
	struct world_stock *m;
	bool blocked = false;

	for (size_t i = 0; i < c->npools && (!pick.from || picky); i++) {
		look_in(s, c, &c->pools[i], view, &pick);
		blocked |= c->pools[i].blocked;
	}
	if (!pick.from) {
		if (!c->nreasons || (c->told_blocked && !blocked))
			supply_tell(s->p, c);
		c->told_blocked = blocked;
		*nreasons = c->nreasons;
		*reasons = blocked ? supply_tell_blocked(s->p, c, nreasons) : c->reasons;
		return false;
	}
	m = pick.machine;
	m->used = s->p->w->plan;
	s->taken++;
	capacity = &pick.option->type->capacity;
	tally_charge(&c->tenant->tally, capacity, s->p->a);
	tally_charge(&pick.from->pool->tally, capacity, s->p->a);
	*out = (struct supply_offer){pick.from->pool->it, pick.option->type, &m->m,
				     supply_version(pick.from->pool->it, c->tenant->it->version),
				     &pick.option->labels};
	return true;
}

/* --- without a pod ------------------------------------------------------------------------------- */

static int by_worth(const void *x, const void *y)
{
	return supply_by_worth(*(const struct world_machine *const *)x,
			       *(const struct world_machine *const *)y);
}

/* Those of one type, whatever their labels. */
static void list_type(struct supply *s, struct supply_pool *pool, const struct supply_option *from,
		      const struct supply_option *to, struct plan_stock *out)
{
	const struct resources *limits = &pool->it->limits, *capacity = &from->type->capacity;
	const size_t first = out->n;

	for (const struct supply_option *o = from; o < to; o++) {
		if (!o->group || !selector_matches(&pool->it->requirements, &o->labels))
			continue;
		for (size_t i = 0; i < o->group->n; i++) {
			struct world_stock *m = o->group->v[i];

			if (!is_free(s, pool, m))
				continue;
			m->used = s->p->w->plan; /* a provider may be named twice */
			out->v[out->n++] = &m->m;
		}
	}
	qsort(out->v + first, out->n - first, sizeof(*out->v), by_worth);
	for (size_t i = first; i < out->n; i++) {
		if (limits->n && tally_passes(&pool->tally, limits, capacity))
			return;
		tally_charge(&pool->tally, capacity, s->p->a);
		out->room++;
	}
}

void supply_list(struct supply *s, const char *pool, struct plan_stock *out)
{
	struct supply_pool *sp = NULL;
	size_t most = 0;

	*out = (struct plan_stock){0};
	for (size_t i = 0; i < s->npools; i++)
		if (str_eq(s->pools[i].it->name, pool))
			sp = &s->pools[i];
	if (!sp)
		return;
	supply_options(s->p, sp);
	for (size_t i = 0; i < sp->noptions; i++)
		most += sp->options[i].group ? sp->options[i].group->n : 0;
	out->v = arena_calloc(s->p->a, most + 1, sizeof(*out->v));
	for (size_t i = 0, to; i < sp->noptions; i = to) {
		for (to = i + 1; to < sp->noptions && sp->options[to].type == sp->options[i].type;
		     to++)
			;
		list_type(s, sp, sp->options + i, sp->options + to, out);
	}
}
