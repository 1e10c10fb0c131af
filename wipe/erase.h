#ifndef WIPE_ERASE_H
#define WIPE_ERASE_H

#include <stdatomic.h>
#include "base/secret.h"
#include "wipe/host.h"
#include "wipe/proto.h"
#include "wipe/verify.h"

/*
 * erase: wipes one drive, trying its erase methods from the strongest to the weakest.
 *
 * The drive itself reports which methods it has; its name does not matter. If a method is refused,
 * fails, or leaves a canary behind, the next one is tried. After a Sanitize that began and failed,
 * only one other Sanitize is tried, once the drive was told to leave its failure mode: such a drive
 * is not trusted with a weaker method. Methods that earn no level (Format without erase, discard,
 * Write Zeroes) are not used. Success is always a positive observation: a drive starts at Fail.
 *
 * A Format that lost power may leave a namespace without I/O until a Format completes. If writing
 * the canaries fails, one Format is sent, which proves nothing and earns nothing; then the canaries
 * are written again and the methods are tried from the first.
 *
 * A Sanitize erases all namespaces of an NVMe subsystem. It is sent once for all of them
 * (erase_run_all()), and only if all of them are to be wiped.
 *
 * Levels as in IEEE 2883-2022: Sanitize earns Purge. Format earns Clear in either mode (Purge only
 * where a vendor declares that its implementation meets the standard, which a drive cannot report).
 * An overwrite by the host earns Clear.
 *
 * Blocking: only from loop_work(). Everything is allocated before the drive is touched.
 */
/* Overwrite: size of a write, and number of writes in flight. Measured: more than 8 writes of 512
 * KiB gain nothing; drives split larger ones. */
#define ERASE_PIECE_KIB 1024
#define ERASE_DEPTH 16
#define ERASE_RUNGS 10
#define ERASE_MENDS 2 /* Largest number of Formats for a namespace that accepts no canaries. */
/* Largest number of further Sanitizes after a failed one: before the canaries, and after. */
#define ERASE_AGAIN 2

struct erase_progress {
	/* "canaries", "format", "overwrite", "verify" and so on. */
	_Atomic(const char *) phase;
	_Atomic int64_t done_bytes, total_bytes;
	/* The method begun last; NULL: none. */
	_Atomic(const char *) technique;
	/* Progress of that method in bytes, if it reports progress. */
	_Atomic int64_t erased_bytes;
	/* Longest time in ms in which none of these may change. */
	_Atomic int64_t patience_ms;
};

/* One drive through wipe and verify. Strings in device belong to drive, or are constants. */
struct erase {
	const struct host *host;
	/* Its strings must outlive the erase. */
	const struct proto_drive *drive;
	const struct secret *nonce;
	/* A lower level is EraseBelowPolicy, and the drive is not stamped. */
	int minimum_level;
	/* Number of blocks to remember before a cryptographic erase. */
	int64_t samples;
	struct erase_progress progress;
	/* Monotonic time in ms. */
	int64_t begun;

	/* The result so far. */
	struct evidence_device device;
	/* device.raw_status. */
	int64_t status[ERASE_RUNGS + ERASE_MENDS + ERASE_AGAIN];
	/* device.message, after a failure. */
	char why[256];
	/* What the method leaves behind. */
	enum verify_accept accept;
	/* Fingerprints of edges and samples before a cryptographic erase; NULL: none. */
	uint8_t (*prints)[16];
	/* Number of samples among them. */
	int64_t nprints;
};
/* Returns the number of samples for an order; 0 means the default, not none. */
int64_t erase_samples(int64_t asked);
void erase_init(struct erase *x, const struct host *h, const struct proto_drive *d,
		const struct secret *nonce, int minimum_level,
		int64_t samples /* 0 means VERIFY_SAMPLES. */);
void erase_done(struct erase *x);

/* Wipes n drives that are parts of one: namespaces of one NVMe subsystem, or paths to it; or a
 * single drive. Each gets its canaries first. If they are everything that the subsystem holds, it
 * gets one Sanitize, which counts for each of them whose canaries it removed; data that it left on
 * one counts as left on all. Otherwise they are wiped one after the other.
 *
 * Fills in device of each; rc[i] -1: failed, as its level and reason show, with details in e[i].
 * Reasons: ReadOnly, DriveMissing (it has disappeared), DriveFailed, CanaryLost, EraseUnverified,
 * EraseBelowPolicy, NamespaceHidden (the drive holds a namespace that the host cannot reach),
 * SectorsHidden (ata.h), DriveLocked (tcg.h), DriveZoned. */
void erase_run_all(struct erase *const *x, size_t n, int *rc, struct err *e);
/* After erase_run_all(): reads samples and adds the result to x->device. */
int erase_verify(struct erase *x, int64_t samples, struct err *e)
	__attribute__((warn_unused_result));

#endif
