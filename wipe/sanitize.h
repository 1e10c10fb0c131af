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
/* No progress for so long: drives are known that never end. */
#define SANITIZE_STALL_MS (60 * 60 * 1000)

enum sanitize_action { SANITIZE_BLOCK = 2, SANITIZE_OVERWRITE = 3, SANITIZE_CRYPTO = 4 };

/* log: 512 bytes of dio_buffer().  *status: what the device answered, 0 for success.
 * *started: the drive accepted it, so that no weaker technique may stand in for it.  *done
 * rises to total. */
int sanitize_run(const struct host *h, int fd, enum sanitize_action action, uint8_t *log,
		 _Atomic int64_t *done, int64_t total, int64_t *status, bool *started,
		 struct err *e) __attribute__((warn_unused_result));

/* One that was begun before this boot may still run, and the drive takes no I/O until it ends; -1: it ended badly.
 * At once where there is none. */
int sanitize_wait(const struct host *h, int fd, uint8_t *log, _Atomic int64_t *done, int64_t total,
		  struct err *e) __attribute__((warn_unused_result));

#endif
