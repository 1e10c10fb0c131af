#include "planner/cells.h"
#include "planner/supply/reserve.h"

struct cells {
	/* Hash table of cells, by class and topology profile. */
	struct plan_cell **v;
	/* cap: length of v, a power of two. n: number of cells in it. */
	size_t cap, n;
};

struct cells *cells_new(struct planning *p)
{
	return arena_new_obj(p->a, struct cells);
}

static size_t place_of(const struct cells *t, const struct plan_class *c,
		       const struct plan_profile *s)
{
	const uint64_t both = (uint64_t)c->number << 32 | s->number;
	size_t i = (both * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->cap - 1);

	while (t->v[i] && (t->v[i]->class_ != c || t->v[i]->profile != s))
		i = (i + 1) & (t->cap - 1);
	return i;
}

static void grow(struct cells *t, struct arena *a)
{
	const struct cells old = *t;

	t->cap = old.cap ? old.cap * 2 : 16;
	t->v = arena_calloc(a, t->cap, sizeof(struct plan_cell *));
	for (size_t i = 0; i < old.cap; i++)
		if (old.v[i])
			t->v[place_of(t, old.v[i]->class_, old.v[i]->profile)] = old.v[i];
}

static struct party *party_of(struct planning *p, const struct plan_class *c, struct party **first)
{
	struct party *x = *first;

	for (; x && (x->fit != c->fit || x->columns != c->columns); x = x->next)
		planning_charge(p, c->tenant, 1);
	if (x)
		return x;
	x = arena_new_obj(p->a, struct party);
	*x = (struct party){.fit = c->fit, .columns = c->columns, .next = *first};
	x->sum = arena_calloc(p->a, p->ncolumns, sizeof(*x->sum));
	x->largest = arena_calloc(p->a, p->ncolumns, sizeof(*x->largest));
	return *first = x;
}

static struct plan_cell *cell_new(struct planning *p, struct plan_class *c,
				  const struct plan_profile *s)
{
	struct plan_cell *x = arena_new_obj(p->a, struct plan_cell);

	x->class_ = c;
	x->profile = s;
	x->crowd = p->saves_nodes ? party_of(p, c, &c->fit->crowds) : NULL;
	return x;
}

struct plan_cell *cells_of(struct planning *p, struct plan_class *c, struct plan_profile *s)
{
	struct cells *t = p->cells;
	struct plan_cell *x;
	size_t at;

	if (!s) {
		if (!c->cell) {
			c->cell = cell_new(p, c, NULL);
			c->cell->party = party_of(p, c, &c->fit->parties);
		}
		return c->cell;
	}
	if (2 * (t->n + 1) > t->cap)
		grow(t, p->a);
	at = place_of(t, c, s);
	if (t->v[at])
		return t->v[at];
	x = t->v[at] = cell_new(p, c, s);
	t->n++;
	x->topology = topology_cell(p, c, s);
	x->party = x->topology ? party_of(p, c, &s->parties) : party_of(p, c, &c->fit->parties);
	if (x->crowd && x->topology && !x->party->reserve &&
	    topology_on_one(x->topology) < SIZE_MAX && !map_has(p->unreserved, c->tenant->it->name))
		reserve_want(p, c->tenant, x->party);
	return x;
}

/* Returns the requested amount, limited so that the sum over 2^20 pods cannot overflow. Otherwise a
 * sum that has overflowed would be wrong after the amounts are subtracted again. */
static int64_t counted(const struct ask *x)
{
	const int64_t most = INT64_MAX >> 20;

	return x->amount < most ? x->amount : most;
}

static void join(struct party *x, struct asks asks)
{
	x->left++;
	for (size_t i = 0; i < asks.n; i++) {
		const size_t k = asks.v[i].column;

		x->sum[k] = planning_add(x->sum[k], counted(&asks.v[i]));
		if (asks.v[i].amount > x->largest[k])
			x->largest[k] = asks.v[i].amount;
	}
}

static void leave(struct party *x, struct asks asks)
{
	x->left--;
	for (size_t i = 0; i < asks.n; i++)
		x->sum[asks.v[i].column] =
			planning_sub(x->sum[asks.v[i].column], counted(&asks.v[i]));
}

void cells_join(const struct plan_cell *c)
{
	join(c->party, c->class_->asks);
	if (c->crowd)
		join(c->crowd, c->class_->asks);
}

void cells_leave(const struct plan_cell *c)
{
	leave(c->party, c->class_->asks);
	if (c->crowd)
		leave(c->crowd, c->class_->asks);
}

void cells_arrive(const struct plan_cell *c)
{
	if (c->crowd && c->crowd->expected)
		c->crowd->expected--;
}
