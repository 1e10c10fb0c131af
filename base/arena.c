#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sanitizer/asan_interface.h> /* Expands to nothing in builds without AddressSanitizer. */
#include "base/mem.h"

/*
 * The arena is a chain of blocks, the newest first. The arena itself and its first block are one
 * allocation of 256 bytes; block sizes double up to 64 KiB. An allocation that exceeds a quarter of
 * the next block's size gets a block of its own. Such a block is inserted second in the chain, so
 * that the rest of the first block stays in use. Under AddressSanitizer all bytes of a block that
 * no allocation has returned are poisoned.
 */
enum { FIRST = 256, LARGEST = 64 * 1024 };

/* Allocations from this size on are zeroed by calloc(), so that pages which nobody uses are not
 * touched. */
#define LAZY ((size_t)128 * 1024)

#define ALIGN _Alignof(max_align_t)

struct block {
	struct block *next;
	size_t cap, used;
	max_align_t data[];
};

struct arena {
	struct block *head;
	/* Total number of bytes that the arena has allocated with malloc(). */
	size_t size;
	/* Size of the next ordinary block. */
	size_t next_size;
	struct block first;
};

struct arena *arena_new(void)
{
	struct arena *a = mem_alloc(FIRST);

	a->size = FIRST;
	a->next_size = 2 * FIRST;
	a->first.cap = FIRST - sizeof(*a);
	ASAN_POISON_MEMORY_REGION(a->first.data, a->first.cap);
	a->head = &a->first;
	return a;
}

static void drop_blocks(struct arena *a)
{
	struct block *b = a->head, *next;

	for (; b; b = next) {
		next = b->next;
		if (b != &a->first)
			free(b);
	}
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	drop_blocks(a);
	free(a);
}

static struct block *block_new(struct arena *a, size_t bytes)
{
	struct block *b = bytes < LAZY ? mem_realloc_array(NULL, 1, bytes) : mem_calloc(1, bytes);

	b->cap = bytes - sizeof(*b);
	b->used = 0;
	ASAN_POISON_MEMORY_REGION(b->data, b->cap);
	a->size += bytes;
	return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct block *b = a->head;
	size_t asked = size;
	void *p;

	if (size > PTRDIFF_MAX - sizeof(*b) - ALIGN)
		abort();
	size = (size + ALIGN - 1) / ALIGN * ALIGN;
	if (size == 0)
		size = ALIGN; /* Return a unique address for an allocation of 0 bytes too. */
	if (size > b->cap - b->used) {
		if (size > a->next_size / 4) {
			b = block_new(a, sizeof(*b) + size);
			b->next = a->head->next;
			a->head->next = b;
		} else {
			b = block_new(a, a->next_size);
			b->next = a->head;
			a->head = b;
		}
		if (a->next_size < LARGEST)
			a->next_size *= 2;
	}
	p = (char *)b->data + b->used;
	b->used += size;
	ASAN_UNPOISON_MEMORY_REGION(p, asked);
	return asked < LAZY ? memset(p, 0, asked) : p;
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		abort();
	return arena_alloc(a, bytes);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);

	return memcpy(arena_alloc(a, len + 1), s, len);
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *s;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	s = arena_alloc(a, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

size_t arena_size(const struct arena *a)
{
	return a->size;
}
