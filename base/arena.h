#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include "base/own.h"

/*
 * arena: memory for one pass, one request or one decoded object, freed as a whole.
 *
 * A long-lived object must not point into an arena that it does not own. A failed allocation aborts
 * the program. Memory is zeroed and aligned for any type. An arena starts small (256 bytes),
 * because there are many objects that own an arena.
 */
struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);
DEFINE_OWN(arena)

void *arena_alloc(struct arena *a, size_t size) __attribute__((malloc, returns_nonnull));
void *arena_calloc(struct arena *a, size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* Copies s into the arena. Returns NULL if s is NULL. */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));
/* Returns the bytes that the arena has allocated with malloc(). */
size_t arena_size(const struct arena *a);

#define arena_new_obj(a, type) ((type *)arena_alloc((a), sizeof(type)))

#endif
