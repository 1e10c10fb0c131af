/*
 * world_stops: stores the stops (struct world_stop, parts of the supply from which no machine can
 * be had now) that world_put_stops() receives.
 * Tests: tests/unit/planner/supply/test_stops.c
 */
#include "planner/world_impl.h"

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

void world_put_stops(struct world *w, const struct world_stop *v, size_t n)
{
	arena_free(w->stops_arena);
	w->stops_arena = n ? arena_new() : NULL;
	w->stops = n ? arena_calloc(w->stops_arena, n, sizeof(*w->stops)) : NULL;
	w->nstops = n;
	for (size_t i = 0; i < n; i++)
		w->stops[i] = copy(&v[i], w->stops_arena);
}
