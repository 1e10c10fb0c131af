#include "planner/capacity_table.h"

#include <string.h>

/* FAN: number of rows (of maxima) that one row of the next higher tree level covers. */
#define FAN_BITS 3
#define FAN ((size_t)1 << FAN_BITS)
#define LEVELS 20 /* Largest number of tree levels; enough for 2^60 candidates. */

/* Rows of one level of the tree. Level 0 contains the free amounts of the candidates themselves. */
struct table_level {
	int64_t *v;
	size_t n, cap;
};
struct capacity_table {
	struct arena *a;
	size_t columns, nlevels;
	struct table_level level[LEVELS];
};

struct capacity_table *capacity_table_new(struct arena *a, size_t columns)
{
	struct capacity_table *r = arena_new_obj(a, struct capacity_table);

	r->a = a;
	r->columns = columns;
	r->nlevels = 1;
	return r;
}

void capacity_table_expect(struct capacity_table *r, size_t n)
{
	for (size_t l = 0; n > 1 && l < LEVELS; l++, n = (n + FAN - 1) >> FAN_BITS) {
		r->level[l].cap = n;
		r->level[l].v = arena_calloc(r->a, n * r->columns, sizeof(int64_t));
	}
}

static int64_t *row_of(const struct capacity_table *r, size_t level, size_t at)
{
	return r->level[level].v + at * r->columns;
}

static void append(struct capacity_table *r, size_t level, const int64_t *row)
{
	struct table_level *l = &r->level[level];

	if (l->n == l->cap) {
		int64_t *v;

		l->cap = l->cap ? l->cap * 2 : FAN;
		v = arena_calloc(r->a, l->cap * r->columns, sizeof(*v));
		if (l->n)
			memcpy(v, l->v, l->n * r->columns * sizeof(*v));
		l->v = v;
	}
	memcpy(row_of(r, level, l->n++), row, r->columns * sizeof(*row));
}

static void raise(int64_t *most, const int64_t *row, size_t columns)
{
	for (size_t c = 0; c < columns; c++)
		if (most[c] < row[c])
			most[c] = row[c];
}

/* Computes row `at` of the level: the maxima of the rows that it covers in the level below. Returns
 * true if the row changed. */
static bool sum_up(struct capacity_table *r, size_t level, size_t at)
{
	const struct table_level *below = &r->level[level - 1];
	const size_t from = at << FAN_BITS, to = from + FAN < below->n ? from + FAN : below->n;
	int64_t *most = row_of(r, level, at);
	bool other = false;

	for (size_t c = 0; c < r->columns; c++) {
		int64_t m = INT64_MIN;

		for (size_t i = from; i < to; i++)
			if (below->v[i * r->columns + c] > m)
				m = below->v[i * r->columns + c];
		other |= most[c] != m;
		most[c] = m;
	}
	return other;
}

size_t capacity_table_add(struct capacity_table *r, const int64_t *row)
{
	const size_t at = r->level[0].n;

	append(r, 0, row);
	for (size_t l = 1; l < r->nlevels; l++) {
		if (at >> (l * FAN_BITS) == r->level[l].n)
			append(r, l, row);
		else
			raise(row_of(r, l, at >> (l * FAN_BITS)), row, r->columns);
	}
	if (r->level[r->nlevels - 1].n > FAN && r->nlevels < LEVELS) {
		const size_t l = r->nlevels++;

		for (size_t i = 0; i < r->level[l - 1].n; i += FAN) {
			append(r, l, row);
			(void)sum_up(r, l, i >> FAN_BITS);
		}
	}
	return at;
}

static bool fits(const int64_t *row, struct asks asks)
{
	for (size_t i = 0; i < asks.n; i++)
		if (asks.v[i].amount > row[asks.v[i].column])
			return false;
	return true;
}

bool capacity_table_fit(const struct capacity_table *r, size_t at, struct asks asks)
{
	return fits(row_of(r, 0, at), asks);
}

static void tell_above(struct capacity_table *r, size_t at)
{
	for (size_t l = 1; l < r->nlevels; l++) {
		at >>= FAN_BITS;
		if (!sum_up(r, l, at))
			return;
	}
}

void capacity_table_subtract(struct capacity_table *r, size_t at, struct asks asks)
{
	int64_t *row = row_of(r, 0, at);

	for (size_t i = 0; i < asks.n; i++)
		row[asks.v[i].column] -= asks.v[i].amount;
	tell_above(r, at);
}

void capacity_table_restore(struct capacity_table *r, size_t at, struct asks asks)
{
	int64_t *row = row_of(r, 0, at);

	for (size_t i = 0; i < asks.n; i++)
		row[asks.v[i].column] += asks.v[i].amount;
	tell_above(r, at);
}

void capacity_table_truncate(struct capacity_table *r, size_t n)
{
	for (size_t l = 0; l < r->nlevels; l++) {
		const size_t fan = (size_t)1 << (l * FAN_BITS);

		r->level[l].n = (n + fan - 1) / fan;
		if (l && r->level[l].n)
			(void)sum_up(r, l, r->level[l].n - 1);
	}
}

const int64_t *capacity_table_row(const struct capacity_table *r, size_t at)
{
	return row_of(r, 0, at);
}

size_t capacity_table_times(const int64_t *row, struct asks asks)
{
	int64_t n = INT64_MAX;

	for (size_t i = 0; i < asks.n; i++) {
		const int64_t room = row[asks.v[i].column], amount = asks.v[i].amount;

		if (room < amount)
			return 0;
		if (amount > 0 && room / amount < n)
			n = room / amount;
	}
	return (size_t)n;
}

void capacity_table_close(struct capacity_table *r, size_t at)
{
	row_of(r, 0, at)[0] = INT64_MIN;
	tell_above(r, at);
}

size_t capacity_table_next(const struct capacity_table *r, size_t from, struct asks asks,
			   uint64_t *steps)
{
	size_t at = from;

	while (at < r->level[0].n) {
		size_t l = 0;

		/* Skip the largest group of candidates that begins at `at` and has too little room
		 * in some column. */
		while (l + 1 < r->nlevels && !(at & ((FAN << (l * FAN_BITS)) - 1))) {
			++*steps;
			if (fits(row_of(r, l + 1, at >> ((l + 1) * FAN_BITS)), asks))
				break;
			l++;
		}
		if (l) {
			at += (size_t)1 << (l * FAN_BITS);
			continue;
		}
		++*steps;
		if (fits(row_of(r, 0, at), asks))
			return at;
		at++;
	}
	return CAPACITY_TABLE_NONE;
}
