#ifndef WIPE_RUNGS_H
#define WIPE_RUNGS_H

#include "wipe/ata_erase.h"
#include "wipe/dio.h"
#include "wipe/erase.h"
#include "wipe/nvme.h"
#include "wipe/sanitize.h"
#include "wipe/scsi_erase.h"
#include "wipe/verify.h"

/*
 * rungs: the erase methods that a drive may have, strongest first, and how each is started. erase.c
 * tries them in order.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase.c, tests/unit/wipe/test_erase_nvme.c,
 * tests/unit/wipe/test_erase_ata.c, tests/unit/wipe/test_erase_scsi.c,
 * tests/unit/wipe/test_subsystem.c
 */
#define RUNGS_PIECE (ERASE_PIECE_KIB << 10)
/* Limit of a flush in ms: a large cache on a slow medium. */
#define RUNGS_FLUSH_MS (10 * 60 * 1000)

/* One pass through the erase methods. */
struct pass {
	struct erase *x;
	struct dio dio;
	/* For overwriting. */
	struct ring *zeros;
	/* Its rings belong to another pass. */
	bool borrows;
	/* 4096 bytes. */
	uint8_t *identify;
	struct verify verify;
	/* Error of the first block that could not be read. */
	struct err unreadable;
	/* All false if the drive is not NVMe. */
	struct nvme_abilities nvme;
	/* All false if the drive is not ATA. */
	struct ata_abilities ata;
	/* All false if the drive is not SCSI. */
	struct scsi_abilities scsi;
	/* Bits SANITIZES_... */
	unsigned sanitizes;
	const struct sanitize_ops *how;
	/* The pass failed before the first method. */
	bool lost;
	/* The method in use must not be replaced by a weaker one. */
	bool final;
	/* A Sanitize failed, and the drive accepts no I/O. */
	bool broken;
	/* The drive's result of this method. */
	int64_t *status;
	/* Dirty samples that it left. */
	int64_t dirty;
};

struct rung {
	/* Determines the level: evidence_highest_level(). */
	const char *technique;
	enum verify_accept accept;
	/* Affects everything that the drive holds: each namespace of an NVMe subsystem. */
	bool subsystem;
	bool (*applies)(const struct pass *p);
	int (*run)(struct pass *p, struct err *e);
};
extern const struct rung rungs[ERASE_RUNGS];

/* Limit in ms for a method that reports no progress. */
int64_t rungs_patience_ms(const struct host *h);
/* Sets the current phase, its size in bytes, and how long it may show no progress in ms; 0: the
 * limit of I/O. */
void rungs_phase(struct erase *x, const char *phase, int64_t total, int64_t patience_ms);

/* Reads the drive's erase capabilities. -1: an NVMe drive that does not report what it holds. */
int rungs_abilities(struct pass *p, struct err *e) __attribute__((warn_unused_result));
/* Waits for a Sanitize that was begun before this boot, by an agent that was lost; tells the drive
 * to recover if it failed. -1: it does not end. */
int rungs_await_sanitize(struct pass *p, struct err *e) __attribute__((warn_unused_result));
/* Makes the drive accept commands again after a failed Sanitize. False: it does not. */
bool rungs_recover(struct pass *p);
/* Formats a drive that accepts no canaries; records the results. -1: no Format completed. */
int rungs_mend(struct pass *p) __attribute__((warn_unused_result));
/* Adds an entry for the drive's result, success until a failure is recorded. */
void rungs_note(struct pass *p, const char *technique);

#endif
