#include <stdlib.h>

#include "planner/cells.h"
#include "planner/supply/reserve.h"

/* Room in one bin, reserved for one pod of a party. used: the room is available again. */
struct reserved_room {
	size_t bin;
	struct asks asks;
	bool used;
};

/* Reserved room for the pods of one party, in the order of the bins. next: index into v of the next
 * room to try; bins before it admitted no pod of the party, or have one. */
struct reserve {
	struct party *of;
	struct reserved_room *v;
	size_t n, next, cap;
	/* Number of the party among those of the tenant, in order of reserve_want(). */
	size_t number;
	struct reserve *others;
};

void reserve_want(struct planning *p, struct plan_tenant *t, struct party *of)
{
	struct reserve *r = arena_new_obj(p->a, struct reserve);

	*r = (struct reserve){.of = of, .number = t->nreserves++, .others = t->reserves};
	of->reserve = t->reserves = r;
}

static int by_size(const void *x, const void *y)
{
	const struct reserve *a = *(struct reserve *const *)x, *b = *(struct reserve *const *)y;

	if (a->of->left != b->of->left)
		return a->of->left > b->of->left ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

void reserve_begin(struct planning *p, struct plan_tenant *t)
{
	struct reserve **v, *r = t->reserves;
	size_t n = 0;

	if (t->nreserves <= RESERVE_MOST)
		return;
	v = arena_calloc(p->a, t->nreserves, sizeof(struct reserve *));
	for (; r; r = r->others)
		v[n++] = r;
	qsort(v, n, sizeof(struct reserve *), by_size);
	t->reserves = NULL;
	for (size_t i = n; i-- > 0;) {
		if (i >= RESERVE_MOST) {
			v[i]->of->reserve = NULL;
			continue;
		}
		v[i]->others = t->reserves;
		t->reserves = v[i];
	}
	t->nreserves = RESERVE_MOST;
	p->work += n;
}

/* True if machine number `at` of the tenant in this plan, opened for the cell, reserves room for
 * one more pod of *r. Pods that need fewer machines than there are find room anyway, and a single
 * pod may share any machine. */
static bool wants(const struct reserve *r, const struct plan_cell *c, size_t at)
{
	return r->of != c->party && r->of->fit == c->class_->fit && r->of->left > 1 &&
	       r->of->left >= at && r->n - r->next < r->of->left;
}

size_t reserve_wants(const struct plan_cell *c)
{
	const struct plan_tenant *t = c->class_->tenant;
	size_t n = 0;

	for (const struct reserve *r = t->reserves; r; r = r->others)
		n += wants(r, c, t->nopened + 1);
	return n;
}

/* Returns the largest request of the party's pods for each column. */
static struct asks largest(struct planning *p, const struct party *x)
{
	struct ask *v = arena_calloc(p->a, p->ncolumns, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < p->ncolumns; i++)
		if (x->largest[i])
			v[n++] = (struct ask){(uint32_t)i, x->largest[i]};
	return (struct asks){v, n};
}

void reserve_room(struct planning *p, const struct plan_cell *c, size_t bin)
{
	struct plan_tenant *t = c->class_->tenant;

	t->nopened++;
	for (struct reserve *r = t->reserves; r; r = r->others) {
		planning_charge(p, t, 1);
		if (!wants(r, c, t->nopened))
			continue;
		r->v = planning_wider(p->a, r->v, &r->cap, r->n + 1, sizeof(*r->v));
		r->v[r->n] = (struct reserved_room){bin, largest(p, r->of), false};
		r->n += bins_reserve(t->bins, bin, r->v[r->n].asks);
	}
}

bool reserve_find(struct planning *p, struct plan_cell *c, size_t *at)
{
	struct plan_tenant *t = c->class_->tenant;
	struct reserve *r = c->party->reserve;

	while (r && r->next < r->n) {
		struct reserved_room *x = &r->v[r->next++];

		planning_charge(p, t, 1);
		bins_unreserve(t->bins, x->bin, x->asks);
		x->used = bins_fits(t->bins, c, x->bin) || !bins_reserve(t->bins, x->bin, x->asks);
		*at = x->bin;
		if (x->used)
			return true;
	}
	return false;
}

bool reserve_release(struct plan_tenant *t)
{
	const uint64_t before = t->released;

	for (struct reserve *r = t->reserves; r; r = r->others) {
		for (size_t i = 0; i < r->n; i++) {
			if (r->v[i].used)
				continue;
			bins_unreserve(t->bins, r->v[i].bin, r->v[i].asks);
			t->released++;
		}
		r->n = r->next = 0;
	}
	return t->released != before;
}
