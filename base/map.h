#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/own.h"

/*
 * map: maps strings to pointers; iterates in order of insertion. The hash is keyed, because the
 * strings come from tenants and BMCs, which could choose colliding ones. The map copies keys; it
 * owns the values if free_value is set. A map without free_value may hold numbers instead
 * (map_number()).
 */
struct map;

/* Creates a map. free_value: frees a value that is replaced or removed; NULL: the caller owns the
 * values. */
struct map *map_new(void (*free_value)(void *));
void map_free(struct map *m);
DEFINE_OWN(map)

void *map_get(const struct map *m, const char *key);
bool map_has(const struct map *m, const char *key);
/* Sets the value of key, adding key if it is missing; a replaced value is freed with free_value. */
void map_put(struct map *m, const char *key, void *value);
/* Returns a pointer to the value of key, adding the key with a NULL value if it is missing. A
 * caller that replaces the value must free the old one. The pointer is valid until a key is added
 * or removed. */
void **map_slot(struct map *m, const char *key);
/* Returns the map's own copy of key, which is valid until key is removed; NULL: no such key. */
const char *map_key(const struct map *m, const char *key);
/* Removes the key and returns its value, which the caller then owns; NULL: no such key. */
void *map_take(struct map *m, const char *key);
void map_del(struct map *m, const char *key);
void map_clear(struct map *m);
size_t map_size(const struct map *m);

/* Returns the number of key; 0: no such key, or its number is 0. */
static inline uintptr_t map_number(const struct map *m, const char *key)
{
	return (uintptr_t)map_get(m, key);
}
static inline void map_put_number(struct map *m, const char *key, uintptr_t number)
{
	map_put(m, key, (void *)number);
}

/* Iteration in order of insertion; the body may remove the current key. */
struct map_iter {
	const char *key;
	void *value;
	void *next_;
};
bool map_first(const struct map *m, struct map_iter *it);
bool map_next(const struct map *m, struct map_iter *it);
#define map_for_each(it, m)                                                                        \
	for (bool it##_on_ = map_first(m, &(it)); it##_on_; it##_on_ = map_next(m, &(it)))

#endif
