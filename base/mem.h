#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * mem: small allocations that never fail: without memory they abort the program.
 *
 * An abort is acceptable because all state is in the API server and every operation is idempotent,
 * so a restart is the recovery. Data whose size a peer controls must use buf.h, which has a maximum
 * size and returns an error.
 */
/* Returns zeroed memory. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_calloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *mem_realloc_array(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
/* Returns a malloc'd copy of s; NULL if s is NULL. */
char *mem_strdup(const char *s) __attribute__((malloc));
char *mem_strndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *mem_printf(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), malloc, returns_nonnull));

/* Replaces a text that is stored for long: *slot is NULL or a text that its owner frees. The new
 * text is cut to size - 1 bytes. text NULL or "": sets *slot to NULL. */
void mem_save(char **slot, size_t size, const char *text);

/*
 * Freed memory waits a second for reuse before the kernel gets it back (keep, as in a new
 * program), or returns at once. To keep it makes plans in a row a quarter faster. To return it
 * while the controller reads its objects for the first time makes it 2 to 5 % smaller afterwards
 * too, because the objects then lie closer together. No effect with an allocator other than
 * jemalloc.
 */
void mem_keep_freed(bool keep);

/* Returns memory to the kernel whose second is over. The allocator does so by itself only while the
 * program allocates. */
void mem_give_back(void);

/* Makes jansson, too, abort if an allocation fails, and seeds jansson's hash. Must be the first
 * call in main(). */
void mem_init(void);

#define mem_new(type) ((type *)mem_alloc(sizeof(type)))

/* Grows the array v, with capacity cap, so that index n is valid. */
#define mem_grow(v, n, cap)                                                                        \
	do {                                                                                       \
		if ((n) >= (cap)) {                                                                \
			(cap) = (cap) ? (cap)*2 : 8;                                               \
			(v) = mem_realloc_array((v), (cap), sizeof(*(v)));                         \
		}                                                                                  \
	} while (0)

#endif
