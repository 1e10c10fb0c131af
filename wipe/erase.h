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
 * Before the erase, canaries are written: blocks that the erase must remove (verify.h).
 *
 * The drive itself reports which methods it supports; the type in its device name does not matter.
 * If a method is refused, fails, or leaves a canary behind, the next method is tried. A drive on
 * which a Sanitize began and failed is not trusted with a weaker method: it is made to leave its
 * failure mode, and one further Sanitize is tried. Methods that earn no level (Format without
 * erase, discard, Write Zeroes) are not used. The result of a drive is Fail until an observation
 * proves success.
 *
 * A Format that lost power may leave a namespace that accepts no I/O until another Format
 * completes. If writing the canaries fails, the drive is therefore formatted. This Format earns no
 * level and proves nothing. Then the canaries are written again, and the methods are tried from the
 * first.
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
/* Overwrite: size of one write in KiB, and number of writes in flight. Measured: drives split
 * larger writes, and more than 8 writes of 512 KiB in flight give no higher speed. */
#define ERASE_PIECE_KIB 1024
#define ERASE_DEPTH 16
#define ERASE_METHODS 10
/* Largest number of Formats that are sent to repair a namespace on which the canaries (blocks that
 * the erase must remove, see verify.h) could not be written. */
#define ERASE_MENDS 2
/* Largest number of Sanitizes sent because a Sanitize failed: one to recover from a Sanitize of an
 * earlier boot, before the canaries are written, and one after a failed Sanitize of this wipe. */
#define ERASE_AGAIN 2

struct erase_progress {
	/* Current phase: "canaries", "format", "overwrite", "verify" and so on. */
	_Atomic(const char *) phase;
	_Atomic int64_t done_bytes, total_bytes;
	/* Erase method that was begun last; NULL: none. */
	_Atomic(const char *) technique;
	/* Progress of the method in `technique`, in bytes; 0 if it reports no progress. */
	_Atomic int64_t erased_bytes;
	/* Longest time in ms in which phase and done_bytes may stay unchanged; 0: this part of the
	 * drive sets no limit of its own. */
	_Atomic int64_t patience_ms;
};

/* State of one drive from the wipe to the verification. Strings in `device` belong to `drive`, or
 * are constants. */
struct erase {
	const struct host *host;
	/* The drive; its strings must outlive the erase. */
	const struct proto_drive *drive;
	const struct secret *nonce;
	/* enum wipe_level that the policy requires. A lower level is the failure EraseBelowPolicy,
	 * and the drive is not stamped. */
	int minimum_level;
	/* Number of sample blocks whose fingerprints are stored before a cryptographic erase, to be
	 * compared afterwards. */
	int64_t samples;
	struct erase_progress progress;
	/* Time of erase_init(), monotonic ms. */
	int64_t begun;

	/* The result so far. */
	struct evidence_device device;
	/* Array of device.raw_status: the drive's result code of each erase command. */
	int64_t status[ERASE_METHODS + ERASE_MENDS + ERASE_AGAIN];
	/* Text of device.message after a failure. */
	char why[256];
	/* What blocks may hold after the method that succeeded. */
	enum verify_accept accept;
	/* Fingerprints of the drive's edges and samples, taken before a cryptographic erase; NULL:
	 * not taken. */
	uint8_t (*prints)[16];
	/* Number of samples in prints, without the edges. */
	int64_t nprints;
};
/* Returns the number of samples for an order that asks for `asked` samples; 0 means the default,
 * not none. */
int64_t erase_samples(int64_t asked);
void erase_init(struct erase *x, const struct host *h, const struct proto_drive *d,
		const struct secret *nonce, int minimum_level,
		int64_t samples /* 0 means VERIFY_SAMPLES. */);
void erase_done(struct erase *x);

/* Wipes n drives that are parts of one drive (namespaces of one NVMe subsystem, or paths to it), or
 * a single drive. Each part gets its canaries first.
 *
 * If the parts are everything that the subsystem holds, it gets one Sanitize. The Sanitize counts
 * for each part whose canaries it removed; data that it left on one part counts as left on all.
 * Otherwise the parts are wiped one after the other.
 *
 * Fills in x[i]->device. rc[i] -1: part i failed; its device has level and reason, and e[i] has
 * details. Reasons: ReadOnly, DriveMissing (the drive has disappeared), DriveFailed, CanaryLost,
 * EraseUnverified, EraseBelowPolicy, NamespaceHidden (the drive holds a namespace that the host
 * cannot reach), SectorsHidden (ata.h), DriveLocked (tcg.h), DriveZoned. */
void erase_run_all(struct erase *const *x, size_t n, int *rc, struct err *e);
/* Reads canary positions, edges and `samples` samples of a drive after erase_run_all(), and adds
 * the result to x->device. -1: the drive was not wiped, or data is left. */
int erase_verify(struct erase *x, int64_t samples, struct err *e)
	__attribute__((warn_unused_result));

#endif
