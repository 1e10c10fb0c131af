#ifndef TESTS_UNIT_WIPE_MACHINE_H
#define TESTS_UNIT_WIPE_MACHINE_H

#include <stddef.h>
#include <stdint.h>
#include "wipe/host.h"

/*
 * machine: a simulated machine that consists of files in a temporary directory: parts of sysfs and
 * /proc, and regular files as drives.
 */
/* host.stall_ms in tests in which a drive never answers. The time is long enough for a drive that
 * works, even on a busy host. */
#define MACHINE_STALL_MS 2000

struct machine {
	char dir[64], sys[80], dev[80], proc[80];
	struct host host;
};
void machine_init(struct machine *m);
/* Removes the machine's directory. */
void machine_done(struct machine *m);
/* Writes text to a file below the machine's directory, and creates the directories in path. */
void machine_file(struct machine *m, const char *path, const char *text);
/* Removes a file below the machine's directory. */
void machine_remove(struct machine *m, const char *path);
/* Creates a drive of this size in bytes, with a tenant's mark in each MiB. */
void machine_drive(struct machine *m, const char *name, const char *wwn, int64_t bytes);
/* machine_peek() reads from a drive's file, machine_poke() writes to it, bypassing the code under
 * test. */
void machine_peek(struct machine *m, const char *name, void *out, size_t len, int64_t off);
void machine_poke(struct machine *m, const char *name, const void *data, size_t len, int64_t off);
/* Returns how many of the tenant's marks remain on the drive. */
size_t machine_residue(struct machine *m, const char *name);

#endif
