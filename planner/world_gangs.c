/*
 * world_gangs: stores which pods, bound or not, belong to which gang. Also stores the bounds of
 * reservations for gangs, and the topology levels.
 * Tests: tests/unit/planner/gang/test_gangs.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "planner/world_impl.h"

static struct world_gang *gang_of(struct world *w, const char *tenant, const char *key)
{
	char *text = mem_printf("%s/%s", tenant, key);
	struct world_gang *g = map_get(w->gangs, text);

	if (g) {
		free(text);
		return g;
	}
	g = mem_new(struct world_gang);
	g->key = text;
	map_put(w->gangs, text, g);
	return g;
}

void gang_join(struct world *w, struct world_one *p, const char *key, int64_t min)
{
	struct world_member *m = mem_new(struct world_member);

	*m = (struct world_member){.gang = gang_of(w, p->tenant, key), .pod = p, .min = min};
	m->after = m->gang->first;
	if (m->after)
		m->after->before = m;
	m->gang->first = m;
	p->member = m;
}

void gang_leave(struct world *w, struct world_one *p)
{
	struct world_member *m = p->member;
	struct world_gang *g = m ? m->gang : NULL;

	if (!m)
		return;
	if (m->before)
		m->before->after = m->after;
	else
		g->first = m->after;
	if (m->after)
		m->after->before = m->before;
	free(m);
	p->member = NULL;
	if (g->first)
		return;
	(void)map_take(w->gangs, g->key);
	free(g->key);
	free(g);
}

const char *gang_key(const struct world_gang *g)
{
	return strchr(g->key, '/') + 1;
}

void world_put_hold(struct world *w, int64_t ms)
{
	w->hold_ms = ms;
}

void world_put_tenant_hold(struct world *w, const char *tenant, int64_t rests, int64_t ends)
{
	struct world_hold *h;

	map_del(w->holds, tenant);
	if (!rests && !ends)
		return;
	h = mem_new(struct world_hold);
	*h = (struct world_hold){rests, ends};
	map_put(w->holds, tenant, h);
}

struct world_hold hold_of_tenant(const struct world *w, const char *tenant)
{
	const struct world_hold *h = map_get(w->holds, tenant);

	return h ? *h : (struct world_hold){0, 0};
}

void world_put_machine_rest(struct world *w, const char *machine, int64_t until)
{
	int64_t *at;

	map_del(w->rests, machine);
	if (!until)
		return;
	at = mem_new(int64_t);
	*at = until;
	map_put(w->rests, machine, at);
}

bool hold_rests(const struct world *w, const char *machine, int64_t now_ms)
{
	const int64_t *until = map_get(w->rests, machine);

	return until && *until > now_ms;
}

void world_put_levels(struct world *w, const char *const *keys, size_t n)
{
	while (w->nlevels)
		free(w->levels[--w->nlevels]);
	while (w->nlevels < n && w->nlevels < WORLD_LEVELS) {
		w->levels[w->nlevels] = mem_strdup(keys[w->nlevels]);
		w->nlevels++;
	}
}
