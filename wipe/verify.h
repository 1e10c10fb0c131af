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
 * A canary is an unpredictable block (HMAC of the order's nonce, the drive's name and the offset).
 * Before the erase, canaries are written at unpredictable positions and read back. After the erase,
 * no sector of any canary may be found. Samples at other unpredictable positions must hold what the
 * erase method leaves on a drive. A read has three outcomes: clean, dirty, unreadable; unreadable
 * never counts as clean.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_verify.c, tests/unit/wipe/test_erase_verify.c
 */
#define VERIFY_BLOCK 4096
#define VERIFY_CANARIES EVIDENCE_CANARIES
/* Number of bytes at each end of the drive that are read completely. */
#define VERIFY_EDGE (1 << 20)
#define VERIFY_SAMPLES EVIDENCE_SAMPLES
#define VERIFY_MAX_SAMPLES 1000000

/* What a block may hold after the erase. */
enum verify_accept {
	/* Zeros only, after an overwrite. */
	VERIFY_ZEROS,
	/* All zeros or all ones, after the drive's own erase. */
	VERIFY_CONSTANT,
	/* Constant blocks (all zeros or all ones) or any noise (random-looking data); after a
	 * cryptographic erase, for blocks that have no fingerprints to compare. */
	VERIFY_NOISE,
	/* Constant blocks, or noise that was nowhere on the drive before the erase: the encryption
	 * key was discarded. */
	VERIFY_CHANGED,
};

struct verify {
	struct dio *drive;
	const struct secret *nonce;
	const char *wwn;
	/* Ring whose pieces have VERIFY_BLOCK bytes. */
	struct ring *ring;
	/* Progress counter that increases with bytes written and read; NULL: not counted. */
	_Atomic int64_t *done_bytes;
	/* Gets the error of the first unreadable block; NULL: not wanted. */
	struct err *why;
};
struct verify_counts {
	int64_t clean, dirty, unreadable;
};

/* Writes all canaries and reads them back. Returns the number of canaries that were read back
 * correctly. Only if that number is VERIFY_CANARIES may the drive's writes be trusted. -1: the
 * drive refused a write. */
int verify_plant(const struct verify *v, struct err *e);
/* Returns the number of canary positions at which a canary is found, whole or in part, at any
 * offset. An unreadable position counts in *unreadable (may be NULL). */
int verify_find(const struct verify *v, int64_t *unreadable);

/* Fills prints with fingerprints for VERIFY_CHANGED: 16 bytes for each of the EVIDENCE_EDGE_READS
 * blocks of both edges, then for each of n sample blocks. Two fingerprints are special:
 * all bits 0: all bytes of the block were equal; any other contents count as a change.
 * all bits 1: the block was unreadable. After the erase it counts as unreadable, because it may
 * hold its old contents, unless all its bytes are equal. */
void verify_fingerprint(const struct verify *v, int64_t n, uint8_t (*prints)[16]);
/* Reads both edges and n samples, and counts the results in *out. prints: for VERIFY_CHANGED the
 * nprints fingerprints from verify_fingerprint(), of at least n samples; otherwise NULL and 0. A
 * block is dirty if `accept` does not permit its contents. A block that contains a sector of a
 * canary is never permitted; for VERIFY_CHANGED neither is noise that equals a fingerprint. */
void verify_sample(const struct verify *v, enum verify_accept accept, int64_t n,
		   const uint8_t (*prints)[16], size_t nprints, struct verify_counts *out);
/* Reads EVIDENCE_AGAIN_READS blocks of a drive in a later boot, when nothing should have written to
 * the drive since its wipe, and counts the results in *out. If the drive lost its last writes at
 * power-off, it shows canaries again, or data from before the canaries. */
void verify_again(const struct verify *v, enum verify_accept accept, struct verify_counts *out);

#endif
