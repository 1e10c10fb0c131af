#include "tests/unit/wipe/flaky.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"

#define MOST 64

struct flaky flaky;

struct backend {
	struct ring_op waiting[MOST];
	unsigned n;
};

void flaky_reset(void)
{
	memset(&flaky, 0, sizeof(flaky));
	flaky.bad_at = flaky.hang_at = flaky.half_at = -1;
}

static int open_backend(void **backend, unsigned depth, void *region, size_t len)
{
	(void)region, (void)len;
	assert(depth <= MOST);
	if (flaky.open_error)
		return flaky.open_error;
	*backend = mem_new(struct backend);
	return 0;
}

static void close_backend(void *backend)
{
	free(backend);
}

static int submit(void *backend, const struct ring_op *op)
{
	struct backend *b = backend;

	assert(b->n < MOST);
	b->waiting[b->n++] = *op;
	flaky.pieces++;
	if (b->n > flaky.most_at_once)
		flaky.most_at_once = b->n;
	return 0;
}

static bool is_meant(const struct ring_op *op)
{
	char link[64], path[256];
	ssize_t n;

	if (!flaky.only)
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", op->fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return strstr(path, flaky.only) != NULL;
}

static bool covers(const struct ring_op *op, int64_t at)
{
	return is_meant(op) && at >= op->off && at < op->off + (int64_t)op->len;
}

static int64_t move(struct ring_op *op)
{
	ssize_t n;

	if (flaky.again) {
		flaky.again--;
		return -EAGAIN;
	}
	if (covers(op, flaky.bad_at)) {
		if (flaky.unlink)
			(void)unlink(flaky.unlink);
		return flaky.error ? -flaky.error : -EIO;
	}
	if (covers(op, flaky.half_at)) {
		flaky.half_at = -1;
		if (flaky.half)
			return flaky.half;
		op->len /= 2;
	}
	n = op->write ? pwrite(op->fd, op->buf, op->len, op->off)
		      : pread(op->fd, op->buf, op->len, op->off);
	return n < 0 ? -errno : n;
}

static int wait_one(void *backend, int timeout_ms, int64_t *result)
{
	struct backend *b = backend;
	struct timespec nap = {.tv_sec = timeout_ms / 1000,
			       .tv_nsec = timeout_ms % 1000 * 1000000L};

	for (unsigned k = 0; k < b->n; k++) {
		unsigned i = (k + flaky.pieces * 7) % b->n;
		struct ring_op op = b->waiting[i];

		if (covers(&op, flaky.hang_at))
			continue;
		b->waiting[i] = b->waiting[--b->n];
		*result = move(&op);
		return (int)op.slot;
	}
	if (b->n && atomic_load(&flaky.deaf))
		nap = (struct timespec){.tv_nsec = 5000000L};
	do
		nanosleep(&nap, NULL);
	while (b->n && atomic_load(&flaky.deaf));
	return -1;
}

const struct ring_ops flaky_ops = {open_backend, close_backend, submit, wait_one};
