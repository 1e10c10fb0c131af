#include "base/map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/mem.h"

/*
 * The map uses open addressing. A slot stores the whole hash of its entry: so a search reads only
 * the entry that it finds, and growing reads no entry. A removal leaves no mark in the table;
 * instead, later entries of the same probe sequence move up. The hash is keyed, so a peer that
 * chooses the keys cannot choose the slots. Entries are linked in order of insertion, so the order
 * of iteration does not depend on the hash key.
 */
#define SLOTS_MIN 8 /* Smallest number of slots; must be a power of two. */

struct entry {
	/* Previous and next entry in order of insertion. */
	struct entry *before, *after;
	void *value;
	char key[];
};

struct map {
	struct slot {
		uint64_t hash;
		/* The entry in the slot; NULL: the slot is free. */
		struct entry *x;
	} * slots;
	/* nslots: a power of two, or 0. n: number of entries, at most three quarters of nslots. */
	size_t nslots, n;
	struct entry *first, *last;
	void (*free_value)(void *);
};

struct map *map_new(void (*free_value)(void *))
{
	struct map *m = mem_new(struct map);

	m->free_value = free_value;
	return m;
}

void map_free(struct map *m)
{
	if (!m)
		return;
	map_clear(m);
	free(m->slots);
	free(m);
}

static uint64_t hash_of(const char *key)
{
	return hash_keyed(key, strlen(key), 0);
}

/* Returns the slot of key, or, if the map lacks key, the free slot where key belongs. The map must
 * have slots. */
static struct slot *slot_of(const struct map *m, const char *key, uint64_t hash)
{
	size_t i = hash & (m->nslots - 1);

	while (m->slots[i].x && (m->slots[i].hash != hash || strcmp(m->slots[i].x->key, key) != 0))
		i = (i + 1) & (m->nslots - 1);
	return &m->slots[i];
}

static struct entry *find(const struct map *m, const char *key)
{
	return m->n ? slot_of(m, key, hash_of(key))->x : NULL;
}

static void grow(struct map *m)
{
	struct slot *old = m->slots;
	const size_t nold = m->nslots;

	m->nslots = nold ? 2 * nold : SLOTS_MIN;
	m->slots = mem_calloc(m->nslots, sizeof(*m->slots));
	for (size_t i = 0; i < nold; i++) {
		size_t k = old[i].hash & (m->nslots - 1);

		if (!old[i].x)
			continue;
		while (m->slots[k].x)
			k = (k + 1) & (m->nslots - 1);
		m->slots[k] = old[i];
	}
	free(old);
}

/* Returns the entry of key, adding one with the value NULL if it is missing. */
static struct entry *at(struct map *m, const char *key)
{
	const size_t len = strlen(key);
	const uint64_t hash = hash_keyed(key, len, 0);
	struct slot *s;

	if (4 * (m->n + 1) > 3 * m->nslots)
		grow(m);
	s = slot_of(m, key, hash);
	if (s->x)
		return s->x;
	*s = (struct slot){hash, mem_alloc(sizeof(*s->x) + len + 1)};
	memcpy(s->x->key, key, len + 1);
	s->x->before = m->last;
	if (m->last)
		m->last->after = s->x;
	else
		m->first = s->x;
	m->last = s->x;
	m->n++;
	return s->x;
}

void *map_get(const struct map *m, const char *key)
{
	const struct entry *x = find(m, key);

	return x ? x->value : NULL;
}

bool map_has(const struct map *m, const char *key)
{
	return find(m, key) != NULL;
}

const char *map_key(const struct map *m, const char *key)
{
	const struct entry *x = find(m, key);

	return x ? x->key : NULL;
}

static void drop_value(const struct map *m, void *value)
{
	if (m->free_value && value)
		m->free_value(value);
}

void map_put(struct map *m, const char *key, void *value)
{
	struct entry *x = at(m, key);
	void *old = x->value;

	x->value = value;
	if (old != value)
		drop_value(m, old);
}

void **map_slot(struct map *m, const char *key)
{
	return &at(m, key)->value;
}

/* Frees slot s. Moves up those later entries that a search would otherwise no longer find. */
static void vacate(struct map *m, struct slot *s)
{
	const size_t mask = m->nslots - 1;
	size_t gap = (size_t)(s - m->slots);

	for (size_t i = (gap + 1) & mask; m->slots[i].x; i = (i + 1) & mask) {
		if (((i - m->slots[i].hash) & mask) < ((i - gap) & mask))
			continue;
		m->slots[gap] = m->slots[i];
		gap = i;
	}
	m->slots[gap].x = NULL;
}

void *map_take(struct map *m, const char *key)
{
	struct slot *s = m->n ? slot_of(m, key, hash_of(key)) : NULL;
	struct entry *x = s ? s->x : NULL;
	void *value;

	if (!x)
		return NULL;
	vacate(m, s);
	if (x->before)
		x->before->after = x->after;
	else
		m->first = x->after;
	if (x->after)
		x->after->before = x->before;
	else
		m->last = x->before;
	m->n--;
	value = x->value;
	free(x);
	return value;
}

/* Removes the entry first and frees its value afterwards, because free_value() may read the map,
 * and key may point to the entry's own copy. */
void map_del(struct map *m, const char *key)
{
	drop_value(m, map_take(m, key));
}

void map_clear(struct map *m)
{
	while (m->first)
		drop_value(m, map_take(m, m->first->key));
}

size_t map_size(const struct map *m)
{
	return m->n;
}

static bool point(const struct entry *x, struct map_iter *it)
{
	*it = (struct map_iter){0};
	if (!x)
		return false;
	*it = (struct map_iter){.key = x->key, .value = x->value, .next_ = x->after};
	return true;
}

bool map_first(const struct map *m, struct map_iter *it)
{
	return point(m->first, it);
}

bool map_next(const struct map *m, struct map_iter *it)
{
	(void)m;
	return point(it->next_, it);
}
