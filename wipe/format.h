#ifndef WIPE_FORMAT_H
#define WIPE_FORMAT_H

#include <stdatomic.h>
#include "wipe/host.h"
#include "wipe/nvme.h"

/*
 * format: NVMe Format NVM (80h) with an erase, and how far it is.
 *
 * The command ends when the Format does. Meanwhile a namespace may tell what is left of it
 * (Identify Namespace, byte 32: FPI); one that does is asked each second, and given up by the guard
 * (batch.c) once that stands still. One that does not has the time that its size and the erase make
 * likely.
 *
 * Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_format.c, tests/unit/wipe/test_erase_nvme.c
 */
#define FORMAT_STALL_MS (10 * 60 * 1000) /* no other percent for so long */
#define FORMAT_MOST_MS (24 * 3600 * INT64_C(1000))

enum format_erase { FORMAT_USER_DATA = 1, FORMAT_CRYPTO = 2 };

struct format {
	const struct host *host;
	int fd;
	const struct nvme_abilities *nvme;
	int64_t bytes;
	/* rises to bytes, where it is told */
	_Atomic int64_t *done;
	/* how long it may be silent */
	_Atomic int64_t *patience_ms;
	/* what the drive answered */
	int64_t status;
};
int format_run(struct format *f, enum format_erase erase, struct err *e)
	__attribute__((warn_unused_result));
/* How long one that tells no progress may take. */
int64_t format_limit_ms(enum format_erase erase, int64_t bytes);

#endif
