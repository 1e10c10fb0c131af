#ifndef WIPE_BATCH_H
#define WIPE_BATCH_H

#include "base/loop/loop.h"
#include "wipe/erase.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * batch: the machine's drives, and something done to each of them at the same time, in a
 * loop_work() of its own; what are parts of one drive, namespaces of an NVMe subsystem or paths to
 * it, share one and take turns in it (erase_run_all()). One drive never holds up the others, nor
 * the end: a guard on the loop gives up a drive of which nothing was heard for as long as it said
 * it might be silent. What its thread does after that changes nothing any more; it holds the batch
 * until it ends.
 *
 * On the loop's thread, but for what run functions do.
 */
enum batch_act {
	BATCH_NONE,
	/* read the clean stamp, into the inventory; with a nonce the rest again */
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
	/* of its drive; constant while the thread runs */
	enum batch_act act;
	_Atomic bool given_up;
	/* its turn has come on that thread */
	_Atomic bool begun;
	/* the thread's while it runs */
	struct {
		int rc;
		struct err err;
		/* BATCH_LOOK */
		char *first_block;
		/* the same, with a nonce */
		struct verify_counts again;
	} own;
	/* the thread's too, but for its progress */
	struct erase erase;

	struct evidence_device result;
	int rc;
	struct err err;
	bool verified;
	/* it has the work of its drive */
	bool begins;
	/* of the same drive, behind it */
	struct batch_unit *next;
	/* given up: its thread may run still */
	bool lost;
	/* the guard's */
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
	/* beside the drives (drives.h) */
	struct strings parts;
	/* uncovered.h */
	struct strings uncovered;
	/* memory.h */
	struct statement memory;

	/* the drives that are meant */
	struct batch_unit *units;
	size_t n, running;
	struct strings expected, missing, extra;
	/* WWNs, for BATCH_LOOK: their wipe may have left noise */
	struct strings noise;
	struct secret *nonce;
	char *nonce_text;
	int64_t start_wall;

	enum batch_act act;
	/* BATCH_STAMP */
	const char *record, *stamp;
	/* BATCH_CONFIG */
	uint8_t *volume;
	size_t volume_used;
	/* batch_progress() */
	struct evidence_device *reached;
	struct loop_timer guard;
	void (*done)(void *arg);
	void *arg;
};

struct batch *batch_new(struct loop_group *g, const struct host *h);
struct batch *batch_ref(struct batch *b);
void batch_unref(struct batch *b);

/* In the inventory, or NULL. */
struct proto_drive *batch_find(const struct batch *b, const char *wwn);
/* From the inventory: those expected; without any, all that are built in.  Once. */
void batch_choose(struct batch *b, const struct strings *expected);
void batch_choose_all(struct batch *b);
/* BATCH_LOOK with a nonce: these hold noise where their wipe went well, all others constants.
 * Copied. */
void batch_expect_noise(struct batch *b, const struct strings *wwns);
void batch_choose_one(struct batch *b, struct proto_drive *d);
/* One act at a time; done(arg) once, when each unit has ended or was given up.  Not from inside. */
void batch_act(struct batch *b, enum batch_act what, void (*done)(void *arg), void *arg);
/* done() is not called any more. */
void batch_abandon(struct batch *b);
/* First unit that failed, or NULL. */
const struct batch_unit *batch_failed(const struct batch *b);
/* One entry for each drive, the missing ones too; in the batch's arena. */
struct evidence_device *batch_devices(struct batch *b, size_t *n);
/* Phase and bytes over all drives, and how far each is; *r points into the batch. */
void batch_progress(struct batch *b, struct proto_report *r);

#endif
