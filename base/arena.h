#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include "base/own.h"

/*
 * arena: memory for one pass, one request or one decoded object, freed as a whole.
 *
 * A long-lived object must not point into an arena that it does not own. A failed allocation, or
 * one of 4 GiB or more, aborts the program. Memory is zeroed and aligned for any type; texts are
 * not aligned. An arena starts small (256 bytes), because there are many objects that own an arena.
 */
struct arena;

struct arena *arena_new(void);
/* Creates an arena with room for `bytes` bytes, as counted by arena_used(), so that an arena of
 * known size wastes no memory. It grows like any other arena if more is allocated. */
struct arena *arena_sized(size_t bytes);
/* Sizes of the last two arenas of a kind of objects that are alike, the newer first. Initialized
 * with zeros. */
struct arena_sizes {
	size_t lately[2];
};
/* Creates an arena for one more object of the kind. It is made for the smaller of the two sizes, so
 * that one large object does not make the next one large, too. Further blocks begin small. */
struct arena *arena_like(const struct arena_sizes *s);
/* Records the size of the arena of an object that is stored. */
void arena_note(struct arena_sizes *s, const struct arena *a);
void arena_free(struct arena *a);
DEFINE_OWN(arena)

void *arena_alloc(struct arena *a, size_t size) __attribute__((malloc, returns_nonnull));
void *arena_calloc(struct arena *a, size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* Copies s into the arena. Returns NULL if s is NULL. */
char *arena_strdup(struct arena *a, const char *s);
/* Like arena_strdup() for s that is not NULL, but may return a text that is already in the arena,
 * or the end of one. Neither may be changed. Meant for small arenas: it searches the whole first
 * block. */
const char *arena_shared(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));
/* Moves v, an array of n elements of `size` bytes, into room for more elements, which are zero. v
 * must not be used any more: its memory is freed if it is large. */
void *arena_widen(struct arena *a, void *v, size_t n, size_t more, size_t size)
	__attribute__((returns_nonnull));
/* Makes room for one more element in an array of n elements of `size` bytes: returns v, or, if v is
 * full, moves it into twice its size (arena_widen()). v is full if n is 0 or a power of two, so v
 * must have been made by this function alone. */
void *arena_grow(struct arena *a, void *v, size_t n, size_t size) __attribute__((returns_nonnull));
/* Returns the bytes that the arena has allocated with malloc(). */
size_t arena_size(const struct arena *a);
/* Returns the bytes that were allocated in the arena, with what their alignment needs. */
size_t arena_used(const struct arena *a);

#define arena_new_obj(a, type) ((type *)arena_alloc((a), sizeof(type)))

#endif
