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
 * that the rest of the first block stays in use. Texts need no alignment: they are taken from the
 * end of the first block, everything else from its beginning. Under AddressSanitizer all bytes of a
 * block that no allocation has returned are poisoned.
 *
 *   | objects -->           <-- texts |
 *   0          used      cap          original cap
 */
enum { FIRST = 256, LARGEST = 64 * 1024 };

/* Largest size in bytes that arena_like() allocates at once. */
enum { LIKE_MOST = 16 * 1024 };

/* Allocations from this size on are zeroed by calloc(), so that pages which nobody uses are not
 * touched. Smaller ones are zeroed here: to zero memory that was used before, jemalloc returns its
 * pages to the system, and the page faults that follow take longer than memset(). */
#define LAZY ((size_t)4096 * 1024)
/* Arrays from this size on are freed when they have grown. */
#define LARGE ((size_t)128 * 1024)

#define ALIGN _Alignof(max_align_t)

/* Under AddressSanitizer a text is followed by poisoned bytes, so that an overrun is found. */
#ifdef __SANITIZE_ADDRESS__
enum { GAP = 8 };
#else
enum { GAP = 0 };
#endif

struct arena_block {
	struct arena_block *next;
	/* 32 bits keep the header short: each object in a cache has an arena of its own. */
	uint32_t cap, used;
	max_align_t data[];
};

struct arena {
	struct arena_block *head;
	/* Total number of bytes that the arena has allocated with malloc(). */
	size_t size;
	/* Total number of bytes that were allocated in the arena. */
	size_t used;
	/* Size of the next ordinary block. */
	size_t next_size;
	struct arena_block first;
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

struct arena *arena_sized(size_t bytes)
{
	struct arena *a;
	size_t size;

	if (__builtin_add_overflow(bytes, sizeof(*a), &size) || size > UINT32_MAX)
		abort();
	if (size < FIRST)
		return arena_new();
	a = size < LAZY ? mem_realloc_array(NULL, 1, size) : mem_calloc(1, size);
	a->size = size;
	a->used = 0;
	a->next_size = 2 * FIRST;
	a->first = (struct arena_block){.cap = (uint32_t)(size - sizeof(*a))};
	ASAN_POISON_MEMORY_REGION(a->first.data, a->first.cap);
	a->head = &a->first;
	return a;
}

struct arena *arena_like(const struct arena_sizes *s)
{
	const size_t size = s->lately[0] < s->lately[1] ? s->lately[0] : s->lately[1];

	struct arena *a = arena_sized(size < LIKE_MOST ? size : LIKE_MOST);

	/* Most objects that need more than this need only a little more. */
	a->next_size = FIRST / 2;
	return a;
}

void arena_note(struct arena_sizes *s, const struct arena *a)
{
	s->lately[1] = s->lately[0];
	s->lately[0] = arena_used(a);
}

static void drop_blocks(struct arena *a)
{
	struct arena_block *b = a->head, *next;

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

static struct arena_block *block_new(struct arena *a, size_t bytes)
{
	struct arena_block *b;

	if (bytes > UINT32_MAX)
		abort();
	b = bytes < LAZY ? mem_realloc_array(NULL, 1, bytes) : mem_calloc(1, bytes);
	b->cap = (uint32_t)(bytes - sizeof(*b));
	b->used = 0;
	ASAN_POISON_MEMORY_REGION(b->data, b->cap);
	a->size += bytes;
	return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->head;
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
	b->used += (uint32_t)size;
	a->used += size;
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

/* Returns memory for a text of n bytes, with its final NUL; it is not zeroed. */
static char *text_alloc(struct arena *a, size_t n)
{
	struct arena_block *b = a->head;
	char *p;

	if (n > PTRDIFF_MAX - GAP)
		abort();
	if (n + GAP > b->cap - b->used)
		return arena_alloc(a, n + GAP);
	b->cap -= (uint32_t)(n + GAP);
	a->used += n + GAP;
	p = (char *)b->data + b->cap;
	ASAN_UNPOISON_MEMORY_REGION(p, n);
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	const size_t len = strnlen(s, n);
	char *p = text_alloc(a, len + 1);

	p[len] = '\0';
	return memcpy(p, s, len);
}

const char *arena_shared(struct arena *a, const char *s)
{
	const size_t n = strlen(s) + 1;
	const char *texts = (const char *)a->first.data + a->first.cap,
		   *end = (const char *)a + a->size, *same = NULL;

	/* The end is that of the first block only while there is no other block. GAP: reading
	 * between texts is an error under AddressSanitizer. */
	if (!GAP && a->head == &a->first && !a->first.next)
		same = memmem(texts, (size_t)(end - texts), s, n);
	return same ? same : arena_strndup(a, s, n - 1);
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
	s = text_alloc(a, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

/* Frees v, an allocation of at least LARGE bytes, if it has a block of its own. */
static void drop_large(struct arena *a, const void *v)
{
	struct arena_block **at = &a->head, *b;

	while (*at && (*at)->data != v)
		at = &(*at)->next;
	b = *at;
	/* The first block of arena_sized() is no allocation of its own. */
	if (!b || b == &a->first || b == a->head || b->used + sizeof(*b) < LARGE)
		return;
	*at = b->next;
	a->size -= b->cap + sizeof(*b);
	a->used -= b->used;
	free(b);
}

void *arena_widen(struct arena *a, void *v, size_t n, size_t more, size_t size)
{
	void *to = arena_calloc(a, more, size);

	if (!n)
		return to;
	memcpy(to, v, n * size);
	ASAN_POISON_MEMORY_REGION(v, n * size);
	if (n * size >= LARGE)
		drop_large(a, v);
	return to;
}

void *arena_grow(struct arena *a, void *v, size_t n, size_t size)
{
	return n & (n - 1) ? v : arena_widen(a, v, n, n ? 2 * n : 1, size);
}

size_t arena_size(const struct arena *a)
{
	return a->size;
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}
