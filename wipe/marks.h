#ifndef WIPE_MARKS_H
#define WIPE_MARKS_H

#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * marks: writes the clean stamp and the config drive. Each is read back from the drive before it
 * counts as written. Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_agent.c
 */
int marks_stamp(const struct host *h, const struct proto_drive *d, const char *record,
		const char *digest, struct err *e) __attribute__((warn_unused_result));
/* Zeros the stamp; leaves a drive without one unchanged. */
int marks_unstamp(const struct host *h, const struct proto_drive *d, struct err *e)
	__attribute__((warn_unused_result));
/* Writes a file system of `used` bytes, in a dio_buffer() of TARGET_CIDATA_BYTES with zeros behind
 * it, to the partition that the image writer appended. ERR_NOT_FOUND: no such partition. */
int marks_config(const struct host *h, const struct proto_drive *d, const uint8_t *volume,
		 size_t used, struct err *e) __attribute__((warn_unused_result));

#endif
