#ifndef TESTS_UNIT_WIPE_FLAKY_H
#define TESTS_UNIT_WIPE_FLAKY_H

#include <stdatomic.h>
#include "wipe/ring.h"

/*
 * flaky: the backend of a ring (asynchronous drive I/O) that simulates a drive with faults. Pieces
 * (single reads or writes) do not end in the order of submission. There is one backend per program;
 * change it only while no I/O is in progress.
 */
struct flaky {
	/* Errno with which opening fails; 0: opening succeeds */
	int open_error;
	/* Offset in bytes; a piece that covers it fails with EIO; -1: none */
	int64_t bad_at;
	/* Errno of failing pieces; 0: EIO */
	int error;
	/* Path of a file that is removed when a piece fails; NULL: none */
	const char *unlink;
	/* Offset in bytes; a piece that covers it never ends; -1: none */
	int64_t hang_at;
	/* Offset in bytes; of the first piece that covers it, only half is moved; -1: none */
	int64_t half_at;
	/* Number of bytes that are moved instead of half; 0: half */
	int half;
	/* Name of the only drive with faults; NULL: every drive has them */
	const char *only;
	/* True: while a piece hangs, wait() does not return */
	atomic_bool deaf;
	/* Number of pieces that end with EAGAIN before others succeed */
	unsigned again;
	atomic_uint pieces, most_at_once;
};
extern struct flaky flaky;
void flaky_reset(void);
extern const struct ring_ops flaky_ops;

#endif
