#ifndef WIPE_BATCH_H
#define WIPE_BATCH_H

#include "base/loop/loop.h"
#include "wipe/erase.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * batch: runs one act on each of the machine's drives in parallel. An act is one kind of work on a
 * drive, such as its wipe (enum batch_act).
 *
 * Each drive has a loop_work() job of its own. Parts of one drive (namespaces of an NVMe subsystem,
 * or several paths to one drive) are separate units. They share one job, which processes them one
 * after the other; their wipe is one call of erase_run_all().
 *
 * A drive never delays the other drives or the end of the act. The guard (a timer on the loop)
 * gives up a drive that makes no progress for longer than the limit announced by its current phase.
 * Whatever a given-up thread does later has no effect on the result; the batch stays allocated
 * until that thread ends.
 *
 * All functions run on the loop's thread, except those that a job runs.
 */
enum batch_act {
	BATCH_NONE,
	/* Reads the clean stamp (which names the record of the drive's last wipe) from each drive
	 * into the inventory; if the batch has a nonce, reads samples of the drive too. */
	BATCH_LOOK,
	BATCH_WIPE,
	BATCH_VERIFY,
	BATCH_STAMP,
	BATCH_UNSTAMP,
	BATCH_CONFIG,
};

struct batch_unit {
	struct batch *batch;
	struct proto_drive *drive;
	struct loop_work *work;
	/* Act that the unit's job runs; constant while the job's thread runs. */
	enum batch_act act;
	_Atomic bool given_up;
	/* True once the job's thread has begun this unit; false while the unit waits for a thread
	 * or for earlier units of the drive. */
	_Atomic bool begun;
	/* Results that the job's thread writes; the loop's thread reads them only after the job has
	 * ended. */
	struct {
		int rc;
		struct err err;
		/* First PROTO_STAMP_SIZE bytes of the drive, for BATCH_LOOK. */
		char *first_block;
		/* For BATCH_LOOK with a nonce: number of sample blocks that still contain what the
		 * last wipe left (clean), and number of all other sample blocks. */
		struct verify_counts again;
	} own;
	/* State of the drive's wipe and verification, used by the job's thread. While that thread
	 * runs, the loop reads erase.progress only. */
	struct erase erase;

	struct evidence_device result;
	int rc;
	struct err err;
	bool verified;
	/* True: this unit is the first of its drive, and its job processes all units of the
	 * drive. */
	bool begins;
	/* Next unit of the same drive; NULL: none. */
	struct batch_unit *next;
	/* True: the guard gave the unit up; its thread may still run. */
	bool lost;
	/* State at the guard's last check, compared to detect progress. had_begun, phase,
	 * done_bytes: copies of `begun` and erase.progress. moved_at: monotonic ms of the last
	 * progress. */
	bool had_begun;
	const char *phase;
	int64_t done_bytes, moved_at;
};

struct batch {
	unsigned refs;
	struct loop_group *group;
	const struct host *host;
	struct arena *arena;
	struct proto_inventory inventory;
	/* Parts of drives that are not drives themselves, such as eMMC boot partitions
	 * (drives.h). */
	struct strings parts;
	/* Parts that retain data and are not wiped (uncovered.h). */
	struct strings uncovered;
	/* Result of overwriting the system memory (memory.h). */
	struct statement memory;

	/* One unit for each chosen drive. */
	struct batch_unit *units;
	size_t n, running;
	struct strings expected, missing, extra;
	/* For BATCH_LOOK: WWNs of drives whose erase method may have left random-looking data
	 * (noise). */
	struct strings noise;
	struct secret *nonce;
	char *nonce_text;
	int64_t start_wall;

	enum batch_act act;
	/* For BATCH_STAMP: name of the WipeRecord and its digest as text. */
	const char *record, *stamp;
	/* For BATCH_CONFIG: the config drive's file system, and its size in bytes. */
	uint8_t *volume;
	size_t volume_used;
	/* Array that batch_progress() fills in and a report points to; NULL: no progress was
	 * reported yet. */
	struct evidence_device *reached;
	struct loop_timer guard;
	void (*done)(void *arg);
	void *arg;
};

struct batch *batch_new(struct loop_group *g, const struct host *h);
struct batch *batch_ref(struct batch *b);
void batch_unref(struct batch *b);

/* Returns the drive with this WWN from the inventory; NULL: not found. */
struct proto_drive *batch_find(const struct batch *b, const char *wwn);
/* Chooses the drives whose WWNs are in `expected`; if `expected` is empty, all built-in drives.
 * Fills in b->missing and b->extra. Exactly one of the batch_choose...() functions may be called
 * for a batch, once. */
void batch_choose(struct batch *b, const struct strings *expected);
void batch_choose_all(struct batch *b);
/* Sets the drives on which BATCH_LOOK with a nonce accepts blocks of random-looking data (noise);
 * on all others each block must be all zeros or all ones. Copies wwns. */
void batch_expect_noise(struct batch *b, const struct strings *wwns);
void batch_choose_one(struct batch *b, struct proto_drive *d);
/* Runs the act `what` on all chosen drives; only one act may be in progress. done(arg) is called
 * once, when each unit has ended or was given up, never from inside batch_act(). */
void batch_act(struct batch *b, enum batch_act what, void (*done)(void *arg), void *arg);
/* Stops waiting for the act in progress: done() is not called afterwards. b NULL is allowed. */
void batch_abandon(struct batch *b);
/* Returns the first unit that failed; NULL: none. */
const struct batch_unit *batch_failed(const struct batch *b);
/* Returns the results, one entry per drive, missing drives included; *n: their number. The array is
 * in the batch's arena. */
struct evidence_device *batch_devices(struct batch *b, size_t *n);
/* Fills in r during a wipe or verification: the phase, the sums of bytes over all drives, and the
 * progress of each drive. r->devices then points into the batch. */
void batch_progress(struct batch *b, struct proto_report *r);

#endif
