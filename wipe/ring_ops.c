#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/mem.h"
#include "wipe/ring.h"

/* Tests: tests/unit/wipe/test_ring.c */

/* --- io_uring -------------------------------------------------------------------------------- */

struct uring {
	struct io_uring ring;
	/* True: the region is registered, so its pages are pinned once, not for each piece. */
	bool fixed;
	const char *region;
	size_t len;
};

static int uring_open(void **backend, unsigned depth, void *region, size_t len)
{
	struct uring *u = mem_new(struct uring);
	struct iovec v = {region, len};
	int rc = io_uring_queue_init(depth, &u->ring, 0);

	if (rc < 0) {
		free(u);
		return -rc;
	}
	u->region = region;
	u->len = len;
	/* Continues if the kernel refuses the registration, for example because of the limit on
	 * locked memory: the ring works without registration. */
	u->fixed = !io_uring_register_buffers(&u->ring, &v, 1);
	*backend = u;
	return 0;
}

/* Closes the ring; does not wait for I/O in flight. */
static void uring_close(void *backend)
{
	struct uring *u = backend;

	io_uring_queue_exit(&u->ring);
	free(u);
}

#define NOBODY UINT64_MAX

static int uring_submit(void *backend, const struct ring_op *op)
{
	struct uring *u = backend;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
	const char *buf = op->buf;
	bool fixed = u->fixed && buf >= u->region && buf < u->region + u->len;
	unsigned len = (unsigned)op->len;
	int rc;

	if (!sqe)
		return EBUSY;
	if (fixed && op->write)
		io_uring_prep_write_fixed(sqe, op->fd, op->buf, len, (uint64_t)op->off, 0);
	else if (fixed)
		io_uring_prep_read_fixed(sqe, op->fd, op->buf, len, (uint64_t)op->off, 0);
	else if (op->write)
		io_uring_prep_write(sqe, op->fd, op->buf, len, (uint64_t)op->off);
	else
		io_uring_prep_read(sqe, op->fd, op->buf, len, (uint64_t)op->off);
	io_uring_sqe_set_data64(sqe, op->slot);
	do
		rc = io_uring_submit(&u->ring);
	while (rc == -EINTR || rc == -EAGAIN);
	if (rc >= 0)
		return 0;
	/* The entry stays in the queue and would be submitted together with the next one, although
	 * its piece has already failed. Turns the entry into a no-op that belongs to no slot. */
	io_uring_prep_nop(sqe);
	io_uring_sqe_set_data64(sqe, NOBODY);
	return -rc;
}

static int uring_wait(void *backend, int timeout_ms, int64_t *result)
{
	struct uring *u = backend;
	struct __kernel_timespec t = {.tv_sec = timeout_ms / 1000,
				      .tv_nsec = timeout_ms % 1000 * 1000000L};
	struct io_uring_cqe *cqe = NULL;
	uint64_t whose;
	int rc;

	for (;;) {
		do
			rc = io_uring_wait_cqe_timeout(&u->ring, &cqe, &t);
		while (rc == -EINTR);
		if (rc < 0)
			return -1;
		whose = io_uring_cqe_get_data64(cqe);
		*result = cqe->res;
		io_uring_cqe_seen(&u->ring, cqe);
		if (whose != NOBODY)
			return (int)whose;
	}
}

const struct ring_ops ring_uring = {uring_open, uring_close, uring_submit, uring_wait};

/* --- blocking calls --------------------------------------------------------------------------- */

/* A ring with this backend has one piece in flight: submit() does the I/O, wait() returns the
 * result. */
struct blocking {
	/* Slot whose result wait() will return; -1: none. */
	int slot;
	int64_t result;
};

static int blocking_open(void **backend, unsigned depth, void *region, size_t len)
{
	struct blocking *b = mem_new(struct blocking);

	(void)depth, (void)region, (void)len;
	b->slot = -1;
	*backend = b;
	return 0;
}

static void blocking_close(void *backend)
{
	free(backend);
}

static int blocking_submit(void *backend, const struct ring_op *op)
{
	struct blocking *b = backend;
	ssize_t n = op->write ? pwrite(op->fd, op->buf, op->len, op->off)
			      : pread(op->fd, op->buf, op->len, op->off);

	b->slot = (int)op->slot;
	b->result = n < 0 ? -errno : n;
	return 0;
}

static int blocking_wait(void *backend, int timeout_ms, int64_t *result)
{
	struct blocking *b = backend;
	int slot = b->slot;

	(void)timeout_ms;
	*result = b->result;
	b->slot = -1;
	return slot;
}

const struct ring_ops ring_blocking = {blocking_open, blocking_close, blocking_submit,
				       blocking_wait};
