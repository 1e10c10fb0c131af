#ifndef PROVIDERS_LIBVIRT_SERVE_H
#define PROVIDERS_LIBVIRT_SERVE_H

#include <stddef.h>
#include "base/err.h"

/*
 * serve: answers drover's requests, one JSON object per line (members: docs/providers/libvirt.md),
 * in any order, on SERVE_THREADS threads. A request about a domain fails at once while an earlier
 * request about the same domain has no reply yet. So a domain that hangs blocks only one thread.
 */
#define SERVE_THREADS 16
#define SERVE_LINE_MAX (64u << 10)

struct serve;
/* Creates the server and its threads. answer(): receives each reply as one line without a newline;
 * called by one thread at a time. */
struct serve *serve_new(void (*answer)(const char *line, size_t len, void *arg), void *arg);
/* Handles one line of input. -1 if the line is not a request; the caller should then exit. */
int serve_line(struct serve *s, const char *line, size_t len, struct err *e);
/* Waits for the requests in progress, drops queued requests without a reply, and frees s. */
void serve_free(struct serve *s);

#endif
