#ifndef WIPE_SPARSE_H
#define WIPE_SPARSE_H

#include "wipe/dio.h"
#include "wipe/ring.h"

/*
 * sparse: write a buffer to a drive so that long runs of zeros cost little: they are asked for as
 * zeros (dio_zero()), the rest is written, all pieces of it in flight at once.
 *
 * Blocking: only from loop_work().
 */
#define SPARSE_PIECE (1u << 20)

/* len and off are multiples of the drive's block, data comes from dio_buffer().  ring: whatever
 * its piece size. */
int sparse_write(struct ring *r, struct dio *d, void *data, size_t len, int64_t off, struct err *e)
	__attribute__((warn_unused_result));

#endif
