#include <string.h>

#include "planner/bins.h"
#include "planner/fit.h"

struct bins {
	struct planning *p;
	struct arena *a;
	struct topology *topology; /* or NULL */
	struct plan_tenant *of;
	size_t columns;
	struct bin *v;
	int64_t *room;
	size_t n, cap;
	bool soft; /* one of them has, or may come to have, a taint PreferNoSchedule */
};

struct bins *bins_new(struct planning *p, struct plan_tenant *of)
{
	struct bins *b = arena_new_obj(p->a, struct bins);

	b->p = p;
	b->soft = p->soft;
	b->topology = of->topology ? p->topology : NULL;
	b->of = of;
	b->a = p->a;
	b->columns = p->ncolumns;
	return b;
}

static void grow(struct bins *b)
{
	const size_t cap = b->cap ? b->cap * 2 : 16;
	struct bin *v = arena_calloc(b->a, cap, sizeof(*v));
	int64_t *room = arena_calloc(b->a, cap * b->columns, sizeof(*room));

	if (b->n) {
		memcpy(v, b->v, b->n * sizeof(*v));
		memcpy(room, b->room, b->n * b->columns * sizeof(*room));
	}
	b->v = v;
	b->room = room;
	b->cap = cap;
}

size_t bins_add(struct bins *b, const struct bin *bin, const int64_t *room)
{
	if (b->n == b->cap)
		grow(b);
	b->v[b->n] = *bin;
	memcpy(b->room + b->n * b->columns, room, b->columns * sizeof(*room));
	if (b->topology)
		topology_bin(b->topology, b->of, b->n, bin->labels);
	return b->n++;
}

const struct bin *bins_at(const struct bins *b, size_t at)
{
	return &b->v[at];
}

static uint64_t *wider(const uint64_t *old, size_t had, size_t words, struct arena *a)
{
	uint64_t *v = arena_calloc(a, words, sizeof(*v));

	if (had)
		memcpy(v, old, had * sizeof(*v));
	return v;
}

static void make_room(const struct bins *b, struct plan_class *c)
{
	const size_t words = b->cap / 64 + 1;

	if (c->words >= words)
		return;
	c->fit = wider(c->fit, c->words, words, b->a);
	for (size_t i = 0; i < c->nlevels; i++)
		c->level[i].bins = wider(c->level[i].bins, c->words, words, b->a);
	c->words = words;
}

/* The level of a score, made if it is new; highest first. */
static struct class_level *level_of(const struct bins *b, struct plan_class *c, int64_t score)
{
	struct class_level *v;
	size_t at = 0;

	while (at < c->nlevels && c->level[at].score > score)
		at++;
	if (at < c->nlevels && c->level[at].score == score)
		return &c->level[at];
	v = arena_calloc(b->a, c->nlevels + 1, sizeof(*v));
	if (c->nlevels) {
		memcpy(v, c->level, at * sizeof(*v));
		memcpy(v + at + 1, c->level + at, (c->nlevels - at) * sizeof(*v));
	}
	v[at] = (struct class_level){score, arena_calloc(b->a, c->words, sizeof(uint64_t))};
	c->level = v;
	c->nlevels++;
	return &v[at];
}

void bins_look(struct bins *b, struct plan_class *c)
{
	make_room(b, c);
	planning_charge(b->p, b->of, (b->n - c->seen) * c->cost);
	for (; c->seen < b->n; c->seen++) {
		const struct bin *bin = &b->v[c->seen];
		const uint64_t bit = (uint64_t)1 << c->seen % 64;
		const bool tainted = bin->taints->n, picky = c->pod->preferences.n || b->soft;

		if ((!c->any_label && !fit_labels(c->pod, bin->labels)) ||
		    !fit_runtime(c->pod, bin->pool))
			continue;
		if (b->topology)
			topology_admits_bin(b->topology, c, c->seen);
		if (bin->kind == PLAN_NOTHING || (tainted && fit_taints(c->pod, bin->taints)))
			continue;
		c->fit[c->seen / 64] |= bit;
		if (picky || c->nlevels)
			level_of(b, c, fit_score(c->pod, bin->labels, bin->taints))
				->bins[c->seen / 64] |= bit;
	}
}

static bool has_room(const struct bins *b, size_t at, const struct plan_class *c)
{
	const int64_t *room = b->room + at * b->columns;

	for (size_t i = 0; i < b->columns; i++)
		if (c->requests[i] > room[i] && c->requests[i])
			return false;
	return true;
}

static bool scan(const struct bins *b, struct plan_class *c, const uint64_t *only,
		 const struct topology_view *view, size_t *at)
{
	const size_t words = (b->n + 63) / 64;

	while (c->first < b->n / 64 &&
	       !c->fit[c->first]) /* bins may still come into the last word */
		c->first++;
	for (size_t w = c->first; w < words; w++) {
		uint64_t bits = c->fit[w] & (only ? only[w] : ~(uint64_t)0);

		if (bits && view)
			bits &= topology_word(view, w);
		for (; bits; bits &= bits - 1) {
			*at = w * 64 + (size_t)__builtin_ctzll(bits);
			if (!has_room(b, *at, c))
				c->fit[w] &= ~((uint64_t)1 << *at % 64);
			else if (!view || topology_bin_ok(view, *at))
				return true;
		}
	}
	return false;
}

bool bins_find(struct bins *b, struct plan_class *c, const struct topology_view *view, size_t *at)
{
	if (c->impossible || !b->n)
		return false;
	planning_charge(b->p, b->of, (b->n / 64 + 1) * (c->nlevels + 1));
	if (!c->nlevels)
		return scan(b, c, NULL, view, at);
	for (size_t i = 0; i < c->nlevels; i++)
		if (scan(b, c, c->level[i].bins, view, at))
			return true;
	return false;
}

bool bins_fits(struct bins *b, struct plan_class *c, const struct topology_view *view, size_t at)
{
	planning_charge(b->p, b->of, 2);
	return !c->impossible && c->fit[at / 64] >> at % 64 & 1 && has_room(b, at, c) &&
	       (!view ||
		(topology_word(view, at / 64) >> at % 64 & 1 && topology_bin_ok(view, at)));
}

void bins_take(struct bins *b, size_t at, const struct plan_class *c)
{
	int64_t *room = b->room + at * b->columns;

	for (size_t i = 0; i < b->columns; i++)
		room[i] -= c->requests[i];
}
