#ifndef WIPE_BATCH_H
#define WIPE_BATCH_H

#include "base/loop/loop.h"
#include "wipe/erase.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * batch: runs one act on each of the machine's drives in parallel, each in a loop_work() of its
 * own. Parts of one drive (namespaces of an NVMe subsystem, or paths to it) share one job and take
 * turns in it (erase_run_all()). A drive never delays the others or the end: a guard on the loop
 * gives up a drive that was silent for longer than it announced. Whatever a given-up thread does
 * later has no effect on the result; it keeps the batch allocated until it ends.
 *
 * On the loop's thread, except inside run functions.
 */
enum batch_act {
	BATCH_NONE,
	/* Reads the clean stamp into the inventory; with a nonce reads samples of the drive too. */
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
	/* Act on its drive; constant while the thread runs. */
	enum batch_act act;
	_Atomic bool given_up;
	/* Its turn on that thread has come. */
	_Atomic bool begun;
	/* Used by the thread while it runs. */
	struct {
		int rc;
		struct err err;
		/* For BATCH_LOOK. */
		char *first_block;
		/* For BATCH_LOOK with a nonce. */
		struct verify_counts again;
	} own;
	/* Used by the thread too, except its progress. */
	struct erase erase;

	struct evidence_device result;
	int rc;
	struct err err;
	bool verified;
	/* Owns the job of its drive. */
	bool begins;
	/* Next unit of the same drive. */
	struct batch_unit *next;
	/* Given up; its thread may still run. */
	bool lost;
	/* Used by the guard. */
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
	/* Parts that are not drives themselves (drives.h). */
	struct strings parts;
	/* See uncovered.h. */
	struct strings uncovered;
	/* See memory.h. */
	struct statement memory;

	/* The chosen drives. */
	struct batch_unit *units;
	size_t n, running;
	struct strings expected, missing, extra;
	/* WWNs for BATCH_LOOK of drives whose wipe may have left noise. */
	struct strings noise;
	struct secret *nonce;
	char *nonce_text;
	int64_t start_wall;

	enum batch_act act;
	/* For BATCH_STAMP. */
	const char *record, *stamp;
	/* For BATCH_CONFIG. */
	uint8_t *volume;
	size_t volume_used;
	/* For batch_progress(). */
	struct evidence_device *reached;
	struct loop_timer guard;
	void (*done)(void *arg);
	void *arg;
};

struct batch *batch_new(struct loop_group *g, const struct host *h);
struct batch *batch_ref(struct batch *b);
void batch_unref(struct batch *b);

/* Finds a drive in the inventory; NULL: not found. */
struct proto_drive *batch_find(const struct batch *b, const char *wwn);
/* Chooses drives from the inventory: the expected ones, or without any all built-in ones. Call it
 * once. */
void batch_choose(struct batch *b, const struct strings *expected);
void batch_choose_all(struct batch *b);
/* For BATCH_LOOK with a nonce: after a good wipe these drives hold noise, all others constants.
 * Copies wwns. */
void batch_expect_noise(struct batch *b, const struct strings *wwns);
void batch_choose_one(struct batch *b, struct proto_drive *d);
/* Runs one act at a time; done(arg) is called once, when each unit has ended or was given up, never
 * from inside. */
void batch_act(struct batch *b, enum batch_act what, void (*done)(void *arg), void *arg);
/* done() is not called afterwards. */
void batch_abandon(struct batch *b);
/* Returns the first unit that failed; NULL: none. */
const struct batch_unit *batch_failed(const struct batch *b);
/* Returns one entry per drive, missing ones included, in the batch's arena. */
struct evidence_device *batch_devices(struct batch *b, size_t *n);
/* Fills in phase and bytes over all drives, and the progress of each; *r points into the batch. */
void batch_progress(struct batch *b, struct proto_report *r);

#endif
