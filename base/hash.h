#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * hash: computes SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF") under a
 * random key of this process, so that a peer that chooses the bytes cannot predict their hash. salt
 * separates sets that share a table: with different salts the same bytes have unrelated hashes. May
 * be called from any thread.
 * Tests: tests/unit/base/test_map.c, tests/unit/base/data/test_scan.c
 */
uint64_t hash_keyed(const void *bytes, size_t len, uint64_t salt);

#endif
