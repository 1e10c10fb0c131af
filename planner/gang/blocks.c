#include "planner/gang/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "planner/attachments.h"

/* --- collecting blocks ------------------------------------------------------------------------ */

static struct block *block_of(struct blocks *b, struct map *by_text, const struct labels *l)
{
	struct world *w = b->p->w;
	const char *value[WORLD_LEVELS];
	struct block *x;

	world_text_clear(w);
	for (size_t i = 0; i < w->nlevels; i++) {
		value[i] = labels_get(l, w->levels[i]);
		world_text_add(w, value[i]);
	}
	planning_charge(b->p, b->tenant, 2 + 2 * w->nlevels);
	x = map_get(by_text, w->text);
	if (x)
		return x;
	x = arena_new_obj(b->a, struct block);
	memcpy(x->value, value, w->nlevels * sizeof(*value));
	map_put(by_text, w->text, x);
	return x;
}

static void add_bin(struct blocks *b, struct map *by_text, uint32_t at)
{
	struct block *x = block_of(b, by_text, bins_at(b->tenant->bins, at)->labels);

	for (size_t k = 0; k < b->nkinds && k < BLOCK_KINDS; k++) {
		const size_t n = bins_times(b->tenant->bins, b->kinds[k].cell->class_, at);

		x->room[k] += n < SIZE_MAX / 4 - x->room[k] ? n : 0;
	}
	planning_charge(b->p, b->tenant, b->nkinds);
	x->bins = planning_wider(b->a, x->bins, &x->bins_cap, x->nbins + 1, sizeof(*x->bins));
	x->bins[x->nbins++] = at;
}

/* Adds to the blocks each bin that has room for at least one pod of at least one kind (struct
 * gang_kind). */
static void add_bins(struct blocks *b, struct map *by_text)
{
	const size_t n = bins_count(b->tenant->bins);
	size_t *next = arena_calloc(b->a, b->nkinds, sizeof(*next)), at = 0;

	for (size_t k = 0; k < b->nkinds; k++)
		next[k] = bins_next(b->tenant->bins, b->kinds[k].cell, 0);
	for (;;) {
		at = n;
		for (size_t k = 0; k < b->nkinds; k++)
			at = next[k] < at ? next[k] : at;
		if (at == n)
			return;
		add_bin(b, by_text, (uint32_t)at);
		for (size_t k = 0; k < b->nkinds; k++)
			if (next[k] == at)
				next[k] = bins_next(b->tenant->bins, b->kinds[k].cell, at + 1);
	}
}

static size_t count_free(struct blocks *b, const struct supply_pool *pool,
			 const struct supply_option *o)
{
	const size_t first = b->until ? 0 : o->next;
	size_t n = 0;

	planning_charge(b->p, b->tenant, o->group->n - first);
	for (size_t i = first; i < o->group->n; i++) {
		const struct world_stock *m = o->group->v[i];

		n += supply_is_there(b->p, m, b->until) && supply_wiped_enough(&m->m, pool->it);
	}
	return n;
}

static void add_option(struct blocks *b, struct map *by_text, size_t pool,
		       struct supply_type_offer *l, size_t option)
{
	struct supply_pool *sp = b->kinds[0].cell->class_->fit->pools[pool].pool;
	struct supply_option *o = &sp->options[option];
	struct block *x = NULL;
	size_t machines = 0;

	for (size_t k = 0; k < b->nkinds; k++) {
		const struct plan_class *c = b->kinds[k].cell->class_;
		size_t n;

		planning_charge(b->p, b->tenant, 2);
		if (c->impossible || c->refused || !c->fit->pools[pool].n ||
		    !supply_has(c->fit->pools[pool].suits.options, option))
			continue;
		n = attachments_times_new(c, l->row);
		if (n && !x) {
			machines = b->until || supply_free_machine(b->p, sp, o)
					   ? count_free(b, sp, o)
					   : 0;
			if (!machines)
				return;
			x = block_of(b, by_text, &o->labels);
		}
		if (k < BLOCK_KINDS && n)
			x->stock[k] += n > SIZE_MAX / 4 / machines ? SIZE_MAX / 4 : n * machines;
	}
	if (!x)
		return;
	x->machines = planning_wider(b->a, x->machines, &x->machines_cap, x->nmachines + 1,
				     sizeof(*x->machines));
	x->machines[x->nmachines++] = (struct block_machines){pool, l, o, o->next};
}

/* Adds the free machines to the blocks. Reads only the pools of the first kind of pods, because the
 * pods of all kinds belong to one tenant and so have the same pools. */
static void add_stock(struct blocks *b, struct map *by_text)
{
	const struct plan_fit *f = b->kinds[0].cell->class_->fit;

	for (size_t i = 0; i < f->npools; i++)
		for (size_t k = 0; f->pools[i].suits.options && k < f->pools[i].pool->noffers;
		     k++) {
			struct supply_type_offer *l = &f->pools[i].pool->offers[k];

			for (size_t o = l->first; o < l->first + l->noptions; o++)
				if (f->pools[i].pool->options[o].group)
					add_option(b, by_text, i, l, o);
		}
}

