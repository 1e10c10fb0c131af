/*
 * load: the sum of the requests of all pods bound to a node, updated as pods are added and deleted,
 * so that a plan need not read each pod.
 * Tests: tests/unit/planner/test_plan.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "planner/world_impl.h"

static struct world_load *load_of(struct world *w, const char *tenant, const char *node)
{
	struct world_load *l;

	world_text_clear(w);
	world_text_add(w, tenant);
	world_text_add(w, node);
	l = map_get(w->loads, w->text);
	if (!l) {
		l = mem_new(struct world_load);
		l->key = mem_strdup(w->text);
		map_put(w->loads, l->key, l);
	}
	return l;
}

static void drop_if_idle(struct world *w, struct world_load *l)
{
	if (l->pods || l->known)
		return;
	(void)map_take(w->loads, l->key);
	free(l->v);
	free(l->spots);
	free(l->shared);
	free(l->row);
	free(l->key);
	free(l);
}

struct world_load *load_of_node(struct world *w, const char *tenant, const char *node)
{
	struct world_load *l = load_of(w, tenant, node);

	l->known = true;
	l->row_of = 0;
	return l;
}

void load_forget_node(struct world *w, struct world_load *l)
{
	l->known = false;
	drop_if_idle(w, l);
}

static void add(struct world_load *l, const struct resource *r, bool daemon)
{
	size_t i = 0;

	while (i < l->n && strcmp(l->v[i].name, r->name) != 0)
		i++;
	if (i == l->n) {
		mem_grow(l->v, l->n, l->cap);
		l->v[l->n++] = (struct load_sum){.name = mem_strdup(r->name)};
	}
	l->v[i].nano += r->q.nano;
	l->v[i].daemons += daemon ? r->q.nano : 0;
	l->v[i].pods++;
}

static void take(struct world_load *l, const struct resource *r, bool daemon)
{
	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->v[i].name, r->name) != 0)
			continue;
		l->v[i].nano -= r->q.nano;
		l->v[i].daemons -= daemon ? r->q.nano : 0;
		if (--l->v[i].pods == 0) {
			free(l->v[i].name);
			l->v[i] = l->v[--l->n];
		}
		return;
	}
}

static struct load_sum *sum_of(const struct world_load *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].name, name) == 0)
			return &l->v[i];
	return NULL;
}

static struct load_shared *shared_of(const struct world_load *l, const char *volume)
{
	for (size_t i = 0; i < l->nshared; i++)
		if (strcmp(l->shared[i].volume, volume) == 0)
			return &l->shared[i];
	return NULL;
}

/* Counts the shared volume v of a pod whose requests were just added to the load. A volume that is
 * already attached to the node takes no further attachment. */
static void join_shared(struct world_load *l, const struct world_shared *v)
{
	struct load_shared *x = shared_of(l, v->volume);
	struct load_sum *sum = sum_of(l, v->driver);

	if (x && sum)
		sum->nano -= quantity_of(1).nano;
	if (!x) {
		mem_grow(l->shared, l->nshared, l->shared_cap);
		x = &l->shared[l->nshared++];
		*x = (struct load_shared){.volume = mem_strdup(v->volume)};
	}
	x->pods++;
}

/* Reverts join_shared(); call before the pod's requests are subtracted. */
static void leave_shared(struct world_load *l, const struct world_shared *v)
{
	struct load_shared *x = shared_of(l, v->volume);
	struct load_sum *sum = sum_of(l, v->driver);

	if (--x->pods) {
		if (sum)
			sum->nano += quantity_of(1).nano;
		return;
	}
	free(x->volume);
	*x = l->shared[--l->nshared];
}

static void join_spot(struct world_load *l, const struct world_one *p)
{
	size_t i = 0;

	while (i < l->nspots && l->spots[i].profile != p->profile)
		i++;
	if (i == l->nspots) {
		mem_grow(l->spots, l->nspots, l->spots_cap);
		l->spots[l->nspots++] = (struct world_spot){.profile = p->profile};
	}
	l->spots[i].pods++;
	l->spots[i].terminating += p->terminating;
	p->profile->bound++;
}

static void leave_spot(struct world_load *l, const struct world_one *p)
{
	size_t i = 0;

	while (l->spots[i].profile != p->profile)
		i++;
	l->spots[i].terminating -= p->terminating;
	p->profile->bound--;
	if (--l->spots[i].pods == 0)
		l->spots[i] = l->spots[--l->nspots];
}

/* Adds the pod to the load of its node. The sums cannot overflow: a quantity is less than 2^93
 * billionths and a sum has 127 bits, so a sum can contain 2^34 pods. */
void load_join(struct world *w, struct world_one *p)
{
	const struct resources *r = &p->shape->pod.requests;
	struct world_load *l = load_of(w, p->tenant, p->node);

	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].q.nano > 0)
			add(l, &r->v[i], p->daemon);
	for (size_t i = 0; i < p->shape->pod.shared.n; i++)
		join_shared(l, &p->shape->pod.shared.v[i]);
	l->pods++;
	l->daemons += p->daemon;
	l->row_of = 0;
	join_spot(l, p);
	p->load = l;
}

void load_leave(struct world *w, struct world_one *p)
{
	const struct resources *r = &p->shape->pod.requests;
	struct world_load *l = p->load;

	for (size_t i = 0; i < p->shape->pod.shared.n; i++)
		leave_shared(l, &p->shape->pod.shared.v[i]);
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].q.nano > 0)
			take(l, &r->v[i], p->daemon);
	l->pods--;
	l->daemons -= p->daemon;
	l->row_of = 0;
	leave_spot(l, p);
	drop_if_idle(w, l);
}
