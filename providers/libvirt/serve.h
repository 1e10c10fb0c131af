#ifndef PROVIDERS_LIBVIRT_SERVE_H
#define PROVIDERS_LIBVIRT_SERVE_H

#include <stddef.h>
#include "base/err.h"

/*
 * serve: answers drover's requests, one JSON object per line (members: docs/providers/libvirt.md),
 * in any order, on SERVE_THREADS threads. A request about a domain for which an earlier request is
 * not answered yet fails at once, so that a hanging domain blocks only one thread.
 */
#define SERVE_THREADS 16
#define SERVE_LINE_MAX (64u << 10)

struct serve;
/* answer: receives a whole line without its newline; called by one thread at a time. */
struct serve *serve_new(void (*answer)(const char *line, size_t len, void *arg), void *arg);
/* Handles one line. -1 if the line is not a request; the caller should then exit. */
int serve_line(struct serve *s, const char *line, size_t len, struct err *e);
/* Waits for requests in progress; drops queued ones. */
void serve_free(struct serve *s);

#endif
