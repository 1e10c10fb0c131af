#ifndef TESTS_UNIT_WIPE_MACHINE_H
#define TESTS_UNIT_WIPE_MACHINE_H

#include <stddef.h>
#include <stdint.h>
#include "wipe/host.h"

/*
 * machine: a machine that consists of files in a temporary folder: parts of sysfs and /proc, and
 * regular files as drives.
 */
/* host.stall_ms of tests in which a drive never answers. On a busy machine, a drive that works
 * answers within this time. */
#define MACHINE_STALL_MS 2000

struct machine {
	char dir[64], sys[80], dev[80], proc[80];
	struct host host;
};
void machine_init(struct machine *m);
/* Removes the folder. */
void machine_done(struct machine *m);
/* Writes text to a file below the machine's folder, and creates its folders. */
void machine_file(struct machine *m, const char *path, const char *text);
/* Removes a file below the machine's folder. */
void machine_remove(struct machine *m, const char *path);
/* Creates a drive of `bytes` with a tenant's mark in each MiB. */
void machine_drive(struct machine *m, const char *name, const char *wwn, int64_t bytes);
/* Reads or writes a drive's file directly. */
void machine_peek(struct machine *m, const char *name, void *out, size_t len, int64_t off);
void machine_poke(struct machine *m, const char *name, const void *data, size_t len, int64_t off);
/* Returns how many of the tenant's marks remain. */
size_t machine_residue(struct machine *m, const char *name);

#endif
