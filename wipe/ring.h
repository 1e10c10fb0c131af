#ifndef WIPE_RING_H
#define WIPE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wipe/dio.h"

/*
 * ring: many reads or writes of one drive in flight at once, through io_uring.  Where the
 * kernel does not let us (ENOSYS, EPERM), one after the other, through the same calls; the log
 * says once which it is.
 *
 * A piece that ends short goes on where it left off.  No wait is without a limit: when for
 * RING_STALL_MS not one piece ends, the run fails, and what is in flight keeps its pages until
 * the kernel lets go of them, so that a drive that wakes up later reads or writes nothing else.
 *
 * Blocking: only from loop_work().  One thread at a time.
 */
#define RING_DEPTH 32
#define RING_STALL_MS 120000

/* One read or write. */
struct ring_piece {
	/* the slot's, of `piece` bytes, unless next() sets another */
	void *buf;
	size_t len;
	int64_t off;
	/* the caller's */
	int64_t tag;
};

struct ring_job {
	bool write;
	/* Fill in len, off and what buf is to hold; false: there is nothing more. */
	bool (*next)(struct ring_piece *p, void *arg);
	/* It ended, not always in the order of next().  e: NULL, or why; -1 (with e as it is
	 * to be told, or filled in) ends the run. */
	int (*done)(const struct ring_piece *p, struct err *e, void *arg);
	void *arg;
};

struct ring;
/* depth: at most so many in flight.  shared: all slots have one buffer (of zeros), which nobody
 * changes while a run lasts.  Never fails. */
struct ring *ring_new(const struct host *h, unsigned depth, size_t piece, bool shared);
void ring_free(struct ring *r);
/* All that next() gives.  -1: done() said so, or the drive stood still (ERR_TIMEOUT); after
 * that each further run fails at once in the same way. */
int ring_run(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e)
	__attribute__((warn_unused_result));

/*
 * A stream of writes, whose data come up one after the other: claim a buffer, fill it, send it;
 * or send what stands elsewhere.  Nobody waits but for a free slot, so that the drive always has
 * the next ones.  j->next is not used; after a failure, and at the end, ring_drain().
 */
/* A buffer of `piece` bytes, the same until it is sent.  NULL: a write failed or stood still. */
void *ring_claim(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e);
/* p->buf NULL: what was claimed.  Else the caller's, from dio_pages(), left alone until done(); a
 * buffer that was claimed is given up. */
int ring_send(struct ring *r, struct dio *d, const struct ring_job *j, const struct ring_piece *p,
	      struct err *e) __attribute__((warn_unused_result));
/* Until *left, which done() counts down, is 0. */
int ring_await(struct ring *r, struct dio *d, const struct ring_job *j, const unsigned *left,
	       struct err *e) __attribute__((warn_unused_result));
/* Until nothing is in flight; -1: of that something failed. */
int ring_drain(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e)
	__attribute__((warn_unused_result));

/*
 * What a ring stands on: io_uring, the blocking calls, or a test's.  fd, buf and the like are
 * those of one piece; slot is told again by wait().
 */
struct ring_op {
	int fd;
	bool write;
	void *buf;
	size_t len;
	int64_t off;
	unsigned slot;
};
struct ring_ops {
	/* 0, or an errno.  region: where the slots' buffers are. */
	int (*open)(void **backend, unsigned depth, void *region, size_t len);
	void (*close)(void *backend);
	/* 0, or an errno. */
	int (*submit)(void *backend, const struct ring_op *op);
	/* The next that ended: its slot, and in *result the bytes moved or -errno; -1: none
	 * in time. */
	int (*wait)(void *backend, int timeout_ms, int64_t *result);
};
extern const struct ring_ops ring_uring, ring_blocking;

#endif
