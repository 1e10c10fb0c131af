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
 * rungs: the techniques that a drive may have, best first, and how each is begun. erase.c goes
 * down.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase.c, tests/unit/wipe/test_erase_nvme.c,
 * tests/unit/wipe/test_erase_ata.c, tests/unit/wipe/test_erase_scsi.c,
 * tests/unit/wipe/test_subsystem.c
 */
#define RUNGS_PIECE (ERASE_PIECE_KIB << 10)
#define RUNGS_FLUSH_MS (10 * 60 * 1000) /* a large cache on a slow medium */

/* One pass down the ladder. */
struct pass {
	struct erase *x;
	struct dio dio;
	/* for overwriting */
	struct ring *zeros;
	/* its rings are another's */
	bool borrows;
	/* 4096 bytes */
	uint8_t *identify;
	struct verify verify;
	/* why, of the first block that could not be read */
	struct err unreadable;
	/* all false for what is no NVMe */
	struct nvme_abilities nvme;
	/* the same for what is no ATA */
	struct ata_abilities ata;
	/* the same for what is no SCSI */
	struct scsi_abilities scsi;
	/* SANITIZES_... */
	unsigned sanitizes;
	const struct sanitize_ops *how;
	/* it did not come as far as the ladder */
	bool lost;
	/* what was begun may not be replaced by something weaker */
	bool final;
	/* a Sanitize failed, and the drive takes no I/O */
	bool broken;
	/* what the drive answers to this rung */
	int64_t *status;
	/* samples that it left */
	int64_t dirty;
};

struct rung {
	/* what it earns: evidence_highest_level() */
	const char *technique;
	enum verify_accept accept;
	/* hits all that the drive holds: each namespace of an NVMe subsystem */
	bool subsystem;
	bool (*applies)(const struct pass *p);
	int (*run)(struct pass *p, struct err *e);
};
extern const struct rung rungs[ERASE_RUNGS];

/* How long something that tells no progress may take. */
int64_t rungs_patience_ms(const struct host *h);
/* What runs now, of how many bytes, and how long it may show no progress; 0: as I/O may. */
void rungs_phase(struct erase *x, const char *phase, int64_t total, int64_t patience_ms);

/* What the drive says that it can do.  -1: an NVMe one that does not say what it holds. */
int rungs_abilities(struct pass *p, struct err *e) __attribute__((warn_unused_result));
/* A Sanitize that was begun before this boot, by an agent that was lost, has come to its end; of
 * one that failed the drive was told to recover. -1: it does not end. */
int rungs_await_sanitize(struct pass *p, struct err *e) __attribute__((warn_unused_result));
/* After a Sanitize that failed the drive takes commands again.  False: it does not. */
bool rungs_recover(struct pass *p);
/* Formats, for a drive that takes no canaries; the answers are noted.  -1: none came to its end. */
int rungs_mend(struct pass *p) __attribute__((warn_unused_result));
/* The next entry of what the drive answers, a success until it says other. */
void rungs_note(struct pass *p, const char *technique);

#endif
