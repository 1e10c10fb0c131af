#ifndef WIPE_FORMAT_H
#define WIPE_FORMAT_H

#include <stdatomic.h>
#include "wipe/host.h"
#include "wipe/nvme.h"

/*
 * format: NVMe Format NVM (80h) with an erase, and its progress.
 *
 * The command completes when the Format has ended. Meanwhile a namespace may report the remaining
 * percentage (Identify Namespace, byte 32: FPI). If a percentage is reported, it is polled each
 * second, and the guard (the timer in batch.c) gives the drive up once the percentage has not
 * changed for FORMAT_STALL_MS. Otherwise the time limit is derived from size and kind of erase.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_format.c, tests/unit/wipe/test_erase_nvme.c
 */
/* Longest time in ms without a change of the reported percentage. */
#define FORMAT_STALL_MS (10 * 60 * 1000)
#define FORMAT_MOST_MS (24 * 3600 * INT64_C(1000))

enum format_erase { FORMAT_USER_DATA = 1, FORMAT_CRYPTO = 2 };

struct format {
	const struct host *host;
	int fd;
	const struct nvme_abilities *nvme;
	int64_t bytes;
	/* Counter of processed bytes; increases up to `bytes` if the drive reports progress. */
	_Atomic int64_t *done;
	/* Longest time without progress, in ms; set by format_run() and checked by the guard in
	 * batch.c. */
	_Atomic int64_t *patience_ms;
	/* NVMe status of the Format after format_run(); 0 is success. */
	int64_t status;
};
int format_run(struct format *f, enum format_erase erase, struct err *e)
	__attribute__((warn_unused_result));
/* Returns the time limit in ms of a Format that reports no progress. */
int64_t format_limit_ms(enum format_erase erase, int64_t bytes);

#endif
