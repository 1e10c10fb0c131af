#ifndef WIPE_TARGET_H
#define WIPE_TARGET_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "base/crypto.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * target: the drive that an image is written to, from its first byte to its last.
 *
 *	target_buffer() -> filled -> target_put()   \
 *				     target_put_from() -> ... -> target_settle()
 *		-> target_fit() -> target_finish()
 *
 * Writes go on while the next buffer is filled; runs of zeros are written last, as Write Zeroes
 * (dio_zero()), so the drive need not be known to be empty.
 *
 * The partition table is the last thing that is written.  The first MiB is held back in memory,
 * and before anything else is written the drive's first and last MiB are zeros: whatever
 * happens on the way, a lost machine too, what is on the drive has no table that a firmware
 * could find.  Only when all else was read back does target_finish() write the backup table to
 * the drive's true end, a partition `cidata` for the config drive behind the image, and then the
 * first MiB.
 *
 * Blocking, from loop_work(), one thread at a time; but for `moved`.  Memory is bounded and
 * allocated in target_new().
 */
#define TARGET_PIECE (512u << 10)
#define TARGET_DEPTH 16
#define TARGET_CIDATA "cidata"
#define TARGET_CIDATA_BYTES (4 << 20)

struct target;
/* seed: which blocks are read back.  moved: a sign of life, rises with all that is taken in and
 * with all that the drive has done. */
struct target *target_new(const struct host *h, const struct proto_drive *d,
			  const uint8_t seed[static 32], _Atomic int64_t *moved);
/* At any time between two calls; what is in flight is left to the kernel. */
void target_free(struct target *t);

/* ERR_CONFLICT: not the drive that was found, by its size. */
int target_open(struct target *t, struct err *e) __attribute__((warn_unused_result));
/* TARGET_PIECE bytes to fill, the same until target_put().  NULL: an earlier write failed. */
void *target_buffer(struct target *t, struct err *e);
/* The next len bytes of the image; only the last piece may be short. */
int target_put(struct target *t, size_t len, struct err *e) __attribute__((warn_unused_result));
/* The same, TARGET_PIECE bytes that stand in pages of the caller (dio_pages()); what was put
 * into a claimed buffer is lost.  Until target_await(in_flight) they are the target's. */
int target_put_from(struct target *t, uint8_t *data, unsigned *in_flight, struct err *e)
	__attribute__((warn_unused_result));
int target_await(struct target *t, const unsigned *in_flight, struct err *e)
	__attribute__((warn_unused_result));
/* All is on the medium, and random blocks of it read back. */
int target_settle(struct target *t, struct err *e) __attribute__((warn_unused_result));
/* Is the image's table sound, and is there room for `cidata`?  digest: the image's, for the
 * partition's GUID.  No I/O. */
int target_fit(struct target *t, const uint8_t digest[static CRYPTO_SHA256], struct err *e)
	__attribute__((warn_unused_result));
/* The tables onto the drive, as target_fit() made them; each is read back. */
int target_finish(struct target *t, struct err *e) __attribute__((warn_unused_result));
/* After a failure: nothing in flight, and no table. */
void target_spoil(struct target *t);

#endif
