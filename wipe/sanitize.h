#ifndef WIPE_SANITIZE_H
#define WIPE_SANITIZE_H

#include <stdatomic.h>
#include "wipe/dio.h"
#include "wipe/host.h"

/*
 * sanitize: NVMe Sanitize (NVM Express Base 2.0: opcode 84h, log page 81h).
 *
 * It covers the whole subsystem, cannot be aborted, and goes on over reset and power loss.
 * The command's success means "accepted"; only the log says that it is done.  What the
 * log does not clearly call done is a failure: an unknown state, progress
 * that goes backwards or stands still.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_erase_nvme.c
 */
/* At most: drives are known that never end. */
#define SANITIZE_SILENT_MS (60 * 60 * 1000) /* without progress, of one that made some */

enum sanitize_action {
	SANITIZE_EXIT_FAILURE = 1,
	SANITIZE_BLOCK = 2,
	SANITIZE_OVERWRITE = 3,
	SANITIZE_CRYPTO = 4,
};

/* How far one came. */
enum sanitize_end {
	SANITIZE_REFUSED, /* the drive did not take it: nothing was begun */
	SANITIZE_DONE,
	SANITIZE_FAILED, /* the log says so: sanitize_recover() */
	SANITIZE_LOST,	 /* begun, and nobody knows what became of it */
};

struct sanitize {
	const struct host *host;
	int fd;
	uint8_t *log;		      /* 512 bytes of dio_buffer() */
	_Atomic int64_t *done;	      /* rises to total */
	_Atomic int64_t *patience_ms; /* how long it may be silent, and a bit */
	int64_t total;
	int64_t status; /* what the drive answered last, 0 for success */
};

/* How long one may make no progress.  log: page 81h.  longest_ms: between two steps that it made; 0: it made none, and has
 * twice the time that the drive expects for the whole, where it says so. */
int64_t sanitize_stall_ms(enum sanitize_action action, const uint8_t *log, int64_t longest_ms);

/* Any end but SANITIZE_DONE says why in e. */
enum sanitize_end sanitize_run(struct sanitize *s, enum sanitize_action action, struct err *e)
	__attribute__((warn_unused_result));

/* One that was begun before this boot may still run, and the drive takes no I/O until it ends.  At once, and DONE, where
 * there is none. */
enum sanitize_end sanitize_wait(struct sanitize *s, struct err *e)
	__attribute__((warn_unused_result));

/*
 * After SANITIZE_FAILED the drive refuses all I/O.  One whose Sanitize may be left without another (bit 3 of its dword
 * 10, AUSE) is told to leave that state (Exit Failure Mode).  One whose may not be left so takes nothing but another
 * Sanitize without that bit: `action` is begun and followed; 0: there is none to send.  Either proves nothing.  -1: the
 * drive is as it was.
 */
int sanitize_recover(struct sanitize *s, unsigned action, struct err *e)
	__attribute__((warn_unused_result));
/* Which kind failed, as the log has it, after SANITIZE_FAILED. */
unsigned sanitize_failed_action(const struct sanitize *s);

#endif
