/*
 * world_stops: keeps the stops that the caller put.
 * Tests: tests/unit/planner/test_stops.c
 */
#include "base/str.h"
#include "planner/world_impl.h"

static bool same_stop(const struct world_stop *a, const struct world_stop *b)
{
	return a->why == b->why && a->others == b->others && str_eq(a->tenant, b->tenant) &&
	       str_eq(a->pool, b->pool) && str_eq(a->version, b->version) &&
	       str_eq(a->provider, b->provider) && str_eq(a->instance_type, b->instance_type) &&
	       str_eq(a->domain, b->domain) && str_eq(a->text, b->text);
}

static bool same_stops(const struct world *w, const struct world_stop *v, size_t n)
{
	if (w->nstops != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!same_stop(&w->stops[i], &v[i]))
			return false;
	return true;
}

static struct world_stop copy(const struct world_stop *s, struct arena *a)
{
	struct world_stop c = *s;

	c.tenant = arena_strdup(a, s->tenant);
	c.pool = arena_strdup(a, s->pool);
	c.version = arena_strdup(a, s->version);
	c.provider = arena_strdup(a, s->provider);
	c.instance_type = arena_strdup(a, s->instance_type);
	c.domain = arena_strdup(a, s->domain);
	c.text = arena_strdup(a, s->text);
	return c;
}

bool world_put_stops(struct world *w, const struct world_stop *v, size_t n)
{
	if (same_stops(w, v, n))
		return false;
	arena_free(w->stops_arena);
	w->stops_arena = n ? arena_new() : NULL;
	w->stops = n ? arena_calloc(w->stops_arena, n, sizeof(*w->stops)) : NULL;
	w->nstops = n;
	for (size_t i = 0; i < n; i++)
		w->stops[i] = copy(&v[i], w->stops_arena);
	return true;
}
