#ifndef WIPE_READBACK_H
#define WIPE_READBACK_H

#include <stddef.h>
#include <stdint.h>
#include "wipe/dio.h"
#include "wipe/verify.h"

/*
 * readback: verifies that written data was really stored. While data is written, readback saves the
 * digests of blocks at random positions, at most READBACK_MAX, spread evenly over all data. At the
 * end it reads these blocks from the drive and compares their digests. Checks one stream of writes
 * at a time; not thread-safe.
 */
#define READBACK_MAX 1024

struct readback;
struct readback *readback_new(const uint8_t seed[static 32]);
void readback_free(struct readback *r);
/* Records a buffer that is written to offset `at`. len is a multiple of VERIFY_BLOCK, except for
 * the drive's last piece. The first block of the first recorded buffer is always compared. */
void readback_note(struct readback *r, const uint8_t *data, size_t len, int64_t at);
/* Reads the recorded blocks from the drive and compares them. ERR_PROTOCOL names a block that
 * differs. */
int readback_check(const struct readback *r, const struct host *h, struct dio *d, struct err *e)
	__attribute__((warn_unused_result));

#endif
