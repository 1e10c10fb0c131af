#ifndef TESTS_UNIT_WIPE_FLAKY_H
#define TESTS_UNIT_WIPE_FLAKY_H

#include <stdatomic.h>
#include "wipe/ring.h"

/*
 * flaky: a drive with faults, below a ring.  Pieces do not end in the order in which they
 * were asked for.  One for the program; safe to change only while no run lasts.
 */
struct flaky {
	/* refuses to be opened, with this errno */
	int open_error;
	/* a piece that covers this offset fails with EIO; -1: none */
	int64_t bad_at;
	/* instead of EIO */
	int error;
	/* removed when a piece fails */
	const char *unlink;
	/* a piece that covers this offset never ends; -1: none */
	int64_t hang_at;
	/* once, of a piece that covers it, half is moved; -1: none */
	int64_t half_at;
	/* or so many bytes, when not 0 */
	int half;
	/* of the drive with this name alone */
	const char *only;
	/* what hangs does not even come back from wait(), until this is cleared */
	atomic_bool deaf;
	/* so many pieces end with EAGAIN first */
	unsigned again;
	atomic_uint pieces, most_at_once;
};
extern struct flaky flaky;
void flaky_reset(void);
extern const struct ring_ops flaky_ops;

#endif
