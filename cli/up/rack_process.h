#ifndef CLI_UP_RACK_PROCESS_H
#define CLI_UP_RACK_PROCESS_H

#include "cli/up/rack.h"

/*
 * rack_process: the rack of `drover up` (rack.h) in a process of its own: this executable, started
 * with UP_RACK_OPTION. The new process reads the specification, which contains secrets, as a secret
 * (LOOP_SECRET_FILE), and writes one line of JSON: the objects of the rack and the digest of its
 * image, or an error. It ends with its parent, and may be killed at any time: the state of the
 * machines on disk is always complete.
 * Tests: tests/unit/cli/up/test_rack.c, tests/real/up.py
 */
#define UP_RACK_OPTION "rack-only"

struct up_rack_process;
struct up_rack_process_spec {
	struct up_rack_spec rack;
	/* Called once when the rack serves requests. objects: Provider and Machines, a JSON array,
	 * valid during the call. digest: digest of the OS image. */
	void (*on_ready)(const json_t *objects, const char *digest, void *arg);
	/* Called once when the process has ended by itself, before or after on_ready(). */
	void (*on_end)(const struct err *e, void *arg);
	/* Called for the process's log, which need not be whole lines. */
	void (*on_log)(const char *data, size_t len, void *arg);
	void *arg;
};
/* Starts the process. Copies *s; its texts must be valid only during the call. NULL with *e. */
struct up_rack_process *up_rack_process_new(struct loop_group *g,
					    const struct up_rack_process_spec *s, struct err *e);
/* Kills the process; loop_free() waits for its end. */
void up_rack_process_free(struct up_rack_process *p);

/* The main function of the process. Returns its exit status. */
int up_rack_process_main(void);

#endif
