#ifndef WIPE_RING_H
#define WIPE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wipe/dio.h"

/*
 * ring: many reads or writes of one drive in flight at once, through io_uring. If the kernel
 * forbids it (ENOSYS, EPERM), they run one after the other, through the same calls; the log says
 * once which method is used.
 *
 * A short transfer is continued. Every wait has a limit: if no piece ends within RING_STALL_MS, the
 * run fails, and pieces in flight keep their pages until the kernel releases them, so that a drive
 * which resumes later reads or writes no other memory.
 *
 * Blocking: only from loop_work(). One thread at a time.
 */
#define RING_DEPTH 32
#define RING_STALL_MS 120000

/* One read or write. */
struct ring_piece {
	/* The slot's buffer of `piece` bytes, unless next() sets another. */
	void *buf;
	size_t len;
	int64_t off;
	/* For the caller. */
	int64_t tag;
};

struct ring_job {
	bool write;
	/* Fills in len, off and the data in buf; false: no more pieces. */
	bool (*next)(struct ring_piece *p, void *arg);
	/* Called when a piece has ended, not always in the order of next(). e: NULL, or the cause;
	 * -1 (with e unchanged or filled in) ends the run. */
	int (*done)(const struct ring_piece *p, struct err *e, void *arg);
	void *arg;
};

struct ring;
/* depth: number of pieces in flight. shared: all slots use one buffer (of zeros), which must not
 * change during a run. Never fails. */
struct ring *ring_new(const struct host *h, unsigned depth, size_t piece, bool shared);
void ring_free(struct ring *r);
/* Runs all pieces of next(). -1: done() returned -1, or the drive stalled (ERR_TIMEOUT); after that
 * each further run fails at once in the same way. */
int ring_run(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e)
	__attribute__((warn_unused_result));

/*
 * A stream of writes whose data become available one after the other: claim a buffer, fill it, send
 * it; or send the caller's own memory. A call waits only for a free slot, so the drive always has
 * work. j->next is not used; call ring_drain() after a failure, and at the end.
 */
/* Returns a buffer of `piece` bytes, the same until it is sent. NULL: a write failed or stalled. */
void *ring_claim(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e);
/* p->buf NULL: sends the claimed buffer. Otherwise sends the caller's memory, from dio_pages(),
 * which must not change until done(); a claimed buffer is released. */
int ring_send(struct ring *r, struct dio *d, const struct ring_job *j, const struct ring_piece *p,
	      struct err *e) __attribute__((warn_unused_result));
/* Waits until *left, which done() counts down, is 0. */
int ring_await(struct ring *r, struct dio *d, const struct ring_job *j, const unsigned *left,
	       struct err *e) __attribute__((warn_unused_result));
/* Waits until nothing is in flight; -1: a piece failed. */
int ring_drain(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e)
	__attribute__((warn_unused_result));

/*
 * Backend of a ring: io_uring, blocking calls, or a test's. fd, buf and so on belong to one piece;
 * wait() returns slot again.
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
	/* Returns 0 or an errno. region: memory with the slots' buffers. */
	int (*open)(void **backend, unsigned depth, void *region, size_t len);
	void (*close)(void *backend);
	/* Returns 0 or an errno. */
	int (*submit)(void *backend, const struct ring_op *op);
	/* Returns the slot of the next piece that ended, and in *result the bytes moved or -errno;
	 * -1: none in time. */
	int (*wait)(void *backend, int timeout_ms, int64_t *result);
};
extern const struct ring_ops ring_uring, ring_blocking;

#endif
