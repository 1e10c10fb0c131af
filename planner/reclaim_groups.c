/*
 * reclaim_groups: finds the group of each unit in a hash table, by what makes units equal. Then
 * sorts the units of each group by cost.
 */
#include "planner/reclaim_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Number of units for one portion. */
#define PORTION 256

/* What decides who may take a machine. */
enum { TENANT, POOL, GROUP, PRIORITY, FLASH, HDD, TRUST, COVERED, CAPACITY, MACHINE_KEYS };
/* A unit has two more keys: its number of machines; and, if they are not equal, its own number, so
 * that no other unit is equal to it. */
enum { MACHINES = MACHINE_KEYS, MIXED, KEYS };

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

struct group_keys {
	int64_t v[KEYS];
};

/* A unit of a group, with what it is sorted by. */
struct member {
	__int128 cost;
	const char *name;
	size_t root;
};

struct reclaim_grouping {
	struct planning *p;
	struct candidate *v;
	size_t n;
	struct capacities known;
	struct reclaim_groups out;
	/* By index of the group: its keys. */
	struct group_keys *keys;
	/* Hash table with open addressing: index of a group + 1; 0: empty. size: a power of two,
	 * more than twice the number of units. */
	size_t *table, size;
	/* By index of the candidate, for the roots of units: index of the unit's group. */
	size_t *group_of;
	/* Memory for reclaim_group.v of all groups, and scratch memory for one group. */
	size_t *roots;
	struct member *members;
	/* Number of candidates, then of groups, that are done. joined: all candidates are. */
	size_t at;
	bool joined;
};

static struct group_keys keys_of(struct reclaim_grouping *x, size_t root)
{
	const struct candidate *c = &x->v[root];
	int64_t other[MACHINE_KEYS];
	struct group_keys k = {{0}};

	key_machine(c, &x->known, k.v);
	k.v[MACHINES] = (int64_t)c->unit.n;
	for (size_t i = c->next; i != SIZE_MAX; i = x->v[i].next) {
		key_machine(&x->v[i], &x->known, other);
		if (memcmp(other, k.v, sizeof(other)) != 0)
			k.v[MIXED] = (int64_t)root + 1;
	}
	return k;
}

/* Returns the index of the group with these keys, created if missing. Groups are numbered in the
 * order of their first units. */
static size_t group_with(struct reclaim_grouping *x, const struct group_keys *k)
{
	size_t at = hash_keyed(k, sizeof(*k), 0) & (x->size - 1);

	while (x->table[at]) {
		if (memcmp(&x->keys[x->table[at] - 1], k, sizeof(*k)) == 0)
			return x->table[at] - 1;
		at = (at + 1) & (x->size - 1);
	}
	x->keys[x->out.n] = *k;
	x->out.v[x->out.n] =
		(struct reclaim_group){.machines = (size_t)k->v[MACHINES], .alike = !k->v[MIXED]};
	x->table[at] = ++x->out.n;
	return x->out.n - 1;
}

static void join_some(struct reclaim_grouping *x)
{
	const size_t end = x->at + PORTION < x->n ? x->at + PORTION : x->n;

	x->p->work += 20 * (end - x->at);
	for (; x->at < end; x->at++) {
		struct group_keys k;

		if (x->v[x->at].root != x->at || x->v[x->at].unit.barred)
			continue;
		k = keys_of(x, x->at);
		x->group_of[x->at] = group_with(x, &k);
		x->out.v[x->group_of[x->at]].n++;
	}
}

/* Gives each group its part of x->roots, and puts its units there. */
static void list_units(struct reclaim_grouping *x)
{
	size_t *free_ = x->roots;

	for (size_t i = 0; i < x->out.n; i++) {
		x->out.v[i].v = free_;
		free_ += x->out.v[i].n;
		x->out.v[i].n = 0;
	}
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].root == i && !x->v[i].unit.barred) {
			struct reclaim_group *g = &x->out.v[x->group_of[i]];

			g->v[g->n++] = i;
		}
	x->p->work += x->n;
}

static int by_cost(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void sort_group(struct reclaim_grouping *x, size_t at)
{
	struct reclaim_group *g = &x->out.v[at];

	for (size_t i = 0; i < g->n; i++) {
		const struct candidate *c = &x->v[g->v[i]];

		x->members[i] = (struct member){c->unit.cost, c->claim->name, g->v[i]};
	}
	qsort(x->members, g->n, sizeof(*x->members), by_cost);
	for (size_t i = 0; i < g->n; i++) {
		struct candidate *c = &x->v[x->members[i].root];

		g->v[i] = x->members[i].root;
		c->unit.group = at;
		c->unit.place = i;
	}
	x->p->work += 5 + 20 * g->n;
}

struct reclaim_grouping *reclaim_grouping_new(struct planning *p, struct candidate *v, size_t n)
{
	struct reclaim_grouping *x = arena_new_obj(p->a, struct reclaim_grouping);

	*x = (struct reclaim_grouping){.p = p, .v = v, .n = n, .size = 16};
	while (x->size < 2 * n + 2)
		x->size *= 2;
	x->table = arena_calloc(p->a, x->size, sizeof(*x->table));
	x->known.v = arena_calloc(p->a, n + 1, sizeof(*x->known.v));
	x->out.v = arena_calloc(p->a, n + 1, sizeof(*x->out.v));
	x->keys = arena_calloc(p->a, n + 1, sizeof(*x->keys));
	x->group_of = arena_calloc(p->a, n + 1, sizeof(*x->group_of));
	x->roots = arena_calloc(p->a, n + 1, sizeof(*x->roots));
	x->members = arena_calloc(p->a, n + 1, sizeof(*x->members));
	return x;
}

bool reclaim_grouping_next(struct reclaim_grouping *x)
{
	if (!x->joined) {
		join_some(x);
		x->joined = x->at == x->n;
		if (x->joined) {
			list_units(x);
			x->at = 0;
		}
		return true;
	}
	if (x->at < x->out.n)
		sort_group(x, x->at++);
	return x->at < x->out.n;
}

struct reclaim_groups reclaim_grouping_found(const struct reclaim_grouping *x)
{
	return x->out;
}
