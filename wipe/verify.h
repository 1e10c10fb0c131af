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
 * verify: proof that an erase happened, by canaries and samples.
 *
 * Before the erase, blocks that nobody can predict (HMAC of the order's nonce,
 * the drive's name and the offset) are written at places that nobody can predict, and
 * read back; after it, none of their sectors may be found.  Samples at other unpredictable
 * places must read as the technique leaves a drive.  A read has three outcomes:
 * clean, dirty, unreadable; unreadable is never clean.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_verify.c, tests/unit/wipe/test_erase_verify.c
 */
#define VERIFY_BLOCK 4096
#define VERIFY_CANARIES EVIDENCE_CANARIES
#define VERIFY_EDGE (1 << 20) /* of both ends, all is read */
#define VERIFY_SAMPLES EVIDENCE_SAMPLES
#define VERIFY_MAX_SAMPLES 1000000

/* What a block may hold after the erase. */
enum verify_accept {
	/* overwritten with them */
	VERIFY_ZEROS,
	/* all zeros or all ones: the drive's own erase */
	VERIFY_CONSTANT,
	/* constant or noise: what VERIFY_CHANGED may leave, of which nothing is remembered */
	VERIFY_NOISE,
	/* the same, or noise that was there nowhere before: the key was thrown away */
	VERIFY_CHANGED,
};

struct verify {
	struct dio *drive;
	const struct secret *nonce;
	const char *wwn;
	/* of VERIFY_BLOCK pieces */
	struct ring *ring;
	/* rises with what was written and read; may be NULL */
	_Atomic int64_t *done_bytes;
	/* of what could not be read the first; may be NULL */
	struct err *why;
};
struct verify_counts {
	int64_t clean, dirty, unreadable;
};

/* How many canaries read back (64: all); the drive may be trusted to write only then.  -1: it
 * refused a write. */
int verify_plant(const struct verify *v, struct err *e);
/* At how many of their places one of them is, whole or in part, at any offset. An unreadable place
 * counts in *unreadable (may be NULL). */
int verify_find(const struct verify *v, int64_t *unreadable);

/* What the blocks of both edges held, EVIDENCE_EDGE_READS of them, and after them each of n sample
 * blocks: 16 bytes each, for VERIFY_CHANGED. A block that was constant gets zeros: any change is
 * one. One that could not be read gets ones: what is there afterwards may be what was there before,
 * and counts as unreadable unless it is constant. */
void verify_fingerprint(const struct verify *v, int64_t n, uint8_t (*prints)[16]);
/* Both edges and n samples. prints: nprints of verify_fingerprint(), for no fewer samples, at
 * VERIFY_CHANGED; else NULL and 0. What is neither constant nor noise, holds a canary at any
 * offset, or is a block that is among them is dirty. */
void verify_sample(const struct verify *v, enum verify_accept accept, int64_t n,
		   const uint8_t (*prints)[16], size_t nprints, struct verify_counts *out);
/* Later, in another boot: EVIDENCE_AGAIN_READS of a drive that nobody was to write to. A drive
 * that forgot its last writes when the power went holds canaries again, or what was there before
 * them. */
void verify_again(const struct verify *v, enum verify_accept accept, struct verify_counts *out);

#endif
