#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <jansson.h>

/* Read by jemalloc at its start; unused in programs without it. One arena, because nearly all
 * allocations are those of the loop thread. By default jemalloc does not split free ranges that are
 * much larger than an allocation; without that limit the peak of plans in a row is a quarter
 * lower. */
extern const char *malloc_conf;
__attribute__((visibility("default"))) const char *malloc_conf =
	"narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0,lg_extent_max_active_fit:16";

/* A function of jemalloc; NULL in programs without it. */
extern int mallctl(const char *name, void *old, size_t *old_size, void *with, size_t size)
	__attribute__((weak));

static void *must(void *p)
{
	static const char text[] = "out of memory\n";

	if (!p) {
		/* Use only write(), which needs no memory; ignore its failure. */
		if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
			abort();
		abort();
	}
	return p;
}

void mem_keep_freed(bool keep)
{
	static bool released;
	ssize_t wait_ms = keep ? 1000 : 0;

	if (!mallctl || released == !keep)
		return;
	released = !keep;
	if (mallctl("arena.0.dirty_decay_ms", NULL, NULL, &wait_ms, sizeof(wait_ms)))
		abort();
}

void mem_give_back(void)
{
	if (mallctl)
		(void)mallctl("arena.0.decay", NULL, NULL, NULL, 0);
}

void *mem_alloc(size_t size)
{
	return must(calloc(1, size ? size : 1));
}

void *mem_calloc(size_t n, size_t size)
{
	return n && size ? must(calloc(n, size)) : must(calloc(1, 1));
}

/* Never passes a size of 0, because reallocarray() would then free p and return NULL. */
void *mem_realloc_array(void *p, size_t n, size_t size)
{
	return n && size ? must(reallocarray(p, n, size)) : must(realloc(p, 1));
}

char *mem_strdup(const char *s)
{
	return s ? must(strdup(s)) : NULL;
}

char *mem_strndup(const char *s, size_t n)
{
	return must(strndup(s, n));
}

void mem_save(char **slot, size_t size, const char *text)
{
	char *now = text && *text ? mem_strndup(text, size - 1) : NULL;

	free(*slot);
	*slot = now;
}

char *mem_printf(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return must(n < 0 ? NULL : s);
}

static void *json_malloc(size_t size)
{
	return must(malloc(size ? size : 1));
}

void mem_init(void)
{
	json_set_alloc_funcs(json_malloc, free);
	json_object_seed(0);
}
