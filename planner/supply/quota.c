#include "planner/supply/quota.h"

#include "base/str.h"
#include "planner/groups.h"
#include "planner/supply/supply.h"

#define NODES "nodes"
#define ONE ((__int128)1000000000)

/* Sums over a cohort for one resource. lent: how much the tenants together may lend. used: how much
 * the tenants together have beyond the parts of their quotas that are never lent. */
struct cohort_sum {
	const char *name;
	__int128 lent, used;
};

struct plan_cohort {
	struct planning *p;
	const char *name;
	struct plan_tenant **v;
	size_t n, cap;
	struct cohort_sum *rows;
	size_t nrows, rows_cap;
	/* Value of planning.charged for which all values row.used were computed. */
	uint64_t counted;
};

static __int128 amount(const struct resources *r, const char *name)
{
	const struct quantity *q = resources_get(r, name);

	return q ? q->nano : 0;
}

static __int128 held_of(const struct plan_tenant *t, const char *name)
{
	return str_eq(name, NODES) ? t->tally.nodes * ONE : amount(&t->tally.held, name);
}

/* Returns the part of the tenant's quota of this resource that is never lent. */
static __int128 kept_of(const struct plan_tenant *t, const char *name)
{
	const __int128 quota = amount(&t->it->quota, name);
	const struct quantity *lends = resources_get(&t->it->lending, name);

	return lends ? quota > lends->nano ? quota - lends->nano : 0 : 0;
}

static __int128 beyond(__int128 held, __int128 kept)
{
	return held > kept ? held - kept : 0;
}

static struct cohort_sum *row_of(struct plan_cohort *c, const char *name)
{
	for (size_t i = 0; i < c->nrows; i++)
		if (str_eq(c->rows[i].name, name))
			return &c->rows[i];
	c->rows = planning_wider(c->p->a, c->rows, &c->rows_cap, c->nrows + 1, sizeof(*c->rows));
	c->rows[c->nrows] = (struct cohort_sum){.name = name};
	return &c->rows[c->nrows++];
}

static void join(struct plan_cohort *c, struct plan_tenant *t)
{
	const struct resources *quota = &t->it->quota;

	t->cohort = c;
	c->v = planning_wider(c->p->a, c->v, &c->cap, c->n + 1, sizeof(struct plan_tenant *));
	c->v[c->n++] = t;
	for (size_t i = 0; i < quota->n; i++)
		row_of(c, quota->v[i].name)->lent +=
			quota->v[i].q.nano - kept_of(t, quota->v[i].name);
}

void quota_begin(struct planning *p)
{
	struct map *cohorts = NULL;
	struct map_iter it;

	map_for_each (it, p->w->tenants) {
		const struct world_tenant *t = ((struct world_object *)it.value)->it;
		struct plan_cohort *c;

		if (!t->cohort)
			continue;
		cohorts = cohorts ? cohorts : planning_map(p);
		c = map_get(cohorts, t->cohort);
		if (!c) {
			c = arena_new_obj(p->a, struct plan_cohort);
			*c = (struct plan_cohort){.p = p, .name = t->cohort};
			map_put(cohorts, t->cohort, c);
		}
		join(c, planning_tenant(p, t->name));
	}
	p->charged = 1;
}

void quota_changed(struct planning *p)
{
	p->charged++;
}

static void count(struct plan_cohort *c)
{
	if (c->counted == c->p->charged)
		return;
	c->counted = c->p->charged;
	for (size_t i = 0; i < c->nrows; i++)
		c->rows[i].used = 0;
	for (size_t k = 0; k < c->n; k++) {
		const struct resources *quota = &c->v[k]->it->quota;

		for (size_t i = 0; i < quota->n; i++) {
			const char *name = quota->v[i].name;

			row_of(c, name)->used +=
				beyond(held_of(c->v[k], name), kept_of(c->v[k], name));
		}
	}
	c->p->work += c->n;
}

/* True if holdings of `sum` would exceed the tenant's quota plus its own borrowing limit, whatever
 * other tenants have. */
static bool passes_own(const struct plan_tenant *t, const char *name, __int128 sum)
{
	const struct quantity *borrows = resources_get(&t->it->borrowing, name);

	return borrows && sum > amount(&t->it->quota, name) + borrows->nano;
}

static bool passes_cohort(const struct plan_tenant *t, const char *name, __int128 held,
			  __int128 sum)
{
	const __int128 kept = kept_of(t, name);
	const struct cohort_sum *r;

	if (sum <= kept || sum == held)
		return false;
	count(t->cohort);
	r = row_of(t->cohort, name);
	return r->used - beyond(held, kept) + sum - kept > r->lent;
}

