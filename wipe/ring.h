#ifndef WIPE_RING_H
#define WIPE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wipe/dio.h"

/*
 * ring: many reads or writes of one drive in flight at once, through io_uring. If the kernel
 * forbids io_uring (ENOSYS, EPERM), reads and writes run one after the other through the same
 * functions. The log reports once which method is used.
 *
 * After a short transfer, the rest of the piece is transferred too. Every wait has a limit: if no
 * piece ends within RING_STALL_MS, the run fails. Pieces still in flight keep their memory pages
 * until the kernel releases these pages, so that a drive which resumes later reads or writes no
 * other memory.
 *
 * Blocking: only from loop_work(). One thread at a time.
 */
#define RING_DEPTH 32
#define RING_STALL_MS 120000

/* One read or write. */
struct ring_piece {
	/* Data of the piece: the slot's buffer of `piece` bytes (ring_new()), unless next() sets
	 * another. */
	void *buf;
	size_t len;
	int64_t off;
	/* Value for the caller; the ring does not use it. */
	int64_t tag;
};

struct ring_job {
	bool write;
	/* Fills in len and off of the next piece, and for a write the data in buf. False: there are
	 * no more pieces. */
	bool (*next)(struct ring_piece *p, void *arg);
	/* Called when a piece has ended; pieces may end in another order than that of next(). e
	 * NULL: success; otherwise the cause of the failure. To end the run, the callback returns
	 * -1 and may first replace *e. */
	int (*done)(const struct ring_piece *p, struct err *e, void *arg);
	void *arg;
};

struct ring;
/* Creates a ring; never fails. depth: maximum number of pieces in flight. piece: size of a
 * slot's buffer in bytes. shared: all slots use one buffer (of zeros), which must not change
 * during a run. */
struct ring *ring_new(const struct host *h, unsigned depth, size_t piece, bool shared);
void ring_free(struct ring *r);
/* Transfers all pieces of next(). -1: done() returned -1, or the drive stalled (ERR_TIMEOUT). After
 * a stall every further run fails at once with the same error. */
int ring_run(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e)
	__attribute__((warn_unused_result));

/*
 * A stream of writes whose data become available one after the other: claim a buffer
 * (ring_claim()), fill it, send it (ring_send()); or send the caller's own memory. Both functions
 * wait only for a free slot, so that the drive always has work. j->next is not used. Call
 * ring_drain() after a failure, and at the end.
 */
/* Returns a buffer of `piece` bytes for the next write; repeated calls return the same buffer until
 * ring_send(). NULL: a write failed or stalled. */
void *ring_claim(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e);
/* Sends the write *p. p->buf NULL: the data is in the claimed buffer. Otherwise the data is the
 * caller's memory, from dio_pages(), which must not change until done(); a claimed buffer is then
 * released. */
int ring_send(struct ring *r, struct dio *d, const struct ring_job *j, const struct ring_piece *p,
	      struct err *e) __attribute__((warn_unused_result));
/* Waits until *left is 0. The caller sets *left to a number of writes, and its done() decrements
 * it. */
int ring_await(struct ring *r, struct dio *d, const struct ring_job *j, const unsigned *left,
	       struct err *e) __attribute__((warn_unused_result));
/* Waits until nothing is in flight; -1: a piece failed. */
int ring_drain(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e)
	__attribute__((warn_unused_result));

/*
 * One request to a ring's backend (io_uring, blocking calls, or that of a test). All fields
 * describe one piece; wait() returns `slot` when the piece has ended.
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
	/* Creates *backend. Returns 0 or an errno. region: memory of len bytes that contains the
	 * slots' buffers. */
	int (*open)(void **backend, unsigned depth, void *region, size_t len);
	void (*close)(void *backend);
	/* Starts the request. Returns 0 or an errno. */
	int (*submit)(void *backend, const struct ring_op *op);
	/* Returns the slot of the next piece that ended; *result: the bytes moved, or -errno. -1:
	 * no piece ended within timeout_ms. */
	int (*wait)(void *backend, int timeout_ms, int64_t *result);
};
extern const struct ring_ops ring_uring, ring_blocking;

#endif
