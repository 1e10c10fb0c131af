#include "wipe/ring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"

struct slot {
	struct ring_piece piece;
	size_t moved;
	bool busy;
};

struct ring {
	const struct ring_ops *ops;
	void *backend;
	int stall_ms;
	unsigned depth;
	/* Size of a slot's buffer in bytes. */
	size_t size;
	bool shared;
	char *region;
	size_t region_len;
	/* claimed: slot whose buffer is being filled; NULL: none. */
	struct slot *slots, *claimed;
	unsigned busy;
	/* Error of the drive's stall; kind ERR_NONE: the drive did not stall. */
	struct err dead;
};

static const char *ring_engine(const struct ring *r)
{
	return r->ops == &ring_blocking ? "one at a time" : "io_uring";
}

/* Logs once per process how drives are accessed. why: 0, or the errno with which io_uring was
 * refused. */
static void say_once(const struct ring *r, int why)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	struct err e;

	if (atomic_flag_test_and_set(&said))
		return;
	if (!why) {
		log_info("drive I/O", LOG_S("engine", ring_engine(r)));
		return;
	}
	err_note_errno(&e, why, "io_uring");
	log_warn("drive I/O", LOG_S("engine", ring_engine(r)), LOG_E(&e));
}

struct ring *ring_new(const struct host *h, unsigned depth, size_t piece, bool shared)
{
	struct ring *r = mem_new(struct ring);
	int rc;

	r->ops = h->ring ? h->ring : &ring_uring;
	r->stall_ms = h->stall_ms ? h->stall_ms : RING_STALL_MS;
	r->depth = depth;
	r->size = piece;
	r->shared = shared;
	r->region_len = piece * (shared ? 1 : depth);
	r->region = dio_pages(r->region_len);
	r->slots = mem_calloc(depth, sizeof(*r->slots));
	rc = r->ops->open(&r->backend, depth, r->region, r->region_len);
	if (rc) {
		r->ops = &ring_blocking;
		(void)r->ops->open(&r->backend, depth, r->region, r->region_len);
	}
	if (r->ops == &ring_blocking)
		r->depth = 1;
	if (!h->ring)
		say_once(r, rc);
	return r;
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	r->ops->close(r->backend);
	dio_pages_free(r->region, r->region_len);
	free(r->slots);
	free(r);
}

static int submit(struct ring *r, const struct dio *d, bool write, struct slot *s)
{
	struct ring_op op = {
		.fd = d->fd,
		.write = write,
		.buf = (char *)s->piece.buf + s->moved,
		.len = s->piece.len - s->moved,
		.off = s->piece.off + (int64_t)s->moved,
		.slot = (unsigned)(s - r->slots),
	};

	return r->ops->submit(r->backend, &op);
}

static int ended(struct ring *r, const struct ring_job *j, struct slot *s, int error, struct err *e)
{
	struct err why;

	s->busy = false;
	r->busy--;
	if (!error)
		return j->done(&s->piece, NULL, j->arg);
	err_note_errno(&why, error, "%s at %" PRId64, j->write ? "write" : "read",
		       s->piece.off + (int64_t)s->moved);
	if (j->done(&s->piece, &why, j->arg) == 0)
		return 0;
	*e = why;
	return -1;
}

/* Submits the slot's piece. If the submission fails, ends the piece with the error. -1: the run
 * must end. */
static int start(struct ring *r, const struct dio *d, const struct ring_job *j, struct slot *s,
		 struct err *e)
{
	int rc;

	s->moved = 0;
	s->busy = true;
	r->busy++;
	rc = s->piece.off < 0 || (int64_t)s->piece.len > d->bytes - s->piece.off
		     ? EINVAL
		     : submit(r, d, j->write, s);
	return rc ? ended(r, j, s, rc, e) : 0;
}

static char *buffer(const struct ring *r, size_t slot)
{
	return r->region + (r->shared ? 0 : slot * r->size);
}

/* Starts pieces until all slots are busy or there are no more pieces. */
static int fill(struct ring *r, const struct dio *d, const struct ring_job *j, bool *more,
		struct err *e)
{
	for (unsigned i = 0; i < r->depth && *more; i++) {
		struct slot *s = &r->slots[i];

		if (s->busy)
			continue;
		s->piece = (struct ring_piece){.buf = buffer(r, i)};
		*more = j->next(&s->piece, j->arg);
		if (*more && start(r, d, j, s, e) < 0)
			return -1;
	}
	return 0;
}

/* Processes the result of a slot's transfer: continues the piece or ends it. -1: the run must
 * end. */
