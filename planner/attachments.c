#include "planner/attachments.h"

#include <string.h>

/* A shared volume that is attached to a bin. pods: number of its pods there; a volume that no pod
 * uses any more keeps its entry. */
struct attached {
	uint32_t volume, pods;
};
struct attachments {
	struct arena *a;
	const struct plan_tenant *of;
	/* Sets by bin; empty sets at the end are left out. */
	struct bin_set {
		struct attached *v;
		size_t n, cap;
	} * sets;
	size_t n, cap;
	/* Result of the last attachments_take() or attachments_release(). */
	struct ask *changes;
	size_t changes_cap;
};

/* --- shared volumes of a class ---------------------------------------------------------------- */

/* Returns the number of the tenant's shared volume `name`, from 0, assigned at first use. */
static uint32_t number_of(struct planning *p, struct plan_tenant *t, const char *name)
{
	uint32_t *number;

	if (!t->volumes)
		t->volumes = planning_map(p);
	number = map_get(t->volumes, name);
	if (!number) {
		number = arena_new_obj(p->a, uint32_t);
		*number = (uint32_t)map_size(t->volumes);
		map_put(t->volumes, name, number);
	}
	return *number;
}

static struct plan_shared *on(const struct plan_class *c, uint32_t column)
{
	for (size_t i = 0; i < c->nshared; i++)
		if (c->shared[i].column == column)
			return &c->shared[i];
	return NULL;
}

static void add(struct planning *p, struct plan_class *c, const struct world_shared *v,
		uint32_t column)
{
	struct plan_shared *s = on(c, column);

	if (!s) {
		s = &c->shared[c->nshared++];
		s->column = column;
		s->volumes = arena_calloc(p->a, c->pod->shared.n, sizeof(*s->volumes));
	}
	s->volumes[s->n++] = number_of(p, c->tenant, v->volume);
}

void attachments_of_class(struct planning *p, struct plan_class *c, int64_t *row)
{
	const size_t n = c->pod->shared.n;

	if (!n)
		return;
	c->shared = arena_calloc(p->a, n, sizeof(*c->shared));
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < p->ncolumns; k++)
			if (row[k] > 0 && strcmp(p->column[k], c->pod->shared.v[i].driver) == 0) {
				row[k]--;
				add(p, c, &c->pod->shared.v[i], k);
			}
	for (size_t i = 0; i < c->nshared; i++)
		c->shared[i].own = row[c->shared[i].column];
}

size_t attachments_add(const struct plan_class *c, struct ask *v, size_t n)
{
	size_t more = 0;

	for (size_t i = 0; i < n; i++) {
		const struct plan_shared *s = on(c, v[i].column);

		v[i].amount += s ? (int64_t)s->n : 0;
	}
	for (size_t i = 0; i < c->nshared; i++)
		if (!c->shared[i].own)
			v[n + more++] = (struct ask){c->shared[i].column, (int64_t)c->shared[i].n};
	return more;
}

size_t attachments_times_new(const struct plan_class *c, const int64_t *row)
{
	int64_t n = INT64_MAX;

	if (!c->nshared)
		return capacity_table_times(row, c->of_new);
	for (size_t i = 0; i < c->of_new.n; i++) {
		const struct ask *x = &c->of_new.v[i];
		const struct plan_shared *s = on(c, x->column);
		const int64_t each = s ? s->own : x->amount,
			      left = planning_sub(row[x->column], x->amount - each);

		if (left < each || (s && left < 0))
			return 0;
		if (each > 0 && left / each < n)
			n = left / each;
	}
	return (size_t)n;
}

/* --- sets of bins ----------------------------------------------------------------------------- */

struct attachments *attachments_new(struct planning *p, const struct plan_tenant *t)
{
	struct attachments *x;

	if (!t->volumes)
		return NULL;
	x = arena_new_obj(p->a, struct attachments);
	*x = (struct attachments){.a = p->a, .of = t};
	return x;
}

static struct attached *find(const struct bin_set *s, uint32_t volume)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].volume == volume)
			return &s->v[i];
	return NULL;
}

static struct bin_set *set_of(struct attachments *x, size_t at)
{
	x->sets = planning_wider(x->a, x->sets, &x->cap, at + 1, sizeof(*x->sets));
	x->n = x->n > at ? x->n : at + 1;
	return &x->sets[at];
}

/* Counts one more pod of the volume in the bin's set. Returns true if the volume is newly
 * attached. */
static bool attach(struct attachments *x, struct bin_set *s, uint32_t volume)
{
	struct attached *v = find(s, volume);

	if (!v) {
		s->v = planning_wider(x->a, s->v, &s->cap, s->n + 1, sizeof(*s->v));
		v = &s->v[s->n++];
		*v = (struct attached){.volume = volume};
	}
	return v->pods++ == 0;
}

/* Counts one pod of the volume less. Returns true if the volume is no longer attached. */
static bool detach(const struct bin_set *s, uint32_t volume)
{
	return --find(s, volume)->pods == 0;
}

void attachments_load(struct attachments *x, size_t at, const struct world_load *l)
{
	for (size_t i = 0; x && i < l->nshared; i++) {
		const uint32_t *number = map_get(x->of->volumes, l->shared[i].volume);

		if (number)
			(void)attach(x, set_of(x, at), *number);
	}
}

size_t attachments_missing(const struct attachments *x, size_t at, const struct plan_shared *s,
			   uint64_t *steps)
{
	size_t n = s->n;

	*steps += 1;
	if (!x || at >= x->n)
		return n;
	for (size_t i = 0; i < s->n; i++) {
		const struct attached *v = find(&x->sets[at], s->volumes[i]);

		*steps += 1 + x->sets[at].n / 16;
		n -= v && v->pods;
	}
	return n;
}

size_t attachments_times(const struct attachments *x, const struct plan_class *c, size_t at,
			 const int64_t *row)
{
	size_t n = capacity_table_times(row, c->asks);
	uint64_t steps = 0;

	for (size_t i = 0; n && i < c->nshared; i++) {
		const struct plan_shared *s = &c->shared[i];
		const int64_t lacks = (int64_t)attachments_missing(x, at, s, &steps),
			      left = planning_sub(row[s->column], lacks);

		if (left < s->own && lacks + s->own > 0)
			return 0;
		if (s->own > 0 && (size_t)(left / s->own) < n)
			n = (size_t)(left / s->own);
	}
	return n;
}

static struct asks changes(struct attachments *x, size_t at, const struct plan_class *c, bool takes)
{
	size_t n = 0;

	if (!x)
		return (struct asks){0};
	x->changes =
		planning_wider(x->a, x->changes, &x->changes_cap, c->nshared, sizeof(*x->changes));
	for (size_t i = 0; i < c->nshared; i++) {
		const struct plan_shared *s = &c->shared[i];

		x->changes[n] = (struct ask){s->column, 0};
		for (size_t k = 0; k < s->n; k++)
			x->changes[n].amount += takes ? attach(x, set_of(x, at), s->volumes[k])
						      : detach(&x->sets[at], s->volumes[k]);
		n += x->changes[n].amount > 0;
	}
	return (struct asks){x->changes, n};
}

struct asks attachments_take(struct attachments *x, size_t at, const struct plan_class *c)
{
	return changes(x, at, c, true);
}

struct asks attachments_release(struct attachments *x, size_t at, const struct plan_class *c)
{
	return changes(x, at, c, false);
}

void attachments_truncate(struct attachments *x, size_t n)
{
	if (!x)
		return;
	for (size_t i = n; i < x->n; i++)
		x->sets[i].n = 0;
	x->n = x->n < n ? x->n : n;
}
