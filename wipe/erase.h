#ifndef WIPE_ERASE_H
#define WIPE_ERASE_H

#include <stdatomic.h>
#include "base/secret.h"
#include "wipe/host.h"
#include "wipe/proto.h"
#include "wipe/verify.h"

/*
 * erase: one drive, down a ladder of techniques, best first.
 *
 * Which rungs a drive has is asked of the drive, never told from its name. A rung that is refused,
 * fails, or leaves a canary behind gives way to the next, but a Sanitize that began and failed
 * gives way to one other Sanitize alone, after the drive was told to leave its failure mode: it is
 * not to be trusted with less. What earns no level (Format without erase, discard, Write Zeroes) is
 * no rung. Success is only ever a positive observation: a drive starts at Fail.
 *
 * A Format that lost its power may leave a namespace that takes no I/O until a Format comes to its
 * end. Where writing the canaries fails, one is sent, which proves nothing and earns nothing; then
 * the canaries are written anew and the ladder begins at its top.
 *
 * A Sanitize erases all namespaces of an NVMe subsystem. It is sent once for all of them
 * (erase_run_all()), and only where each of them is to be wiped.
 *
 * Levels as in IEEE 2883-2022: Sanitize earns Purge; Format earns Clear in either mode (Purge only
 * where a vendor says that its implementation meets the standard, which a drive cannot tell us); an
 * overwrite by the host earns Clear.
 *
 * Blocking: only from loop_work(). Everything is allocated before the drive is touched.
 */
/* An overwrite: so much a write, so many writes in flight.  Measured: beyond 8 and 512 KiB
 * nothing is gained; drives cut what is larger than they take. */
#define ERASE_PIECE_KIB 1024
#define ERASE_DEPTH 16
#define ERASE_RUNGS 10
#define ERASE_MENDS 2 /* Formats, at most, of a namespace that takes no canaries */
#define ERASE_AGAIN                                                                                \
	2 /* Sanitizes, at most, after one that failed: before the canaries, and after */

struct erase_progress {
	/* "canaries", "format", "overwrite", "verify" ... */
	_Atomic(const char *) phase;
	_Atomic int64_t done_bytes, total_bytes;
	/* the last that was begun; NULL: none */
	_Atomic(const char *) technique;
	/* how far that is, where it tells */
	_Atomic int64_t erased_bytes;
	/* longest time in which nothing of this need change */
	_Atomic int64_t patience_ms;
};

/* One drive through wipe and verify.  Strings in device belong to drive and to constants. */
struct erase {
	const struct host *host;
	/* its strings outlive the erase */
	const struct proto_drive *drive;
	const struct secret *nonce;
	/* what reaches less is EraseBelowPolicy, and not stamped */
	int minimum_level;
	/* how many blocks to remember before a cryptographic erase */
	int64_t samples;
	struct erase_progress progress;
	/* on the monotonic clock */
	int64_t begun;

	/* the result so far */
	struct evidence_device device;
	/* device.raw_status */
	int64_t status[ERASE_RUNGS + ERASE_MENDS + ERASE_AGAIN];
	/* device.message, once it failed */
	char why[256];
	/* what the technique used leaves behind */
	enum verify_accept accept;
	/* of edges and samples before a cryptographic erase, or NULL */
	uint8_t (*prints)[16];
	/* of the samples */
	int64_t nprints;
};
/* How many that are, of an order that asks for so many: 0 is not none. */
int64_t erase_samples(int64_t asked);
void erase_init(struct erase *x, const struct host *h, const struct proto_drive *d,
		const struct secret *nonce, int minimum_level,
		int64_t samples /* 0: VERIFY_SAMPLES */);
void erase_done(struct erase *x);

/* Wipes n that are one drive: namespaces of one NVMe subsystem, or paths to it; or one alone. Each
 * gets its canaries first. Where these are all that the subsystem holds, it gets one Sanitize,
 * which counts for each of them whose canaries it took; what it left of one is left of all. Else
 * one after the other.
 *
 * Fills in device of each; rc[i] -1: it failed, which is in its level and reason, with e[i] saying
 * more. Reasons: ReadOnly, DriveMissing (it is not there any more), DriveFailed, CanaryLost,
 * EraseUnverified, EraseBelowPolicy, NamespaceHidden (the drive holds one that cannot be reached
 * from here), SectorsHidden (ata.h), DriveLocked (tcg.h), DriveZoned. */
void erase_run_all(struct erase *const *x, size_t n, int *rc, struct err *e);
/* After erase_run_all(): samples reads; adds what they say to x->device. */
int erase_verify(struct erase *x, int64_t samples, struct err *e)
	__attribute__((warn_unused_result));

#endif
