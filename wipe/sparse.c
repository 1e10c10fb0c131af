#include "wipe/sparse.h"

#define ZERO_RUN (256u << 10) /* shorter runs of zeros are cheaper to write than to ask for */

/* What of a buffer is to be written as it is. */
struct cut {
	struct dio *d;
	char *data;
	size_t at, len;
	int64_t off; /* of the first byte, on the drive */
};

static size_t run_at(const struct cut *c, bool *zeros)
{
	size_t n = c->len - c->at < ZERO_RUN ? c->len - c->at : ZERO_RUN;

	*zeros = dio_all(c->data + c->at, n, 0);
	return n;
}

/* The next stretch of one kind, at most `most` bytes; moves c->at behind it. */
static size_t take_run(struct cut *c, bool *zeros, size_t most)
{
	size_t from = c->at, n;
	bool same = true;

	c->at += run_at(c, zeros);
	while (c->at < c->len && c->at - from < most) {
		n = run_at(c, &same);
		if (same != *zeros)
			break;
		c->at += n;
	}
	return c->at - from;
}

static bool next_data(struct ring_piece *p, void *arg)
{
	struct cut *c = arg;

	while (c->at < c->len) {
		size_t from = c->at, n;
		bool zeros;

		n = take_run(c, &zeros, SPARSE_PIECE);
		/* A file has no faster way to hold zeros than to be written. */
		if (zeros && !c->d->file)
			continue;
		p->buf = c->data + from;
		p->len = n;
		p->off = c->off + (int64_t)from;
		return true;
	}
	return false;
}

static int data_written(const struct ring_piece *p, struct err *e, void *arg)
{
	(void)p, (void)arg;
	return e ? -1 : 0;
}

static int zero_runs(struct cut c, struct err *e)
{
	while (c.at < c.len) {
		size_t from = c.at, n;
		bool zeros;

		n = take_run(&c, &zeros, SIZE_MAX);
		if (zeros && dio_zero(c.d, c.off + (int64_t)from, (int64_t)n, e) < 0)
			return -1;
	}
	return 0;
}

int sparse_write(struct ring *r, struct dio *d, void *data, size_t len, int64_t off, struct err *e)
{
	struct cut c = {.d = d, .data = data, .len = len, .off = off};
	struct ring_job j = {.write = true, .next = next_data, .done = data_written, .arg = &c};

	if (!d->file && zero_runs(c, e) < 0)
		return -1;
	return ring_run(r, d, &j, e);
}
