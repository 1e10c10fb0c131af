#include "base/map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/mem.h"

/*
 * uthash with a keyed hash: whoever chooses the keys cannot choose the
 * buckets.  uthash keeps entries in order of insertion,
 * so the key never shows in what the program does.
 */
static unsigned map_hash(const void *key, size_t len)
{
	uint64_t h = hash_keyed(key, len, 0);

	return (unsigned)(h ^ h >> 32);
}

#define HASH_FUNCTION(keyptr, keylen, hashv) ((hashv) = map_hash((keyptr), (keylen)))
#define uthash_malloc(size) mem_realloc_array(NULL, 1, (size))
#include <uthash.h>

struct entry {
	UT_hash_handle hh;
	void *value;
	char key[];
};

struct map {
	struct entry *head;
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
	free(m);
}

static struct entry *find(const struct map *m, const char *key)
{
	struct entry *x;

	HASH_FIND(hh, m->head, key, strlen(key), x);
	return x;
}

/* It is made where there is none, with the value NULL. */
static struct entry *at(struct map *m, const char *key)
{
	size_t len = strlen(key);
	unsigned hash = map_hash(key, len);
	struct entry *x;

	HASH_FIND_BYHASHVALUE(hh, m->head, key, len, hash, x);
	if (x)
		return x;
	x = mem_alloc(sizeof(*x) + len + 1);
	x->value = NULL;
	memcpy(x->key, key, len + 1);
	HASH_ADD_BYHASHVALUE(hh, m->head, key[0], len, hash, x);
	return x;
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

static void *take(struct map *m, struct entry *x)
{
	void *value = x->value;

	HASH_DEL(m->head, x);
	free(x);
	return value;
}

void *map_take(struct map *m, const char *key)
{
	struct entry *x = find(m, key);

	return x ? take(m, x) : NULL;
}

/* The entry is gone before its value is freed: free_value may look at the map, and key may be the
 * entry's own. */
void map_del(struct map *m, const char *key)
{
	drop_value(m, map_take(m, key));
}

void map_clear(struct map *m)
{
	while (m->head)
		drop_value(m, take(m, m->head));
}

size_t map_size(const struct map *m)
{
	return HASH_COUNT(m->head);
}

static bool point(const struct entry *x, struct map_iter *it)
{
	*it = (struct map_iter){0};
	if (!x)
		return false;
	*it = (struct map_iter){.key = x->key, .value = x->value, .next_ = x->hh.next};
	return true;
}

bool map_first(const struct map *m, struct map_iter *it)
{
	return point(m->head, it);
}

bool map_next(const struct map *m, struct map_iter *it)
{
	(void)m;
	return point(it->next_, it);
}
