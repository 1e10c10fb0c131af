#include "wipe/intake.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "wipe/dio.h"

/* Returns the capacity of a chunk in bytes. */
static size_t most(const struct intake *t)
{
	return t->zstd ? INTAKE_CHUNK : INTAKE_PART;
}

void intake_init(struct intake *t, unsigned chunks, bool zstd)
{
	memset(t, 0, sizeof(*t));
	t->n = chunks < INTAKE_MAX ? chunks : INTAKE_MAX;
	t->zstd = zstd;
	t->rest = mem_alloc(INTAKE_PIECE);
	for (unsigned i = 0; i < t->n; i++)
		t->v[i].data = dio_pages(most(t));
}

void intake_done(struct intake *t)
{
	for (unsigned i = 0; i < t->n; i++)
		dio_pages_free(t->v[i].data, most(t));
	free(t->rest);
}

static void close_chunk(struct intake *t, bool whole)
{
	struct chunk *c = &t->v[t->fill];

	c->closed = true;
	c->whole = whole;
	t->fill = (t->fill + 1) % t->n;
	t->unpacked_before = t->frames.unpacked;
}

static uint64_t unpacked(const struct intake *t)
{
	return t->frames.unpacked - t->unpacked_before;
}

/* Adds data to the chunk until the chunk ends. Returns how many of the n bytes were used. */
static size_t fill(struct intake *t, struct chunk *c, const uint8_t *p, size_t n)
{
	enum frames_state state = FRAMES_LOST;
	size_t used;

	if (n > most(t) - c->len)
		n = most(t) - c->len;
	used = n;
	if (t->zstd)
		state = frames_walk(&t->frames, p, n, &used);
	memcpy(c->data + c->len, p, used);
	c->len += used;
	if (state == FRAMES_LOST || unpacked(t) > INTAKE_UNPACKED || c->len == most(t))
		t->large = true;
	if (state == FRAMES_BOUNDARY && (t->large || unpacked(t) >= INTAKE_SMALL)) {
		close_chunk(t, !t->large);
		t->large = false;
	} else if (t->large && c->len >= INTAKE_PART) {
		close_chunk(t, false);
	}
	return used;
}

static size_t cut(struct intake *t, const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (at < n && !t->v[t->fill].closed)
		at += fill(t, &t->v[t->fill], p + at, n - at);
	return at;
}

static void cut_rest(struct intake *t)
{
	t->rest_at += cut(t, t->rest + t->rest_at, t->nrest - t->rest_at);
}

bool intake_hungry(const struct intake *t)
{
	return t->rest_at == t->nrest && !t->v[t->fill].closed;
}

int intake_add(struct intake *t, const void *data, size_t len)
{
	size_t used;

	if (t->rest_at < t->nrest || len > INTAKE_PIECE)
		return -1;
	used = cut(t, data, len);
	t->nrest = len - used;
	t->rest_at = 0;
	memcpy(t->rest, (const uint8_t *)data + used, t->nrest);
	return 0;
}

void intake_give_back(struct intake *t, unsigned chunk)
{
	struct chunk *c = &t->v[chunk];

	c->len = 0;
	c->closed = c->whole = false;
	cut_rest(t);
}

void intake_end(struct intake *t)
{
	const struct chunk *c = &t->v[t->fill];
	size_t used;

	if (t->rest_at == t->nrest && !c->closed && c->len)
		close_chunk(t, !t->large && t->zstd &&
				       frames_walk(&t->frames, NULL, 0, &used) == FRAMES_BOUNDARY);
}
