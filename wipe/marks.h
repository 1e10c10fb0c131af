#ifndef WIPE_MARKS_H
#define WIPE_MARKS_H

#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * marks: writes the clean stamp (the record that marks a drive as wiped) and the config drive. Each
 * is read back from the drive before it counts as written. Blocking: only from loop_work().
 * Tests: tests/unit/wipe/test_agent.c
 */
int marks_stamp(const struct host *h, const struct proto_drive *d, const char *record,
		const char *digest, struct err *e) __attribute__((warn_unused_result));
/* Overwrites the clean stamp with zeros; a drive without a stamp stays unchanged. */
int marks_unstamp(const struct host *h, const struct proto_drive *d, struct err *e)
	__attribute__((warn_unused_result));
/* Writes the config drive's file system to the partition that the image writer appended. volume: a
 * dio_buffer() of TARGET_CIDATA_BYTES, of which `used` bytes are the file system and the rest
 * zeros. ERR_NOT_FOUND: the drive has no such partition. */
int marks_config(const struct host *h, const struct proto_drive *d, const uint8_t *volume,
		 size_t used, struct err *e) __attribute__((warn_unused_result));

#endif
