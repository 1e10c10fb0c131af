#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * hash: SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF") under a key of this
 * process: whoever chooses the bytes cannot choose what they hash to.  salt sets sets apart that
 * share a table; with different salts the same bytes have unrelated hashes.  Any thread.
 * Tests: tests/unit/base/test_map.c, tests/unit/base/data/test_scan.c
 */
uint64_t hash_keyed(const void *bytes, size_t len, uint64_t salt);

#endif
