/*
 * reclaim_groups: sorts the units by what makes them equal, then by cost, and cuts the sorted list
 * into groups.
 */
#include "planner/reclaim_groups.h"

#include <stdlib.h>
#include <string.h>

/* What decides who may take a machine. */
enum { TENANT, POOL, GROUP, PRIORITY, FLASH, HDD, TRUST, COVERED, CAPACITY, MACHINE_KEYS };
/* A unit has two more keys: its number of machines; and, if they are not equal, its own number, so
 * that no other unit is equal to it. */
enum { MACHINES = MACHINE_KEYS, MIXED, KEYS };

struct sorted {
	int64_t keys[KEYS];
	struct candidate *root;
};

/* Capacities that differ from each other, in no particular order */
struct capacities {
	const struct resources **v;
	size_t n;
};

static size_t number_of(struct capacities *known, const struct resources *capacity)
{
	for (size_t i = known->n; i-- > 0;)
		if (resources_equal(known->v[i], capacity))
			return i;
	known->v[known->n] = capacity;
	return known->n++;
}

static void key_machine(const struct candidate *c, struct capacities *known,
			int64_t keys[static MACHINE_KEYS])
{
	const struct world_machine *m = &c->m->m;

	keys[TENANT] = (int64_t)c->tenant->number;
	keys[POOL] = (int64_t)(uintptr_t)c->pool;
	keys[GROUP] = (int64_t)(uintptr_t)c->m->group;
	keys[PRIORITY] = c->priority;
	keys[FLASH] = m->level_flash;
	keys[HDD] = m->level_hdd;
	keys[TRUST] = m->trust;
	keys[COVERED] = m->covered;
	keys[CAPACITY] = (int64_t)number_of(known, &c->claim->capacity);
}

static struct sorted key_unit(struct candidate *v, size_t root, struct capacities *known)
{
	struct sorted s = {.root = &v[root]};
	int64_t other[MACHINE_KEYS];

	key_machine(s.root, known, s.keys);
	s.keys[MACHINES] = (int64_t)s.root->unit.n;
	for (size_t i = s.root->next; i != SIZE_MAX; i = v[i].next) {
		key_machine(&v[i], known, other);
		if (memcmp(other, s.keys, sizeof(other)) != 0)
			s.keys[MIXED] = (int64_t)root + 1;
	}
	return s;
}

/* Groups are in no particular order: of equally expensive units of two groups, the names decide
 * (reclaim.c). */
static int by_keys_and_cost(const void *x, const void *y)
{
	const struct sorted *a = x, *b = y;
	const int order = memcmp(a->keys, b->keys, sizeof(a->keys));

	if (order)
		return order;
	if (a->root->unit.cost != b->root->unit.cost)
		return a->root->unit.cost < b->root->unit.cost ? -1 : 1;
	return strcmp(a->root->claim->name, b->root->claim->name);
}

struct reclaim_groups reclaim_groups_of(struct planning *p, struct candidate *v, size_t n)
{
	struct sorted *s = arena_calloc(p->a, n + 1, sizeof(*s));
	struct reclaim_groups out = {.v = arena_calloc(p->a, n + 1, sizeof(*out.v))};
	struct capacities known = {.v = arena_calloc(p->a, n + 1, sizeof(*known.v))};
	size_t *roots = arena_calloc(p->a, n + 1, sizeof(*roots)), units = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].root == i && !v[i].unit.barred)
			s[units++] = key_unit(v, i, &known);
	qsort(s, units, sizeof(*s), by_keys_and_cost);
	p->work += 20 * units;
	for (size_t i = 0; i < units; i++) {
		struct reclaim_group *g;

		if (!i || memcmp(s[i - 1].keys, s[i].keys, sizeof(s->keys)) != 0)
			out.v[out.n++] = (struct reclaim_group){.v = &roots[i],
								.machines = s[i].root->unit.n,
								.alike = !s[i].keys[MIXED]};
		g = &out.v[out.n - 1];
		s[i].root->unit.group = out.n - 1;
		s[i].root->unit.place = g->n;
		g->v[g->n++] = (size_t)(s[i].root - v);
	}
	return out;
}
