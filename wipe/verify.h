#ifndef WIPE_VERIFY_H
#define WIPE_VERIFY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "base/secret.h"
#include "wipe/dio.h"
#include "wipe/evidence.h"
#include "wipe/ring.h"

/*
 * verify: proves an erase by canaries and samples.
 *
 * Before the erase, unpredictable blocks (HMAC of the order's nonce, the drive's name and the
 * offset) are written at unpredictable places and read back; after it, none of their sectors may be
 * found. Samples at other unpredictable places must read as the technique leaves a drive. A read
 * has three outcomes: clean, dirty, unreadable; unreadable is never clean.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_verify.c, tests/unit/wipe/test_erase_verify.c
 */
#define VERIFY_BLOCK 4096
#define VERIFY_CANARIES EVIDENCE_CANARIES
#define VERIFY_EDGE (1 << 20) /* Bytes at each end that are read completely. */
#define VERIFY_SAMPLES EVIDENCE_SAMPLES
#define VERIFY_MAX_SAMPLES 1000000

/* What a block may hold after the erase. */
enum verify_accept {
	/* Zeros, after an overwrite. */
	VERIFY_ZEROS,
	/* All zeros or all ones, after the drive's own erase. */
	VERIFY_CONSTANT,
	/* Constant or noise: what VERIFY_CHANGED may leave, without fingerprints to compare. */
	VERIFY_NOISE,
	/* Constant, or noise that was nowhere before: the encryption key was discarded. */
	VERIFY_CHANGED,
};

struct verify {
	struct dio *drive;
	const struct secret *nonce;
	const char *wwn;
	/* Pieces of VERIFY_BLOCK bytes. */
	struct ring *ring;
	/* Increases with bytes written and read; may be NULL. */
	_Atomic int64_t *done_bytes;
	/* Error of the first unreadable block; may be NULL. */
	struct err *why;
};
struct verify_counts {
	int64_t clean, dirty, unreadable;
};

/* Returns how many canaries were read back (64: all); only then may the drive's writes be trusted.
 * -1: it refused a write. */
int verify_plant(const struct verify *v, struct err *e);
/* Returns at how many places a canary is found, whole or in part, at any offset. An unreadable
 * place counts in *unreadable (may be NULL). */
int verify_find(const struct verify *v, int64_t *unreadable);

/* Fingerprints, for VERIFY_CHANGED: 16 bytes for each of the EVIDENCE_EDGE_READS blocks of both
 * edges, then for each of n sample blocks. A constant block gets zeros: any change counts. An
 * unreadable block gets ones: its later contents may be the old ones, and count as unreadable
 * unless constant. */
void verify_fingerprint(const struct verify *v, int64_t n, uint8_t (*prints)[16]);
/* Reads both edges and n samples. prints: nprints fingerprints of verify_fingerprint(), of at least
 * as many samples, for VERIFY_CHANGED; else NULL and 0. A block is dirty if it is neither constant
 * nor noise, contains a canary at any offset, or equals a fingerprint. */
void verify_sample(const struct verify *v, enum verify_accept accept, int64_t n,
		   const uint8_t (*prints)[16], size_t nprints, struct verify_counts *out);
/* In a later boot: reads EVIDENCE_AGAIN_READS of a drive that nobody should have written. A drive
 * that lost its last writes at power-off shows canaries again, or the data before them. */
void verify_again(const struct verify *v, enum verify_accept accept, struct verify_counts *out);

#endif
