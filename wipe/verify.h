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
 * Before the erase, canaries are written at unpredictable positions and read back. A canary is an
 * unpredictable block (HMAC of the order's nonce, the drive's name and the offset). After the
 * erase, none of the canaries' sectors may be found. Samples at other unpredictable positions must
 * read as the erase method leaves a drive. A read has three outcomes: clean, dirty, unreadable;
 * unreadable is never clean.
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
	/* Constant blocks or any noise, for blocks after a cryptographic erase that have no
	 * fingerprints to compare. */
	VERIFY_NOISE,
	/* Constant blocks, or noise that was nowhere on the drive before the erase: the encryption
	 * key was discarded. */
	VERIFY_CHANGED,
};

struct verify {
	struct dio *drive;
	const struct secret *nonce;
	const char *wwn;
	/* Ring with pieces of VERIFY_BLOCK bytes. */
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
 * correctly (VERIFY_CANARIES: all); only if all were may the drive's writes be trusted. -1: the
 * drive refused a write. */
int verify_plant(const struct verify *v, struct err *e);
/* Returns the number of canary positions at which a canary is found, whole or in part, at any
 * offset. An unreadable position counts in *unreadable (may be NULL). */
int verify_find(const struct verify *v, int64_t *unreadable);

/* Fills prints with fingerprints for VERIFY_CHANGED: 16 bytes for each of the EVIDENCE_EDGE_READS
 * blocks of both edges, then for each of n sample blocks. The fingerprint of a constant block is
 * zeros, so that any change of the block counts. That of an unreadable block is ones: the block's
 * later contents may be its old ones, and count as unreadable unless they are constant. */
void verify_fingerprint(const struct verify *v, int64_t n, uint8_t (*prints)[16]);
/* Reads both edges and n samples, and counts the results in *out. prints: nprints fingerprints of
 * verify_fingerprint(), of at least as many samples, for VERIFY_CHANGED; otherwise NULL and 0. A
 * block is dirty if it is neither constant nor noise, contains a canary at any offset, or equals a
 * fingerprint. */
void verify_sample(const struct verify *v, enum verify_accept accept, int64_t n,
		   const uint8_t (*prints)[16], size_t nprints, struct verify_counts *out);
/* Reads EVIDENCE_AGAIN_READS blocks of a drive in a later boot, when nothing should have written to
 * it since, and counts the results in *out. A drive that lost its last writes at power-off shows
 * canaries again, or the data before them. */
void verify_again(const struct verify *v, enum verify_accept accept, struct verify_counts *out);

#endif
