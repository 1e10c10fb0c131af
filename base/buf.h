#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

/*
 * buf: a growing byte buffer whose maximum size is set by buf_init(): for data from a peer, and for
 * text that is built piece by piece. The data is always followed by a NUL that len does not count.
 * In buf_add() a write past the maximum fails with ERR_PROTOCOL and sets `over`. buf_put(),
 * buf_puts() and buf_printf() return no error and only set `over`; they are for drover's own text,
 * and the caller checks `over` once at the end.
 */
struct buf {
	/* Contents; "" if empty, never NULL after buf_init(). */
	char *data;
	size_t len, cap, max;
	bool over;
};

void buf_init(struct buf *b, size_t max);
/* Frees the data. The buffer may be used again after buf_init(). */
void buf_done(struct buf *b);
void buf_clear(struct buf *b);
int buf_add(struct buf *b, const void *data, size_t len, struct err *e)
	__attribute__((warn_unused_result));
void buf_put(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Removes the first n bytes. */
void buf_drop(struct buf *b, size_t n);
/* Returns the data, malloc'd; the caller owns it. Afterwards the buffer is empty. */
char *buf_steal(struct buf *b);

#endif
