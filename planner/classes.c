#include "planner/classes.h"

#include <string.h>
#include "planner/attachments.h"
#include "planner/fit.h"

/* A resource that a pod requests. The resource gets a column (an index in arrays of amounts,
 * planning.h) once a node, claim or instance type is found that offers it. */
struct wanted_column {
	/* Column number of the resource + 1; 0: no column yet, because nothing was found that
	 * offers the resource. */
	size_t at;
};

static void offered(struct planning *p, const struct resources *r)
{
	for (size_t i = 0; p->ncolumns < p->nwanted && i < r->n; i++) {
		struct wanted_column *c = map_get(p->columns, r->v[i].name);

		if (!c || c->at)
			continue;
		p->column[p->ncolumns] = r->v[i].name;
		c->at = ++p->ncolumns;
	}
}

void classes_columns(struct planning *p, const struct world_list *nodes,
		     const struct world_list *claims)
{
	struct map_iter it;

	p->column = arena_calloc(p->a, p->nwanted, sizeof(*p->column));
	offered(p, &(struct resources){&(struct resource){.name = "pods"}, 1});
	map_for_each (it, p->columns)
		if (planning_is_made_up(it.key))
			offered(p, &(struct resources){&(struct resource){.name = it.key}, 1});
	map_for_each (it, p->w->providers) {
		const struct world_provider *pr = ((struct world_object *)it.value)->it;

		for (size_t i = 0; i < pr->types.n; i++)
			offered(p, &pr->types.v[i].capacity);
	}
	for (size_t i = 0; i < nodes->n; i++)
		offered(p, &((struct world_node *)nodes->v[i])->allocatable);
	for (size_t i = 0; i < claims->n; i++)
		offered(p, &((struct world_claim *)claims->v[i])->capacity);
	p->scratch = arena_calloc(p->a, p->ncolumns, sizeof(*p->scratch));
	world_columns(p->w, p->column, p->ncolumns);
}

static bool has_soft(const struct world_taints *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (fit_is_soft(&t->v[i]))
			return true;
	return false;
}

void classes_soft(struct planning *p, const struct world_list *nodes,
		  const struct world_list *claims)
{
	struct map_iter it;

	map_for_each (it, p->w->pools)
		p->soft |= has_soft(
			&((struct world_pool *)((struct world_object *)it.value)->it)->taints);
	for (size_t i = 0; i < nodes->n; i++)
		p->soft |= has_soft(&((struct world_node *)nodes->v[i])->taints);
	for (size_t i = 0; i < claims->n; i++)
		p->soft |= has_soft(&((struct world_claim *)claims->v[i])->taints);
}

static bool asks(const struct resource *r)
{
	return r->q.nano > 0;
}

void classes_want(struct planning *p, const char *name)
{
	if (map_has(p->columns, name))
		return;
	map_put(p->columns, name, arena_new_obj(p->a, struct wanted_column));
	p->nwanted++;
}

static uint64_t selector_cost(const struct selector *s)
{
	uint64_t n = s->n;

	for (size_t i = 0; i < s->n; i++)
		n += s->v[i].nvalues;
	return n;
}

uint64_t classes_fit_cost(const struct world_pod *p)
{
	uint64_t n = 4 + p->node_selector.n + p->tolerations.n + p->requests.n;

	for (size_t i = 0; i < p->affinity.n; i++)
		n += selector_cost(&p->affinity.v[i]);
	n += selector_cost(&p->devices) + selector_cost(&p->also);
	for (size_t i = 0; i < p->preferences.n; i++)
		n += selector_cost(&p->preferences.v[i].term);
	for (size_t i = 0; i < p->volumes.n; i++)
		for (size_t k = 0; k < p->volumes.v[i].n; k++)
			n += selector_cost(&p->volumes.v[i].v[k]);
	return n;
}

static struct plan_fit *fit_of(struct planning *p, const struct world_shape *s,
			       struct plan_tenant *tenant)
{
	struct world_fit *f = s->fit;

	if (f->plan == p->w->plan)
		return f->fit;
	f->plan = p->w->plan;
	f->fit = arena_new_obj(p->a, struct plan_fit);
	f->fit->pod = &s->pod;
	f->fit->tenant = tenant;
	f->fit->any_label = !s->pod.node_selector.n && !s->pod.affinity.n && !s->pod.devices.n &&
			    !s->pod.also.n && !s->pod.volumes.n;
	f->fit->cost = classes_fit_cost(&s->pod);
	f->fit->overhead = &tenant->overhead;
	return f->fit;
}

struct plan_class *classes_of(struct planning *p, struct world_shape *s)
{
	struct plan_class *c;

	if (s->plan == p->w->plan)
		return s->class_;
	c = arena_new_obj(p->a, struct plan_class);
	c->pod = &s->pod;
	c->tenant = planning_tenant(p, s->pod.tenant);
	c->fit = fit_of(p, s, c->tenant);
	c->number = p->nclasses++;
	c->refused = s->pod.unsupported || s->pod.volume_wait || s->pod.device_wait ||
		     /* mutant: gang-of-any-size */ s->pod.gang_wait;
	s->plan = p->w->plan;
	s->class_ = c;
	for (size_t i = 0; i < s->pod.requests.n; i++)
		if (asks(&s->pod.requests.v[i]))
			classes_want(p, s->pod.requests.v[i].name);
	return c;
}

void classes_requests(struct planning *p, struct plan_class *c)
{
	int64_t *row = p->scratch;
	struct ask *v;

	if (c->asks.v)
		return;
	memset(row, 0, p->ncolumns * sizeof(*row));
	for (size_t i = 0; i < c->pod->requests.n; i++) {
		const struct resource *r = &c->pod->requests.v[i];
		const struct wanted_column *column = asks(r) ? map_get(p->columns, r->name) : NULL;

		if (column && column->at)
			row[column->at - 1] = planning_request(r->name, r->q);
		c->impossible |= asks(r) && !column->at;
	}
	row[0] = planning_add(row[0], 1);
	attachments_of_class(p, c, row);
	for (size_t i = 0; i < c->nshared; i++)
		c->columns |= (uint64_t)1 << c->shared[i].column % 64;
	v = arena_calloc(p->a, c->pod->requests.n + 1, sizeof(*v));
	for (size_t i = 0; i < p->ncolumns; i++) {
		if (row[i] <= 0)
			continue;
		v[c->asks.n++] = (struct ask){(uint32_t)i, row[i]};
		c->columns |= (uint64_t)1 << i % 64;
	}
	c->asks.v = v;
}
