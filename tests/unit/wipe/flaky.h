#ifndef TESTS_UNIT_WIPE_FLAKY_H
#define TESTS_UNIT_WIPE_FLAKY_H

#include <stdatomic.h>
#include "wipe/ring.h"

/*
 * flaky: a drive with faults, below a ring.  Pieces do not end in the order in which they
 * were asked for.  One for the program; safe to change only while no run lasts.
 */
struct flaky {
	int open_error;	    /* refuses to be opened, with this errno */
	int64_t bad_at;	    /* a piece that covers this offset fails with EIO; -1: none */
	int error;	    /* instead of EIO */
	const char *unlink; /* removed when a piece fails */
	int64_t hang_at;    /* a piece that covers this offset never ends; -1: none */
	int64_t half_at;    /* once, of a piece that covers it, half is moved; -1: none */
	int half;	    /* or so many bytes, when not 0 */
	const char *only;   /* of the drive with this name alone */
	atomic_bool
		deaf;	/* what hangs does not even come back from wait(), until this is cleared */
	unsigned again; /* so many pieces end with EAGAIN first */
	atomic_uint pieces, most_at_once;
};
extern struct flaky flaky;
void flaky_reset(void);
extern const struct ring_ops flaky_ops;

#endif
