#ifndef PLANNER_COUNTS_H
#define PLANNER_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"

/*
 * counts: a hash table that stores one count for each of a few numbers out of a large range. Its
 * size depends on the number of entries, not on the range.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_oracle.c
 */
struct counts {
	struct count {
		/* at: the number for which a count is stored. n: the count; 0 marks a free slot of
		 * the table. */
		uint32_t at, n;
	} * v;
	/* cap: length of v, a power of two. n: number of used slots. */
	size_t cap, n;
};

static inline struct count *counts_find(const struct counts *c, uint32_t at)
{
	size_t i = (at * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (c->cap - 1);

	while (c->v[i].n && c->v[i].at != at)
		i = (i + 1) & (c->cap - 1);
	return &c->v[i];
}

static inline uint32_t counts_get(const struct counts *c, uint32_t at)
{
	return c->cap ? counts_find(c, at)->n : 0;
}

static inline void counts_add(struct counts *c, uint32_t at, uint32_t n, struct arena *a)
{
	struct count *it;

	if (!n)
		return;
	if (2 * (c->n + 1) > c->cap) {
		const struct counts old = *c;

		c->cap = old.cap ? old.cap * 2 : 4;
		c->v = arena_calloc(a, c->cap, sizeof(*c->v));
		for (size_t i = 0; i < old.cap; i++)
			if (old.v[i].n)
				*counts_find(c, old.v[i].at) = old.v[i];
	}
	it = counts_find(c, at);
	c->n += !it->n;
	it->at = at;
	it->n += n;
}

/* Subtracts n from the count of number `at`, but not below 0. If the count becomes 0, removes the
 * number and inserts the entries after it again, so that counts_find() still reaches them. */
static inline void counts_take(struct counts *c, uint32_t at, uint32_t n)
{
	struct count *it = c->cap ? counts_find(c, at) : NULL;
	size_t hole;

	if (!it || !it->n || !n)
		return;
	it->n -= n < it->n ? n : it->n;
	if (it->n)
		return;
	c->n--;
	hole = (size_t)(it - c->v);
	for (size_t i = (hole + 1) & (c->cap - 1); c->v[i].n; i = (i + 1) & (c->cap - 1)) {
		const struct count x = c->v[i];

		c->v[i].n = 0;
		*counts_find(c, x.at) = x;
	}
}

#endif
