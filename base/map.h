#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include "base/own.h"

/*
 * map: string keys to pointers, in order of insertion, with a keyed hash (keys
 * come from tenants and BMCs).  The map copies keys; values belong to the
 * caller unless free_value was given.
 */
struct map;

/* NULL: values are the caller's */
struct map *map_new(void (*free_value)(void *));
void map_free(struct map *m);
DEFINE_OWN(map)

void *map_get(const struct map *m, const char *key);
bool map_has(const struct map *m, const char *key);
/* frees a value that it replaces */
void map_put(struct map *m, const char *key, void *value);
/* Where its value stands; NULL stands there where it was not in the map. Whoever replaces the value
 * frees the old one. Until the map is changed. */
void **map_slot(struct map *m, const char *key);
/* out of the map, to the caller */
void *map_take(struct map *m, const char *key);
void map_del(struct map *m, const char *key);
void map_clear(struct map *m);
size_t map_size(const struct map *m);

/* Iteration in order of insertion; removing the current key is allowed. */
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
