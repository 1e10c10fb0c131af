#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

/*
 * buf: growing bytes with a maximum given at init, for whatever a peer sends
 * and for text that is put together.  Always followed by a NUL that len does
 * not count.  Writing past the maximum fails with ERR_PROTOCOL and sets
 * `over`; the printf family has no error and only sets `over`, for text of
 * our own that is checked once at the end.
 */
struct buf {
	/* "" when empty, never NULL after buf_init */
	char *data;
	size_t len, cap, max;
	bool over;
};

void buf_init(struct buf *b, size_t max);
/* frees; b may be used again after buf_init */
void buf_done(struct buf *b);
void buf_clear(struct buf *b);
int buf_add(struct buf *b, const void *data, size_t len, struct err *e)
	__attribute__((warn_unused_result));
void buf_put(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* the first n bytes */
void buf_drop(struct buf *b, size_t n);
/* malloc'd text; b is empty after */
char *buf_give(struct buf *b);

#endif
