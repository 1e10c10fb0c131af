#ifndef PROVIDERS_LIBVIRT_MEDIUM_H
#define PROVIDERS_LIBVIRT_MEDIUM_H

#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"

/*
 * medium: a boot medium fetched by HTTP or HTTPS (CAs of the system), whole, on the thread that
 * asks.
 *
 * OpenSSL's HTTP client, since libvirt has brought a libcurl of its own into this process. No
 * proxy, no redirect.
 * Tests: tests/unit/providers/libvirt/test_medium.c
 */
#define MEDIUM_MAX (256u << 20)

/* deadline_ms: CLOCK_MONOTONIC. */
int medium_fetch(const char *url, int64_t deadline_ms, struct buf *into, struct err *e);
/* The address of this machine that the server of url sees; false: not known. */
bool medium_source(const char *url, char *out, size_t size);

#endif