static int by_values(const void *x, const void *y)
{
	const struct block *a = *(struct block *const *)x, *b = *(struct block *const *)y;

	for (size_t i = WORLD_LEVELS; i-- > 0;) {
		const int c = !a->value[i] || !b->value[i] ? !a->value[i] - !b->value[i]
							   : strcmp(a->value[i], b->value[i]);

		if (c)
			return c;
	}
	return 0;
}

struct blocks *blocks_new(struct planning *p, struct plan_tenant *t, const struct gang_kind *kinds,
			  size_t nkinds, bool stock, int64_t until, struct arena *a)
{
	struct blocks *b = arena_new_obj(a, struct blocks);
	OWN(map) by_text = map_new(NULL);
	struct map_iter it;

	*b = (struct blocks){
		.p = p, .a = a, .tenant = t, .kinds = kinds, .nkinds = nkinds, .until = until};
	add_bins(b, by_text);
	if (stock)
		add_stock(b, by_text);
	b->v = arena_calloc(a, map_size(by_text) + 1, sizeof(struct block *));
	map_for_each (it, by_text)
		b->v[b->n++] = it.value;
	qsort(b->v, b->n, sizeof(struct block *), by_values);
	return b;
}

/* --- spans (sets of blocks with the same value of one topology level) ------------------------- */

static void measure(const struct blocks *b, struct block_span *s)
{
	for (size_t k = 0; k < b->nkinds; k++) {
		const size_t left = b->kinds[k].left;
		size_t room = 0, stock = 0;

		for (size_t i = 0; k < BLOCK_KINDS && i < s->n; i++) {
			room = room < SIZE_MAX / 4 ? room + s->v[i]->room[k] : room;
			stock = stock < SIZE_MAX / 4 ? stock + s->v[i]->stock[k] : stock;
		}
		s->room += room < left && k < BLOCK_KINDS ? room : left;
		s->all += room + stock < left && k < BLOCK_KINDS ? room + stock : left;
		s->size = s->size < SIZE_MAX / 4 ? s->size + room + stock : s->size;
	}
	planning_charge(b->p, b->tenant, s->n * b->nkinds);
}

struct block_span blocks_all(const struct blocks *b)
{
	struct block_span s = {.v = b->v, .n = b->n};

	measure(b, &s);
	return s;
}

struct placed {
	const char *value;
	size_t at;
	struct block *block;
};

static int by_value(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;
	const int c = !a->value || !b->value ? !a->value - !b->value : strcmp(a->value, b->value);

	return c ? c : a->at < b->at ? -1 : a->at > b->at;
}

struct block_span *blocks_spans(const struct blocks *b, const struct block_span *of, size_t level,
				size_t *n)
{
	struct placed *v = arena_calloc(b->a, of->n + 1, sizeof(*v));
	struct block_span *spans = arena_calloc(b->a, of->n + 1, sizeof(*spans)), *s = NULL;
	struct block **all = arena_calloc(b->a, of->n + 1, sizeof(struct block *));

	for (size_t i = 0; i < of->n; i++)
		v[i] = (struct placed){of->v[i]->value[level], i, of->v[i]};
	qsort(v, of->n, sizeof(*v), by_value);
	planning_charge(b->p, b->tenant, 4 * of->n);
	*n = 0;
	for (size_t i = 0; i < of->n; i++) {
		all[i] = v[i].block;
		if (!s || !str_eq(s->value, v[i].value)) {
			s = &spans[(*n)++];
			*s = (struct block_span){.value = v[i].value, .v = &all[i]};
		}
		s->n++;
	}
	for (size_t i = 0; i < *n; i++)
		measure(b, &spans[i]);
	return spans;
}

/* True if span a is to be filled before span b when `pods` pods remain: first spans with room for
 * all of them, the smallest first; then the others, the largest first. */
static bool is_before(const struct block_span *a, const struct block_span *b, size_t pods)
{
	const bool whole = a->all >= pods, other = b->all >= pods;

	if (whole != other)
		return whole;
	if (!whole && a->all != b->all)
		return a->all > b->all;
	return whole ? a->size < b->size : a->size > b->size;
}

void blocks_order(const struct blocks *b, struct block_span *s, size_t levels, size_t pods)
{
	struct block **out;
	struct block_span *spans;
	size_t n, at = 0;

	if (!levels || s->n < 2)
		return;
	spans = blocks_spans(b, s, levels - 1, &n);
	out = arena_calloc(b->a, s->n, sizeof(struct block *));
	while (n) {
		size_t best = 0;

		planning_charge(b->p, b->tenant, n);
		for (size_t i = 1; pods && i < n; i++)
			if (is_before(&spans[i], &spans[best], pods))
				best = i;
		blocks_order(b, &spans[best], levels - 1, pods);
		for (size_t i = 0; i < spans[best].n; i++)
			out[at++] = spans[best].v[i];
		pods -= spans[best].all < pods ? spans[best].all : pods;
		n--;
		for (size_t i = best; i < n; i++)
			spans[i] = spans[i + 1];
	}
	s->v = out;
}
