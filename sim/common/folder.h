#ifndef SIM_COMMON_FOLDER_H
#define SIM_COMMON_FOLDER_H

#include "base/err.h"
#include "base/loop/loop.h"
#include "base/secret.h"

/*
 * folder: the directory of a simulator. It contains the simulator's password, its certificates, and
 * the objects with which drover uses the simulator.
 *
 * Only one process at a time uses the directory. The process locks the file "lock", and the lock
 * ends with the process, even if the process is killed. Files are readable only by their owner
 * (0600) and are replaced atomically.
 * Tests: tests/real/sim_page.py, tests/real/smoke.py
 */
struct sim_folder {
	/* Path of the directory; borrowed. */
	const char *path;
	/* File descriptor of the lock; -1: not open. */
	int lock;
};
/* Creates the directory if it is missing, and locks it. verb: name of the command ("drover sim
 * rack"), for the error text. */
int sim_folder_open(struct sim_folder *f, const char *path, const char *verb, struct err *e);
/* Releases the lock. Allowed for a folder that is not open. */
void sim_folder_close(struct sim_folder *f);

/* Returns the text of a file: malloc'd, at most 1 MiB, NUL-terminated. NULL with *e; ERR_NOT_FOUND:
 * no such file. */
char *sim_file_read(const char *path, struct err *e);
int sim_folder_write(const struct sim_folder *f, const char *name, const char *text, struct err *e);

/* Returns the first line of the file "password". If the file is missing, creates it with a random
 * password. NULL with *e. */
struct secret *sim_folder_password(const struct sim_folder *f, struct loop *l, struct err *e);

/* Texts of the files ca.crt, NAME.crt and NAME.key. sim_folder_certificates() reads them, or issues
 * them for `names` if they are missing. The caller owns all three. */
struct sim_certificates {
	char *ca, *cert;
	struct secret *key;
};
int sim_folder_certificates(const struct sim_folder *f, struct loop *l, const char *name,
			    const char *subject, const char *const *names,
			    struct sim_certificates *out, struct err *e);
void sim_certificates_done(struct sim_certificates *c);

#endif
