#ifndef TESTS_UNIT_WIPE_MACHINE_H
#define TESTS_UNIT_WIPE_MACHINE_H

#include <stddef.h>
#include <stdint.h>
#include "wipe/host.h"

/*
 * machine: a machine made of files in a temporary folder: a bit of sysfs and /proc, and
 * regular files as drives.
 */
/* host.stall_ms of tests in which a drive never answers: on a machine that is busy with other work,
 * an answer of a drive that works takes less. */
#define MACHINE_STALL_MS 2000

struct machine {
	char dir[64], sys[80], dev[80], proc[80];
	struct host host;
};
void machine_init(struct machine *m);
/* removes the folder */
void machine_done(struct machine *m);
/* Text into a file below the machine's folder; folders on the way are made. */
void machine_file(struct machine *m, const char *path, const char *text);
/* a file below it */
void machine_remove(struct machine *m, const char *path);
/* A drive of `bytes`, each 1 MiB of it marked with bytes of a tenant. */
void machine_drive(struct machine *m, const char *name, const char *wwn, int64_t bytes);
/* Read from and write to a drive's file, past the code under test. */
void machine_peek(struct machine *m, const char *name, void *out, size_t len, int64_t off);
void machine_poke(struct machine *m, const char *name, const void *data, size_t len, int64_t off);
/* How many of the tenant's marks are left. */
size_t machine_residue(struct machine *m, const char *name);

#endif
