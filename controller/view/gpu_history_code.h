#ifndef CONTROLLER_VIEW_GPU_HISTORY_CODE_H
#define CONTROLLER_VIEW_GPU_HISTORY_CODE_H

#include "base/err.h"
#include "controller/view/gpu_history.h"

/*
 * gpu_history_code: the samples of one day (UTC) of a history as bytes, and back.
 *
 *   "DRVH", version (1 byte), then one zstd frame with checksum, which contains:
 *     day (days since 1970), 36 bytes: which of the 288 steps have a sample (lowest bit first),
 *     the columns of the groups, the column of other tenants,
 *     number of tenants; for each, sorted by name: length and bytes of the name, its column
 *
 * A column contains one number for each sample: the difference from the sample before, zigzag
 * coded. All numbers are varints, as in Protocol Buffers. Only tenants with a GPU on that day are
 * stored.
 *
 * Decoded bytes come from the API server, where other writers may have changed them, so every
 * number is checked before any of them is used. Pure.
 * Tests: tests/unit/controller/view/test_gpu_history_code.c, tests/fuzz/fuzz_gpu_history.c
 */
#define GPU_HISTORY_DAY_STEPS 288
/* Maximum number of encoded bytes of a day: below the 1 MiB that a ConfigMap may contain */
#define GPU_HISTORY_DAY_BYTES (1000 * 1024)

/* Returns the encoded samples of a day, malloc'd; the caller owns them. */
char *gpu_history_encode(struct gpu_history *h, int64_t day, size_t *len);
/* Sets *day to the day of the encoded samples. Adds to h each sample whose step has no sample in h
 * and is not older than the window. -1 with *e if any byte is invalid, or if the day is after
 * `latest`; h is then unchanged. */
int gpu_history_decode(struct gpu_history *h, const char *data, size_t len, int64_t latest,
		       int64_t *day, struct err *e) __attribute__((warn_unused_result));

#endif
