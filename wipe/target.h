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
 *   target_buffer() -> filled -> target_put()   \
 *                                target_put_from() -> ... -> target_settle()
 *         -> target_fit() -> target_finish()
 *
 * Writes continue while the next buffer is filled; runs of zeros are written last, as Write Zeroes
 * (dio_zero()), so the drive need not be known to be empty.
 *
 * The partition table is written last. The first MiB is retained in memory, and before anything
 * else is written the drive's first and last MiB are zeroed: after any interruption, even the loss
 * of the machine, the drive has no table that a firmware could find. Only after everything else was
 * read back does target_finish() write the backup table at the drive's end, a partition `cidata`
 * for the config drive behind the image, and then the first MiB.
 *
 * Blocking, from loop_work(), one thread at a time, except `moved`. Memory is bounded and allocated
 * in target_new().
 */
#define TARGET_PIECE (512u << 10)
#define TARGET_DEPTH 16
#define TARGET_CIDATA "cidata"
#define TARGET_CIDATA_BYTES (4 << 20)

struct target;
/* Creates a target. seed: selects the blocks that are read back. *moved: progress counter in
 * bytes; it grows when data is accepted for a write, and again when the drive has written, flushed
 * or read back. */
struct target *target_new(const struct host *h, const struct proto_drive *d,
			  const uint8_t seed[static 32], _Atomic int64_t *moved);
/* Frees t; allowed between any two calls. The kernel completes writes in flight. */
void target_free(struct target *t);

/* Opens the drive for writing. ERR_CONFLICT: the device is no longer the listed drive, as its size
 * or identity shows. */
int target_open(struct target *t, struct err *e) __attribute__((warn_unused_result));
/* Claims and returns a buffer of TARGET_PIECE bytes to fill; repeated calls return the same buffer
 * until target_put(). NULL: an earlier write failed. */
void *target_buffer(struct target *t, struct err *e);
/* Writes the next len bytes of the image from the buffer of target_buffer(); only the last piece
 * may be shorter than TARGET_PIECE. */
int target_put(struct target *t, size_t len, struct err *e) __attribute__((warn_unused_result));
/* Writes TARGET_PIECE bytes directly from pages of the caller (dio_pages()). If a buffer of
 * target_buffer() is claimed, its contents are lost. *in_flight counts the writes in flight; the
 * pages must not change until target_await(in_flight) returns. */
int target_put_from(struct target *t, uint8_t *data, unsigned *in_flight, struct err *e)
	__attribute__((warn_unused_result));
int target_await(struct target *t, const unsigned *in_flight, struct err *e)
	__attribute__((warn_unused_result));
/* Returns when everything is on the medium and random blocks were read back and compared. */
int target_settle(struct target *t, struct err *e) __attribute__((warn_unused_result));
/* Checks the partition table of the image and the space for `cidata`, and creates the new tables in
 * memory. digest: digest of the image, used for the partition's GUID. Does no I/O. */
int target_fit(struct target *t, const uint8_t digest[static CRYPTO_SHA256], struct err *e)
	__attribute__((warn_unused_result));
/* Writes the tables that target_fit() created to the drive; each is read back. */
int target_finish(struct target *t, struct err *e) __attribute__((warn_unused_result));
/* Call after a failure: waits for writes in flight and removes the partition tables from the
 * drive. */
void target_spoil(struct target *t);

#endif
