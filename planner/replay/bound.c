/*
 * bound: computes bound_machines() by the simplex method. It solves the dual of the linear program
 * that bound.h shows, starting from y = 0, z = 0:
 *
 *   max sum(requests_r y_r) - sum(machines_t z_t)   subject to
 *       sum(capacity_t,r y_r) - z_t <= 1 for each t,   y, z >= 0
 *
 * y_r is the dual variable of resource r, z_t that of instance type t. Bland's rule prevents
 * cycles. The tableau has few rows (instance types) and columns (resources and instance types).
 */
#include "planner/replay/bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "planner/planning.h"

#define EPSILON 1e-9
#define PIVOTS 10000 /* Limit of simplex steps; more than any linear program of this size needs. */

struct tableau {
	/* Matrix of rows x cols; the last row is the objective, the last column the right-hand
	 * side. */
	double *v;
	size_t rows, cols;
};

static double *cell(const struct tableau *t, size_t row, size_t col)
{
	return &t->v[row * t->cols + col];
}

static void pivot(const struct tableau *t, size_t row, size_t col)
{
	const double by = *cell(t, row, col);

	for (size_t c = 0; c < t->cols; c++)
		*cell(t, row, c) /= by;
	for (size_t r = 0; r < t->rows; r++) {
		const double times = *cell(t, r, col);

		for (size_t c = 0; r != row && times != 0 && c < t->cols; c++)
			*cell(t, r, c) -= times * *cell(t, row, c);
	}
}

/* Returns the maximum of the objective, or its value after PIVOTS steps. Each row but the last is a
 * constraint; the right-hand side of a constraint must not be negative. */
static double solve(const struct tableau *t)
{
	const size_t last = t->rows - 1, right = t->cols - 1;

	for (unsigned i = 0; i < PIVOTS; i++) {
		size_t col = 0, row = last;
		double best = 0;

		while (col < right && *cell(t, last, col) >= -EPSILON)
			col++;
		if (col == right)
			break;
		for (size_t r = 0; r < last; r++) {
			const double a = *cell(t, r, col), ratio = *cell(t, r, right) / a;

			if (a > EPSILON && (row == last || ratio < best)) {
				best = ratio;
				row = r;
			}
		}
		if (row == last)
			break;
		pivot(t, row, col);
	}
	return *cell(t, last, right);
}

struct demand {
	/* Sum of the requests of all claims that the plan opens. */
	struct resources sum;
	size_t cap;
};

static double amount(const struct resources *r, const char *name)
{
	const struct quantity *q = resources_get(r, name);

	return q ? (double)q->nano / 1e9 : 0;
}

struct line {
	const struct world_instance_type *type;
	double machines;
};

static size_t lines_of(struct world *w, struct line *out)
{
	struct map_iter it;
	size_t n = 0;

	map_for_each (it, w->providers) {
		const struct world_provider *p = ((const struct world_object *)it.value)->it;

		for (size_t i = 0; i < p->types.n; i++) {
			const struct world_kind *k = world_kind(w, p->name, p->types.v[i].name);
			double machines = 0;

			for (size_t g = 0; k && g < k->n; g++)
				for (size_t m = 0; m < k->v[g]->n; m++)
					machines += k->v[g]->v[m]->m.offered;
			if (machines > 0)
				out[n++] = (struct line){&p->types.v[i], machines};
		}
	}
	return n;
}

static size_t types_of(const struct world *w)
{
	struct map_iter it;
	size_t n = 0;

	map_for_each (it, w->providers)
		n += ((const struct world_provider *)((const struct world_object *)it.value)->it)
			     ->types.n;
	return n;
}

double bound_machines(struct world *w, const struct plan *p)
{
	OWN(arena) a = arena_new();
	struct demand d = {0};
	struct line *lines = arena_calloc(a, types_of(w) + 1, sizeof(*lines));
	const size_t nlines = lines_of(w, lines);
	struct tableau t;

	for (size_t i = 0; i < p->nclaims; i++)
		tally_add(&d.sum, &d.cap, &p->claims[i].requests, a);
	if (!p->nclaims || !nlines)
		return 0;
	t.rows = nlines + 1;
	/* Columns of the tableau: y of each resource; z and slack variable of each type; right-hand
	 * side. */
	t.cols = d.sum.n + 2 * nlines + 1;
	t.v = arena_calloc(a, t.rows * t.cols, sizeof(*t.v));
	for (size_t i = 0; i < nlines; i++) {
		/* Divide each capacity by the total request of that resource, so that all numbers
		 * of the tableau have a similar size. */
		for (size_t r = 0; r < d.sum.n; r++)
			*cell(&t, i, r) = amount(&lines[i].type->capacity, d.sum.v[r].name) /
					  ((double)d.sum.v[r].q.nano / 1e9);
		*cell(&t, i, d.sum.n + i) = -1;
		*cell(&t, i, d.sum.n + nlines + i) = 1;
		*cell(&t, i, t.cols - 1) = 1;
		*cell(&t, nlines, d.sum.n + i) = lines[i].machines;
	}
	for (size_t r = 0; r < d.sum.n; r++)
		*cell(&t, nlines, r) = d.sum.v[r].q.nano > 0 ? -1 : 0;
	return solve(&t);
}

/* --- GPU time --------------------------------------------------------------------------------- */

static int by_time(const void *x, const void *y)
{
	const struct replay_job *a = *(const struct replay_job *const *)x,
				*b = *(const struct replay_job *const *)y;

	return a->at_ms < b->at_ms ? -1 : a->at_ms > b->at_ms;
}

double bound_use(const struct replay_job *jobs, size_t njobs, double gpus, int64_t until_ms)
{
	OWN(arena) a = arena_new();
	const struct replay_job **order = arena_calloc(a, njobs + 1, sizeof(*order));
	double came = 0, best = gpus * (double)until_ms;

	for (size_t i = 0; i < njobs; i++)
		order[i] = &jobs[i];
	qsort(order, njobs, sizeof(*order), by_time);
	for (size_t i = 0; i < njobs && order[i]->at_ms < until_ms; i++) {
		const double left = (double)(until_ms - order[i]->at_ms),
			     takes = (double)order[i]->takes_ms;

		if (came + gpus * left < best)
			best = came + gpus * left;
		came += (takes < left ? takes : left) * order[i]->pods *
			amount(&order[i]->requests, PLANNING_GPU);
	}
	return came < best ? came : best;
}
