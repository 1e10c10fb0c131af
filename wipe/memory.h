#ifndef WIPE_MEMORY_H
#define WIPE_MEMORY_H

#include "wipe/host.h"
#include "wipe/statement.h"

/*
 * memory: overwrites the memory that the kernel gives away. Of each NUMA node as much is taken as
 * leaves the kernel what it needs; each word of it gets a value of its own (of nonce and address),
 * is read back, becomes zero, is read back, and is given back. What could not be taken is counted
 * as not covered.
 *
 * Several threads of its own, one a processor, 64 at most. Linux:
 * /sys/devices/system/node/node*\/meminfo, mbind(2), madvise(2) MADV_POPULATE_WRITE (since 5.14).
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_memory.c
 */
void memory_scrub(const struct host *h, struct arena *a, const char *nonce, struct statement *out);

#endif
