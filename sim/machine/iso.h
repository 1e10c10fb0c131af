#ifndef SIM_MACHINE_ISO_H
#define SIM_MACHINE_ISO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"

/*
 * iso: the config drive of docs/image-contract.md on a simulated drive: an ISO 9660 volume labelled
 * "cidata" (ECMA-119, no extensions) with a few small files in its root directory.
 *
 * The volume is at the position at which the real agent creates the partition "cidata": the last 4
 * MiB that are aligned to 1 MiB and leave space for a backup GPT. The simulated drive has no
 * partition table, because the images of the rack have none.
 * Tests: tests/unit/sim/agent/test_agent.c
 */
#define SIM_ISO_BLOCK 2048
#define SIM_CIDATA_BYTES (4 << 20)
int64_t sim_cidata_at(int64_t drive_bytes);

struct sim_iso_file {
	/* Name of the file: lower-case letters, digits, '-', '_', at most one '.'; up to 27
	 * bytes. */
	const char *name;
	const char *text;
};
/* Writes a volume with the files. volume: SIM_CIDATA_BYTES, zeroed by the caller. *used: size of
 * the file system in bytes. -1: a name is not valid, or the files do not fit. */
int sim_iso_write(const struct sim_iso_file *files, size_t n, uint8_t *volume, size_t *used,
		  struct err *e) __attribute__((warn_unused_result));
/* Returns the text of the file `name`, in arena a. NULL: the volume, its label or the file does not
 * exist. The volume is untrusted input. */
const char *sim_iso_read(const uint8_t *volume, size_t len, const char *name, struct arena *a);

#endif
