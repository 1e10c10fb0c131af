#ifndef SIM_FOLDER_H
#define SIM_FOLDER_H

#include "base/err.h"
#include "base/loop/loop.h"
#include "base/secret.h"

/*
 * folder: where a simulator keeps what it has: its password, its certificates, the objects that
 * make drover use it.
 *
 * One process at a time uses it: a lock on the file "lock" there, which ends with the process
 * however that ends. Files are its owner's alone (0600) and are replaced whole.
 * Tests: tests/real/sim_page.py, tests/real/smoke.py
 */
struct sim_folder {
	/* borrowed */
	const char *path;
	/* -1: not open */
	int lock;
};
/* verb: who else may be using it, for the error: "drover sim rack". */
int sim_folder_open(struct sim_folder *f, const char *path, const char *verb, struct err *e);
/* also one that is not open */
void sim_folder_close(struct sim_folder *f);

/* malloc'd, at most 1 MiB, NUL-terminated; NULL with ERR_NOT_FOUND when there is none. */
char *sim_file_read(const char *path, struct err *e);
int sim_folder_write(const struct sim_folder *f, const char *name, const char *text, struct err *e);

/* The first line of the file "password", which is made when it is not there; NULL with *e. */
struct secret *sim_folder_password(const struct sim_folder *f, struct loop *l, struct err *e);

/* ca.crt, and NAME.crt and NAME.key for these names, which are issued when they are not there. All
 * three are the caller's. */
struct sim_certificates {
	char *ca, *cert;
	struct secret *key;
};
int sim_folder_certificates(const struct sim_folder *f, struct loop *l, const char *name,
			    const char *subject, const char *const *names,
			    struct sim_certificates *out, struct err *e);
void sim_certificates_done(struct sim_certificates *c);

#endif
