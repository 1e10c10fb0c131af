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
 * it is done. Whatever the drive does not clearly report as done is a failure: an unknown state,
 * progress that decreases or stops.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_nvme.c, tests/unit/wipe/test_erase_ata.c,
 * tests/unit/wipe/test_erase_scsi.c
 */
/* Longest time in ms without progress, after some progress. */
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
	/* The drive did not accept it: nothing was begun. */
	SANITIZE_REFUSED,
	SANITIZE_DONE,
	/* The drive reports a failure: recover(). */
	SANITIZE_FAILED,
	/* Begun, with an unknown result. */
	SANITIZE_LOST,
};

struct sanitize {
	const struct host *host;
	int fd;
	/* 4096 bytes of dio_buffer(). */
	uint8_t *page;
	/* Increases up to total. */
	_Atomic int64_t *done;
	/* How long there may be no progress, in ms, with a margin. */
	_Atomic int64_t *patience_ms;
	int64_t total;
	/* The drive's latest result; 0 is success. */
	int64_t status;
	/* Duration of the whole as estimated by the drive; 0: not reported. */
	int64_t expected_ms;
	/* enum sanitize_action, after SANITIZE_FAILED of wait(); 0: not known. */
	unsigned failed;
};

/* Operations for one kind of drive. For any end but SANITIZE_DONE e has the cause. */
struct sanitize_ops {
	enum sanitize_end (*run)(struct sanitize *s, enum sanitize_action action, struct err *e);
	/* Waits for a Sanitize that was begun before this boot, because the drive accepts no I/O
	 * until it ends. Returns DONE at once if there is none. */
	enum sanitize_end (*wait)(struct sanitize *s, struct err *e);
	/*
	 * After SANITIZE_FAILED the drive refuses all I/O. If its failure mode can be left, the
	 * drive is told to leave it. Otherwise it accepts only another Sanitize: `action` is begun
	 * and followed; 0: none can be sent. Neither proves anything. -1: the drive is unchanged.
	 */
	int (*recover)(struct sanitize *s, unsigned action, struct err *e);
};
extern const struct sanitize_ops nvme_sanitize;

/* Returns how long a Sanitize may make no progress, in ms. longest_ms: longest time between two
 * steps so far; 0: no progress yet, and the limit is twice the drive's estimate for the whole, if
 * reported. */
int64_t sanitize_stall_ms(enum sanitize_action action, int64_t expected_ms, int64_t longest_ms);

enum sanitize_said { SAID_NOTHING, SAID_RUNNING, SAID_DONE, SAID_FAILED, SAID_NONSENSE };
/* Polls until the running Sanitize is done. ask: returns the progress, of 65536; sets s->status. */
enum sanitize_end sanitize_follow(struct sanitize *s, enum sanitize_action action, const char *what,
				  enum sanitize_said (*ask)(struct sanitize *s, unsigned *progress),
				  struct err *e) __attribute__((warn_unused_result));

#endif
