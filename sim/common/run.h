#ifndef SIM_COMMON_RUN_H
#define SIM_COMMON_RUN_H

#include <argp.h>
#include "base/httpd/httpd_mhd.h"
#include "sim/common/folder.h"

/*
 * run: a simulator as a process: its loop, its directory, its listener, and its end by SIGTERM or
 * SIGINT.
 * Tests: tests/unit/sim/test_cli.c, tests/real/ec2.py, tests/real/netris.py
 */
struct sim_run {
	/* Name of the command ("drover sim ec2"), for messages; borrowed. */
	const char *verb;
	struct loop *loop;
	struct loop_group *group;
	struct sim_folder folder;
	struct secret *password;
	/* Certificates; all NULL: HTTP without TLS. */
	struct sim_certificates tls;
	struct loop_signal *term, *intr;
};

/* Runs a simulator until a signal and returns its exit status. begin() starts the simulator on
 * r->loop; an error of begin() is printed. finish() frees what begin() made, also if begin()
 * failed; the members of r are freed afterwards. arg: passed to both. */
int sim_run(struct sim_run *r, int (*begin)(void *arg, struct err *e), void (*finish)(void *arg),
	    void *arg);

/* Functions for begin(). sim_run_folder() opens the directory and reads its password.
 * sim_run_certificates() sets r->tls to certificates for this computer alone; name and subject as
 * for sim_folder_certificates(). */
int sim_run_folder(struct sim_run *r, const char *data, struct err *e);
int sim_run_certificates(struct sim_run *r, const char *name, const char *subject, struct err *e);
/* Opens a listener with the certificates in r->tls. NULL with *e. */
struct httpd_mhd *sim_run_listen(struct sim_run *r, struct httpd *d, const char *address,
				 unsigned connections, struct err *e);
/* Handles signals from now on. Call it before the simulator prints that it is ready, because the
 * program that reads that text may send a signal at once. */
void sim_run_ready(struct sim_run *r);

/* Returns the number in the text of option `name`; ends the process with a message if the text is
 * not a number from min to max. */
int64_t sim_run_number(const char *text, int64_t min, int64_t max, const char *name,
		       struct argp_state *st);

#endif