static int take(struct ring *r, const struct dio *d, const struct ring_job *j, struct slot *s,
		int64_t result, struct err *e)
{
	int rc = 0;

	if (result == -EINTR || result == -EAGAIN) {
		rc = submit(r, d, j->write, s);
		return rc ? ended(r, j, s, rc, e) : 0;
	}
	if (result < 0)
		return ended(r, j, s, (int)-result, e);
	/* Ends the piece if its transfer ended inside a block, because the rest would be
	 * unaligned. */
	if (result == 0 || (uint64_t)result > s->piece.len - s->moved ||
	    (!d->file && result % d->block))
		return ended(r, j, s, EIO, e);
	s->moved += (size_t)result;
	if (s->moved < s->piece.len) {
		rc = submit(r, d, j->write, s);
		return rc ? ended(r, j, s, rc, e) : 0;
	}
	return ended(r, j, s, 0, e);
}

static int stalled(struct ring *r, const struct ring_job *j, struct err *e)
{
	int64_t first = INT64_MAX;

	for (unsigned i = 0; i < r->depth; i++)
		if (r->slots[i].busy && r->slots[i].piece.off < first)
			first = r->slots[i].piece.off;
	err_note_errno(&r->dead, ETIMEDOUT, "%s at %" PRId64 ": no answer for %d ms",
		       j->write ? "write" : "read", first, r->stall_ms);
	*e = r->dead;
	return -1;
}

/* Waits after a failure until nothing is in flight. If a piece does not end in time, the ring is
 * dead: it accepts no further I/O. */
static void settle(struct ring *r, const struct err *e)
{
	int64_t ignored;
	int slot;

	while (r->busy && (slot = r->ops->wait(r->backend, r->stall_ms, &ignored)) >= 0) {
		r->slots[slot].busy = false;
		r->busy--;
	}
	if (r->busy)
		r->dead = *e;
}

static int wait_for_one(struct ring *r, const struct dio *d, const struct ring_job *j,
			struct err *e)
{
	int64_t result;
	int slot = r->ops->wait(r->backend, r->stall_ms, &result);

	return slot < 0 ? stalled(r, j, e) : take(r, d, j, &r->slots[slot], result, e);
}

/* Returns 0 if the ring is usable. -1 with the error of the stall: a drive that stalled gets no
 * further I/O. */
static int is_dead(const struct ring *r, struct err *e)
{
	if (!r->dead.kind)
		return 0;
	*e = r->dead;
	return -1;
}

int ring_run(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e)
{
	bool more = true;
	int rc = is_dead(r, e);

	while (!rc) {
		rc = fill(r, d, j, &more, e);
		if (!rc && !r->busy)
			return 0;
		if (!rc)
			rc = wait_for_one(r, d, j, e);
	}
	if (!r->dead.kind)
		settle(r, e);
	return -1;
}

static struct slot *idle(struct ring *r)
{
	for (unsigned i = 0; i < r->depth; i++)
		if (!r->slots[i].busy && &r->slots[i] != r->claimed)
			return &r->slots[i];
	return NULL;
}

/* Waits until a slot is idle and returns that slot; NULL: a piece failed or stalled. */
static struct slot *idle_slot(struct ring *r, struct dio *d, const struct ring_job *j,
			      struct err *e)
{
	struct slot *s;

	if (is_dead(r, e))
		return NULL;
	while (!(s = idle(r)))
		if (wait_for_one(r, d, j, e) < 0)
			return NULL;
	return s;
}

void *ring_claim(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e)
{
	if (is_dead(r, e))
		return NULL;
	if (!r->claimed)
		r->claimed = idle_slot(r, d, j, e);
	return r->claimed ? buffer(r, (size_t)(r->claimed - r->slots)) : NULL;
}

int ring_send(struct ring *r, struct dio *d, const struct ring_job *j, const struct ring_piece *p,
	      struct err *e)
{
	struct slot *s = r->claimed ? r->claimed : idle_slot(r, d, j, e);

	r->claimed = NULL;
	if (!s)
		return -1;
	s->piece = *p;
	if (!p->buf)
		s->piece.buf = buffer(r, (size_t)(s - r->slots));
	return start(r, d, j, s, e);
}

int ring_await(struct ring *r, struct dio *d, const struct ring_job *j, const unsigned *left,
	       struct err *e)
{
	int rc = is_dead(r, e);

	while (!rc && *left && r->busy)
		rc = wait_for_one(r, d, j, e);
	return rc;
}

int ring_drain(struct ring *r, struct dio *d, const struct ring_job *j, struct err *e)
{
	int rc = is_dead(r, e);

	while (!rc && r->busy)
		rc = wait_for_one(r, d, j, e);
	if (rc && !r->dead.kind)
		settle(r, e);
	return rc;
}
