#ifndef WIPE_SANITIZE_H
#define WIPE_SANITIZE_H

#include <stdatomic.h>
#include "wipe/dio.h"
#include "wipe/host.h"

/*
 * sanitize: erase commands that a drive carries out by itself, with progress: Sanitize of NVMe
 * (nvme_sanitize.c), ATA (ata_erase.c) and SCSI (scsi_erase.c), and FORMAT UNIT of SCSI.
 *
 * A Sanitize covers everything that the drive holds, cannot be aborted, and continues over reset
 * and power loss. The command's success means "accepted"; only the drive's later reports show that
 * the Sanitize is done. Everything else counts as failure: an unknown state, and progress that
 * decreases or stops.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_nvme.c, tests/unit/wipe/test_erase_ata.c,
 * tests/unit/wipe/test_erase_scsi.c
 */
/* Upper bound, in ms, of the time limit between two changes of a Sanitize's progress, once it has
 * made progress. */
#define SANITIZE_SILENT_MS (60 * 60 * 1000)

enum sanitize_action {
	SANITIZE_EXIT_FAILURE = 1,
	SANITIZE_BLOCK = 2,
	SANITIZE_OVERWRITE = 3,
	SANITIZE_CRYPTO = 4,
};
/* Actions that a drive supports. */
enum { SANITIZES_CRYPTO = 1, SANITIZES_BLOCK = 2, SANITIZES_OVERWRITE = 4 };

/* How a Sanitize ended. */
enum sanitize_end {
	/* The drive did not accept the Sanitize: nothing was begun. */
	SANITIZE_REFUSED,
	SANITIZE_DONE,
	/* The drive reports that the Sanitize failed; call recover(). */
	SANITIZE_FAILED,
	/* The Sanitize was begun, and its result is unknown. */
	SANITIZE_LOST,
};

struct sanitize {
	const struct host *host;
	int fd;
	/* Page of 4096 bytes from dio_buffer() for replies of the drive. */
	uint8_t *page;
	/* Progress in bytes; increases up to `total`. */
	_Atomic int64_t *done;
	/* Longest time without progress in ms, with a margin; set for the guard in batch.c. */
	_Atomic int64_t *patience_ms;
	int64_t total;
	/* The drive's latest result; 0 is success. */
	int64_t status;
	/* Duration of the whole Sanitize as estimated by the drive, in ms; 0: not reported. */
	int64_t expected_ms;
	/* The action that failed, enum sanitize_action, set by wait() with SANITIZE_FAILED; 0: not
	 * known. */
	unsigned failed;
};

/* Sanitize operations of one kind of drive. For every result except SANITIZE_DONE *e has the
 * cause. */
struct sanitize_ops {
	enum sanitize_end (*run)(struct sanitize *s, enum sanitize_action action, struct err *e);
	/* Waits for a Sanitize that was begun before this boot, because the drive accepts no I/O
	 * until that Sanitize ends. Returns SANITIZE_DONE at once if none runs. */
	enum sanitize_end (*wait)(struct sanitize *s, struct err *e);
	/*
	 * Ends the failure mode in which a drive refuses all I/O after SANITIZE_FAILED. Sends the
	 * command that leaves the failure mode, if the drive supports it. Otherwise only another
	 * Sanitize ends the failure mode: starts `action` and follows it to its end (action 0: no
	 * Sanitize can be sent). Success proves nothing about the data. -1: the drive still refuses
	 * I/O.
	 */
	int (*recover)(struct sanitize *s, unsigned action, struct err *e);
};
extern const struct sanitize_ops nvme_sanitize;

/* Returns the longest time in ms that a Sanitize may make no progress. longest_ms: longest time
 * between two changes of the progress so far; 0: no progress yet. Before the first progress the
 * limit is twice expected_ms, the drive's plausible estimate for the whole Sanitize, or a fixed
 * time without an estimate. Afterwards it is a multiple of longest_ms, at most
 * SANITIZE_SILENT_MS. */
int64_t sanitize_stall_ms(enum sanitize_action action, int64_t expected_ms, int64_t longest_ms);

enum sanitize_report {
	SANITIZE_REPORT_NOTHING,
	SANITIZE_REPORT_RUNNING,
	SANITIZE_REPORT_DONE,
	SANITIZE_REPORT_FAILED,
	SANITIZE_REPORT_NONSENSE
};
/* Polls until the running Sanitize has ended. The callback ask() returns the state that the drive
 * reports, sets *progress to its progress in 1/65536, and sets s->status. */
enum sanitize_end sanitize_follow(struct sanitize *s, enum sanitize_action action, const char *what,
				  enum sanitize_report (*ask)(struct sanitize *s,
							      unsigned *progress),
				  struct err *e) __attribute__((warn_unused_result));

#endif
