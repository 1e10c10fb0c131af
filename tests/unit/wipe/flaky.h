#ifndef TESTS_UNIT_WIPE_FLAKY_H
#define TESTS_UNIT_WIPE_FLAKY_H

#include <stdatomic.h>
#include "wipe/ring.h"

/*
 * flaky: the backend of a ring, which is a drive with faults. Pieces do not end in the order of
 * submission. One per program; change it only while no run is in progress.
 */
struct flaky {
	/* Opening fails with this errno; 0: succeeds. */
	int open_error;
	/* A piece that covers this offset fails with EIO; -1: none. */
	int64_t bad_at;
	/* Errno instead of EIO; 0: EIO. */
	int error;
	/* File that is removed when a piece fails; NULL: none. */
	const char *unlink;
	/* A piece that covers this offset never ends; -1: none. */
	int64_t hang_at;
	/* Only half of a piece that covers this offset is moved, once; -1: none. */
	int64_t half_at;
	/* Number of bytes moved instead of half; 0: half. */
	int half;
	/* Faults apply only to the drive with this name; NULL: to each. */
	const char *only;
	/* While a piece hangs, wait() does not return until this is cleared. */
	atomic_bool deaf;
	/* Number of pieces that first end with EAGAIN. */
	unsigned again;
	atomic_uint pieces, most_at_once;
};
extern struct flaky flaky;
void flaky_reset(void);
extern const struct ring_ops flaky_ops;

#endif
