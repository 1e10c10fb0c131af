#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

/* An empty buffer's data points here while nothing is allocated (cap is 0). Never written to. */
static char nothing[1];

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){.data = nothing, .max = max};
}

void buf_done(struct buf *b)
{
	if (b->cap)
		free(b->data);
	*b = (struct buf){.data = nothing};
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->over = false;
	if (b->cap)
		b->data[0] = '\0';
}

/* Makes room for n more bytes and the NUL. If they exceed the maximum, returns false and sets
 * `over`. Once `over` is set, all later writes fail too; otherwise a shorter text could still be
 * appended, and the result would have a gap. */
static bool reserve(struct buf *b, size_t n)
{
	size_t need, cap;

	if (b->over || n > b->max - b->len) {
		b->over = true;
		return false;
	}
	need = b->len + n + 1;
	if (need <= b->cap)
		return true;
	cap = b->cap ? b->cap : 64;
	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	if (cap > b->max && b->max < SIZE_MAX)
		cap = b->max + 1;
	b->data = mem_realloc_array(b->cap ? b->data : NULL, 1, cap);
	b->cap = cap;
	return true;
}

void buf_put(struct buf *b, const void *data, size_t len)
{
	if (len == 0 || !reserve(b, len))
		return;
	memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

int buf_add(struct buf *b, const void *data, size_t len, struct err *e)
{
	buf_put(b, data, len);
	if (b->over)
		return err_set(e, ERR_PROTOCOL, 0, "more than %zu bytes", b->max);
	return 0;
}

void buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		b->over = true;
	else if (n > 0 && reserve(b, (size_t)n)) {
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void buf_drop(struct buf *b, size_t n)
{
	assert(n <= b->len);
	if (n == 0)
		return;
	b->len -= n;
	memmove(b->data, b->data + n, b->len + 1);
}

char *buf_steal(struct buf *b)
{
	char *s = b->cap ? b->data : mem_strdup("");

	*b = (struct buf){.data = nothing, .max = b->max};
	return s;
}
