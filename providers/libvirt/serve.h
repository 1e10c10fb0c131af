#ifndef PROVIDERS_LIBVIRT_SERVE_H
#define PROVIDERS_LIBVIRT_SERVE_H

#include <stddef.h>
#include "base/err.h"

/*
 * serve: the requests of drover, a JSON object a line (docs/providers/libvirt.md has the members),
 * answered in any order by SERVE_THREADS threads. A domain about which an earlier request still
 * waits for libvirt gets its error at once, so that one domain that hangs holds one thread.
 */
#define SERVE_THREADS 16
#define SERVE_LINE_MAX (64u << 10)

struct serve;
/* answer: a whole line, without its newline; called by one thread at a time. */
struct serve *serve_new(void (*answer)(const char *line, size_t len, void *arg), void *arg);
/* A line that is no request ends it: -1. */
int serve_line(struct serve *s, const char *line, size_t len, struct err *e);
/* waits for what is under way; what waits for a thread is dropped */
void serve_free(struct serve *s);

#endif
