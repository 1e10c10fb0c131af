#ifndef PROVIDERS_LIBVIRT_MEDIUM_H
#define PROVIDERS_LIBVIRT_MEDIUM_H

#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"

/*
 * medium: fetches a boot medium completely by HTTP or HTTPS, blocking the calling thread. HTTPS
 * servers are verified with the system's CAs.
 *
 * Uses OpenSSL's HTTP client, because libvirt has loaded its own libcurl into this process. No
 * proxy, no redirects.
 * Tests: tests/unit/providers/libvirt/test_medium.c
 */
#define MEDIUM_MAX (256u << 20)

/* Appends the content of url to `into`. deadline_ms: CLOCK_MONOTONIC ms at which the fetch fails
 * with ERR_TIMEOUT. */
int medium_fetch(const char *url, int64_t deadline_ms, struct buf *into, struct err *e);
/* Writes the local IP address from which this host connects to the server of url. False:
 * unknown. */
bool medium_source(const char *url, char *out, size_t size);

#endif
