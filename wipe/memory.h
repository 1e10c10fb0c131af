#ifndef WIPE_MEMORY_H
#define WIPE_MEMORY_H

#include "wipe/host.h"
#include "wipe/statement.h"

/*
 * memory: overwrites the memory that the kernel can allocate. On each NUMA node the agent allocates
 * all free memory except a reserve that the kernel needs. Each word gets a unique value (derived
 * from nonce and address), is read back, is zeroed, and is read back again; then the memory is
 * freed. Memory that could not be allocated counts as not covered.
 *
 * Uses its own threads, one per processor, at most 64. Linux:
 * /sys/devices/system/node/node*\/meminfo, mbind(2), madvise(2) MADV_POPULATE_WRITE (since 5.14).
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_memory.c
 */
void memory_scrub(const struct host *h, struct arena *a, const char *nonce, struct statement *out);

#endif
