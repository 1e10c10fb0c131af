#ifndef WIPE_ISO9660_H
#define WIPE_ISO9660_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * iso9660: the file system of a config drive, which cloud-init's NoCloud and drover-join read: a
 * volume label and a few small files in the root directory (ECMA-119, interchange level 2). Names
 * are stored in upper case, as the standard requires; Linux shows them in lower case.
 */
#define ISO9660_BLOCK 2048

struct iso9660_file {
	/* Lower-case letters, digits, '-', '_' and at most one '.'; up to 27 bytes. */
	const char *name;
	const void *data;
	size_t len;
};

struct iso9660_volume {
	const char *label;
	const struct iso9660_file *files;
	size_t n;
	/* Time of the volume and of each file, wall ms. */
	int64_t wall_ms;
};

/* Writes volume v into out (size bytes); *used: its size. ERR_INVALID: a file name is not valid.
 * ERR_CAPACITY: the volume does not fit. */
int iso9660_write(const struct iso9660_volume *v, uint8_t *out, size_t size, size_t *used,
		  struct err *e) __attribute__((warn_unused_result));

#endif
