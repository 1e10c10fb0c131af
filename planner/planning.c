#include <string.h>

#include "base/str.h"
#include "planner/planning.h"

void tally_add(struct resources *held, size_t *cap, const struct resources *more, struct arena *a)
{
	for (size_t i = 0; i < more->n; i++) {
		size_t at = 0;
		int c = 1;

		if (planning_is_made_up(more->v[i].name))
			continue;
		while (at < held->n && (c = strcmp(held->v[at].name, more->v[i].name)) < 0)
			at++;
		if (at < held->n && c == 0) {
			held->v[at].q = quantity_add(held->v[at].q, more->v[i].q);
			continue;
		}
		if (held->n == *cap) {
			struct resource *v;

			*cap = *cap ? *cap * 2 : more->n;
			v = arena_calloc(a, *cap, sizeof(*v));
			if (held->n)
				memcpy(v, held->v, held->n * sizeof(*v));
			held->v = v;
		}
		memmove(held->v + at + 1, held->v + at, (held->n - at) * sizeof(*held->v));
		held->v[at] = more->v[i];
		held->n++;
	}
}

void tally_charge(struct tally *t, const struct resources *capacity, struct arena *a)
{
	tally_add(&t->held, &t->cap, capacity, a);
	t->nodes++;
}

const char *tally_passes(const struct tally *t, const struct resources *bounds,
			 const struct resources *more)
{
	for (size_t i = 0; i < bounds->n; i++) {
		const char *name = bounds->v[i].name;
		const struct quantity *held = resources_get(&t->held, name),
				      *add = resources_get(more, name);
		struct quantity sum = held ? *held : quantity_of(0);

		if (str_eq(name, "nodes"))
			sum = quantity_of(t->nodes + 1);
		else if (add)
			sum = quantity_add(sum, *add);
		if (quantity_cmp(sum, bounds->v[i].q) > 0)
			return name;
	}
	return NULL;
}

struct map *planning_map(struct planning *p)
{
	struct planning_map *m = arena_new_obj(p->a, struct planning_map);

	*m = (struct planning_map){map_new(NULL), p->maps};
	p->maps = m;
	return m->map;
}

void planning_end(const struct planning *p)
{
	for (const struct planning_map *m = p->maps; m; m = m->next)
		map_free(m->map);
}

struct plan_tenant *planning_tenant(struct planning *p, const char *name)
{
	struct plan_tenant *t = p->last_tenant;

	if (t && t->it && str_eq(t->it->name, name))
		return t;
	t = map_get(p->tenants, str_or(name, ""));
	if (!t) {
		t = arena_new_obj(p->a, struct plan_tenant);
		t->it = world_find(p->w->tenants, name);
		t->number = map_size(p->tenants);
		map_put(p->tenants, str_or(name, ""), t);
	}
	return p->last_tenant = t;
}

struct world_claimed *planning_claimed(struct planning *p, struct world_claimed *c)
{
	const struct world_claim *it = &c->claim;

	if (c->plan == p->w->plan)
		return c;
	c->plan = p->w->plan;
	c->tenant = planning_tenant(p, it->tenant);
	c->pool = world_find(p->w->pools, it->pool);
	c->machine = it->machine ? map_get(p->w->machines, it->machine) : NULL;
	c->host = NULL;
	return c;
}

bool planning_attachments_pass(struct quantity want, const struct quantity *less)
{
	return quantity_cmp(less ? quantity_add(want, *less) : want,
			    quantity_of(PLANNING_ATTACHMENTS)) > 0;
}

int64_t planning_request(const char *resource, struct quantity q)
{
	return strcmp(resource, "cpu") == 0 ? quantity_milli_ceil(q) : quantity_ceil(q);
}

void planning_room(const struct planning *p, const struct resources *r, int64_t *room)
{
	memset(room, 0, p->ncolumns * sizeof(*room));
	room[0] = INT64_MAX;
	for (size_t c = 1; c < p->ncolumns; c++)
		room[c] = planning_is_attachment(p->column[c]) ? PLANNING_ATTACHMENTS
							       : planning_is_port(p->column[c]);
	for (size_t i = 0; i < r->n; i++)
		for (size_t c = 0; c < p->ncolumns; c++)
			if (strcmp(p->column[c], r->v[i].name) == 0)
				room[c] = strcmp(p->column[c], "cpu") == 0
						  ? quantity_milli_floor(r->v[i].q)
						  : quantity_floor(r->v[i].q);
}

void *planning_wider(struct arena *a, void *old, size_t *cap, size_t want, size_t size)
{
	size_t to = *cap ? *cap : 4;
	const size_t was = *cap;

	if (want <= *cap)
		return old;
	while (to < want)
		to *= 2;
	*cap = to;
	return arena_widen(a, old, was, to, size);
}
