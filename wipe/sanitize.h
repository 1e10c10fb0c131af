#ifndef WIPE_SANITIZE_H
#define WIPE_SANITIZE_H

#include <stdatomic.h>
#include "wipe/dio.h"
#include "wipe/host.h"

/*
 * sanitize: what a drive is told to erase by itself, and says how far it is: Sanitize of NVMe
 * (nvme_sanitize.c), ATA (ata_erase.c) and SCSI (scsi_erase.c), and FORMAT UNIT of SCSI.
 *
 * A Sanitize covers all that the drive holds, cannot be aborted, and goes on over reset and power
 * loss. The command's success means "accepted"; only what the drive says afterwards tells that it
 * is done. What it does not clearly call done is a failure: an unknown state, progress that goes
 * backwards or stands still.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_nvme.c, tests/unit/wipe/test_erase_ata.c,
 * tests/unit/wipe/test_erase_scsi.c
 */
#define SANITIZE_SILENT_MS (60 * 60 * 1000) /* without progress, at most, of one that made some */

enum sanitize_action {
	SANITIZE_EXIT_FAILURE = 1,
	SANITIZE_BLOCK = 2,
	SANITIZE_OVERWRITE = 3,
	SANITIZE_CRYPTO = 4,
};
/* What a drive offers. */
enum { SANITIZES_CRYPTO = 1, SANITIZES_BLOCK = 2, SANITIZES_OVERWRITE = 4 };

/* How far one came. */
enum sanitize_end {
	/* the drive did not take it: nothing was begun */
	SANITIZE_REFUSED,
	SANITIZE_DONE,
	/* the drive says so: recover() */
	SANITIZE_FAILED,
	/* begun, and nobody knows what became of it */
	SANITIZE_LOST,
};

struct sanitize {
	const struct host *host;
	int fd;
	/* 4096 bytes of dio_buffer() */
	uint8_t *page;
	/* rises to total */
	_Atomic int64_t *done;
	/* how long it may be silent, and a bit */
	_Atomic int64_t *patience_ms;
	int64_t total;
	/* what the drive answered last, 0 for success */
	int64_t status;
	/* what the drive makes of the whole; 0: it does not say */
	int64_t expected_ms;
	/* enum sanitize_action, after SANITIZE_FAILED of wait(); 0: not known */
	unsigned failed;
};

/* How drives of one kind are told.  Any end but SANITIZE_DONE says why in e. */
struct sanitize_ops {
	enum sanitize_end (*run)(struct sanitize *s, enum sanitize_action action, struct err *e);
	/* One that was begun before this boot may still run, and the drive takes no I/O until it
	 * ends. At once, and DONE, where there is none. */
	enum sanitize_end (*wait)(struct sanitize *s, struct err *e);
	/*
	 * After SANITIZE_FAILED the drive refuses all I/O. One whose Sanitize may be left without
	 * another is told to leave that state. One whose may not be left so takes nothing but
	 * another Sanitize: `action` is begun and followed; 0: there is none to send. Either proves
	 * nothing. -1: the drive is as it was.
	 */
	int (*recover)(struct sanitize *s, unsigned action, struct err *e);
};
extern const struct sanitize_ops nvme_sanitize;

/* How long one may make no progress. longest_ms: between two steps that it made; 0: it made none,
 * and has twice the time that the drive expects for the whole, where it says so. */
int64_t sanitize_stall_ms(enum sanitize_action action, int64_t expected_ms, int64_t longest_ms);

enum sanitize_said { SAID_NOTHING, SAID_RUNNING, SAID_DONE, SAID_FAILED, SAID_NONSENSE };
/* Until the one that runs is done.  ask: how far it is, of 65536; sets s->status. */
enum sanitize_end sanitize_follow(struct sanitize *s, enum sanitize_action action, const char *what,
				  enum sanitize_said (*ask)(struct sanitize *s, unsigned *progress),
				  struct err *e) __attribute__((warn_unused_result));

#endif