const char *quota_passes(const struct plan_tenant *t, const struct resources *more)
{
	const struct resources *quota = &t->it->quota;

	if (!t->cohort)
		return quota->n ? tally_passes(&t->tally, quota, more) : NULL;
	for (size_t i = 0; i < quota->n; i++) {
		const char *name = quota->v[i].name;
		const __int128 held = held_of(t, name),
			       sum = held + (str_eq(name, NODES) ? ONE : amount(more, name));

		if (passes_own(t, name, sum) || passes_cohort(t, name, held, sum))
			return name;
	}
	return NULL;
}

bool quota_has_own(const struct plan_tenant *t, const struct resources *more)
{
	const struct resources *quota = &t->it->quota;

	for (size_t i = 0; i < quota->n; i++) {
		const char *name = quota->v[i].name;

		if (held_of(t, name) + (str_eq(name, NODES) ? ONE : amount(more, name)) >
		    quota->v[i].q.nano)
			return false;
	}
	return true;
}

bool quota_is_bound(const struct plan_tenant *t, const struct resources *more)
{
	const struct resources *quota = &t->it->quota;

	if (!t->cohort)
		return quota->n && tally_passes(&t->tally, quota, more);
	for (size_t i = 0; i < quota->n; i++) {
		const char *name = quota->v[i].name;

		if (passes_own(t, name,
			       held_of(t, name) + (str_eq(name, NODES) ? ONE : amount(more, name))))
			return true;
	}
	return false;
}

void quota_moves(struct planning *p, struct plan_tenant *from, struct plan_tenant *to,
		 const struct resources *capacity)
{
	for (size_t i = 0; from && i < capacity->n; i++) {
		struct quantity *q =
			(struct quantity *)resources_get(&from->tally.held, capacity->v[i].name);

		if (q)
			*q = quantity_sub(*q, capacity->v[i].q);
	}
	if (from)
		from->tally.nodes--;
	if (to)
		tally_charge(&to->tally, capacity, p->a);
	quota_changed(p);
}

bool quota_borrows(const struct plan_tenant *t)
{
	const struct resources *quota = &t->it->quota;
	const bool gpus = resources_get(quota, PLANNING_GPU);

	if (!t->cohort)
		return false;
	if (gpus)
		return held_of(t, PLANNING_GPU) >= amount(quota, PLANNING_GPU);
	for (size_t i = 0; i < quota->n; i++)
		if (held_of(t, quota->v[i].name) >= quota->v[i].q.nano)
			return true;
	return false;
}

__int128 quota_borrowed(const struct plan_tenant *t, const char *resource)
{
	if (!t->it || !t->cohort || !resources_get(&t->it->quota, resource))
		return 0;
	return beyond(held_of(t, resource), amount(&t->it->quota, resource));
}

/* --- texts ------------------------------------------------------------------------------------ */

static const char *words(struct planning *p, __int128 nano)
{
	char text[QUANTITY_TEXT];

	return arena_strdup(p->a, quantity_format((struct quantity){nano}, text));
}

static const char *takes_text(struct planning *p, const char *name,
			      const struct supply_type_offer *l)
{
	if (str_eq(name, NODES))
		return "";
	return arena_printf(p->a, ", a machine of type %s would add %s", l->type->name,
			    words(p, amount(&l->type->capacity, name)));
}

static const char *borrowed_text(struct planning *p, const struct plan_tenant *t, const char *name)
{
	const __int128 borrowed = quota_borrowed(t, name);
	const struct quantity *most = resources_get(&t->it->borrowing, name);

	if (most)
		return arena_printf(p->a, ", %s of at most %s borrowed", words(p, borrowed),
				    words(p, most->nano));
	return borrowed ? arena_printf(p->a, ", %s borrowed", words(p, borrowed)) : "";
}

const char *quota_text(struct planning *p, const struct plan_tenant *t, const char *name,
		       const struct supply_type_offer *l)
{
	const __int128 held = held_of(t, name), quota = amount(&t->it->quota, name),
		       sum = held + (str_eq(name, NODES) ? ONE : amount(&l->type->capacity, name));
	const char *cohort = "";

	if (t->cohort && !passes_own(t, name, sum)) {
		const struct cohort_sum *r;

		count(t->cohort);
		r = row_of(t->cohort, name);
		cohort = arena_printf(p->a, ", cohort %s has lent %s of %s", t->cohort->name,
				      words(p, r->used), words(p, r->lent));
	}
	if (t->cohort && sum <= quota)
		return arena_printf(p->a,
				    "the tenant's unused quota of %s is lent to other tenants: the "
				    "tenant uses %s of %s%s%s",
				    name, words(p, held), words(p, quota), cohort,
				    takes_text(p, name, l));
	return arena_printf(p->a, "the tenant's quota of %s is used up: %s of %s used%s%s%s", name,
			    words(p, held), words(p, quota), borrowed_text(p, t, name), cohort,
			    takes_text(p, name, l));
}
