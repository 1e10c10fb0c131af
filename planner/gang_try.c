#include "planner/gang_try.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/blocks.h"
#include "planner/cells.h"
#include "planner/fit.h"
#include "planner/opening.h"
#include "planner/refusal.h"

#define DOMAINS_TRIED                                                                              \
	4 /* of one level: what is counted is seldom wrong, and more tries cost all others' time */

struct pod {
	struct queued *q;
	size_t kind;
	size_t bin; /* + 1; 0: no place */
};
struct kind {
	struct topology_cell *topology; /* of this try alone; NULL: they may be anywhere */
	/* None before has room, where neither topology nor preferences say more. */
	size_t block, bin, fresh;
	bool out;
};
struct gang_try {
	struct planning *p;
	struct arena *a; /* until all tries are over: the plan's keeps what it has */
	struct plan_gang *g;
	struct plan_tenant *tenant;
	struct pod *v; /* who lacks a place */
	size_t n, placed;
	struct gang_kind *kinds;
	struct kind *states;
	size_t nkinds;
	struct blocks *blocks;
	struct block **order; /* of this try */
	size_t norder;
	struct block *fresh; /* bins of the claims that this try opened */
	bool stock;	     /* it may open some */
	/* As things were before: */
	struct bins_mark *marks;
	size_t nbins, nclaims;
};

/* --- one pod ------------------------------------------------------------------------------------- */

/* The first bin of a block, from there on, that suits best; ROOMS_NONE. */
static size_t look_in(struct gang_try *t, const struct pod *x, const struct block *b, size_t *from,
		      size_t *level)
{
	const struct plan_class *c = t->kinds[x->kind].cell->class_;
	struct topology_cell *topology = t->states[x->kind].topology;
	size_t best = ROOMS_NONE, has;

	for (; *from < b->nbins; ++*from) {
		if (!bins_level(t->tenant->bins, c, b->bins[*from], &has) || has >= *level)
			continue;
		if (topology && topology_bin(topology, b->bins[*from]) != TOPOLOGY_YES)
			continue;
		best = b->bins[*from];
		*level = has;
		if (!has)
			break;
	}
	return best;
}

static bool find_bin(struct gang_try *t, const struct pod *x, size_t *bin)
{
	struct kind *k = &t->states[x->kind];
	const bool plain = !k->topology && !t->kinds[x->kind].cell->class_->fit->nlevels;
	size_t level = SIZE_MAX, from = plain ? k->fresh : 0, found;

	*bin = look_in(t, x, t->fresh, &from, &level);
	k->fresh = from;
	if (*bin != ROOMS_NONE && !level)
		return true;
	for (size_t i = plain ? k->block : 0; i < t->norder && level; i++) {
		from = plain && i == k->block ? k->bin : 0;
		found = look_in(t, x, t->order[i], &from, &level);
		if (plain) {
			k->block = i;
			k->bin = from;
		}
		if (found != ROOMS_NONE)
			*bin = found;
	}
	return *bin != ROOMS_NONE;
}

struct choice {
	const struct block_machines *from;
	struct supply_pool *pool;
	struct world_stock *machine;
	int64_t score;
	size_t serves;
};

/* The next free machine; NULL: none is left. */
static struct world_stock *free_machine(const struct gang_try *t, const struct supply_pool *pool,
					struct block_machines *m)
{
	for (; m->next < m->option->group->n; m->next++) {
		struct world_stock *s = m->option->group->v[m->next];

		if (s->m.offered && s->used != t->p->w->plan &&
		    supply_wiped_enough(&s->m, pool->it))
			return s;
	}
	return NULL;
}

static bool is_better(const struct choice *a, const struct choice *b)
{
	if (!b->from || a->score != b->score)
		return !b->from || a->score > b->score;
	if (a->from->pool != b->from->pool)
		return a->from->pool < b->from->pool;
	if (a->from->line != b->from->line)
		return supply_is_cheaper(a->from->line, a->serves, b->from->line, b->serves) ||
		       (!supply_is_cheaper(b->from->line, b->serves, a->from->line, a->serves) &&
			a->from->line < b->from->line);
	return supply_by_worth(&a->machine->m, &b->machine->m) < 0;
}

static void weigh(struct gang_try *t, const struct pod *x, struct block_machines *m,
		  struct choice *best)
{
	const struct plan_class *c = t->kinds[x->kind].cell->class_;
	struct topology_cell *topology = t->states[x->kind].topology;
	const size_t most = topology ? topology_on_one(topology) : SIZE_MAX;
	struct fit_pool *fp = &c->fit->pools[m->pool];
	struct choice now = {.from = m, .pool = fp->pool};

	planning_charge(t->p, t->tenant, 2);
	if (!fp->n || !supply_has(fp->suits.options, (size_t)(m->option - fp->pool->options)) ||
	    !supply_fits(c, m->line) || !supply_allowed(c, fp->pool, m->line))
		return;
	now.machine = free_machine(t, fp->pool, m);
	if (!now.machine)
		return;
	if (topology && !topology_new_ok(topology, m->option->domains)) {
		fp->blocked = true;
		return;
	}
	if (c->fit->pod->preferences.n || t->p->soft)
		now.score = fit_score(c->fit->pod, &m->option->labels, &fp->pool->it->taints);
	now.serves = rooms_times(m->line->row, c->of_new);
	now.serves = now.serves < t->kinds[x->kind].left ? now.serves : t->kinds[x->kind].left;
	now.serves = now.serves < most ? now.serves : most;
	if (is_better(&now, best))
		*best = now;
}

/* Of the first block that has one. */
static bool open_one(struct gang_try *t, const struct pod *x, size_t *bin)
{
	struct plan_class *c = t->kinds[x->kind].cell->class_;
	struct choice best = {0};
	struct supply_offer offer;

	for (size_t i = 0; i < c->fit->npools; i++)
		c->fit->pools[i].blocked = false;
	for (size_t i = 0; i < t->norder && !best.from; i++)
		for (size_t k = 0; k < t->order[i]->nmachines; k++)
			weigh(t, x, &t->order[i]->machines[k], &best);
	if (!best.from)
		return false;
	supply_take_this(t->p->supply, c, best.pool, best.from->line, best.from->option,
			 best.machine, &offer);
	*bin = opening_new(t->p, c, &offer);
	t->fresh->bins = planning_wider(t->a, t->fresh->bins, &t->fresh->bins_cap,
					t->fresh->nbins + 1, sizeof(*t->fresh->bins));
	t->fresh->bins[t->fresh->nbins++] = (uint32_t)*bin;
	return true;
}

static bool place(struct gang_try *t, struct pod *x)
{
	const struct plan_cell *cell = t->kinds[x->kind].cell;
	struct kind *k = &t->states[x->kind];
	size_t bin;

	for (size_t i = 0; i < t->nkinds; i++)
		bins_look(t->tenant->bins, t->kinds[i].cell->class_->fit);
	if (k->topology && !topology_begin(k->topology))
		return false;
	if (!find_bin(t, x, &bin) && !(t->stock && open_one(t, x, &bin)))
		return false;
	opening_take(t->p, bin, cell);
	x->bin = bin + 1;
	t->kinds[x->kind].left--;
	t->placed++;
	return true;
}

/* --- one try ------------------------------------------------------------------------------------- */

static void begin(struct gang_try *t)
{
	for (size_t i = 0; i < t->nkinds; i++) {
		const struct plan_cell *c = t->kinds[i].cell;

		t->marks[i] = bins_mark(c->class_->fit);
		t->states[i] = (struct kind){.out = c->class_->impossible || c->class_->refused};
		if (c->topology)
			t->states[i].topology = topology_cell(t->p, c->class_, c->side);
	}
	for (size_t i = 0; i < t->norder; i++)
		for (size_t k = 0; k < t->order[i]->nmachines; k++)
			t->order[i]->machines[k].next = t->order[i]->machines[k].option->next;
	t->fresh->nbins = 0;
	t->placed = 0;
	t->nbins = bins_count(t->tenant->bins);
	t->nclaims = t->p->plan->nclaims;
	supply_try(t->p->supply);
	if (t->p->groups)
		groups_try(t->p->groups);
}

static void undo(struct gang_try *t)
{
	for (size_t i = t->n; i-- > 0;) {
		struct pod *x = &t->v[i];

		if (x->bin && x->bin - 1 < t->nbins)
			bins_give(t->tenant->bins, x->bin - 1, t->kinds[x->kind].cell->class_);
		t->kinds[x->kind].left += x->bin != 0;
		x->bin = 0;
	}
	if (t->p->groups)
		groups_undo(t->p->groups);
	bins_cut(t->tenant->bins, t->nbins, t->marks, t->nkinds);
	supply_undo(t->p->supply);
	t->p->plan->nclaims = t->nclaims;
}

static void keep(struct gang_try *t)
{
	supply_keep(t->p->supply);
	if (t->p->groups)
		groups_keep(t->p->groups);
	t->g->number = ++t->p->plan->ngangs;
	for (size_t i = t->nclaims; i < t->p->plan->nclaims; i++)
		t->p->plan->claims[i].gang = t->g->number;
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].q->seat = t->v[i].bin;
		if (t->v[i].bin && t->v[i].q != t->g->turn)
			cells_leave(t->v[i].q->cell);
	}
}

/* One may have to wait for another one that it wants to be with: rounds, until none in one of them is placed. */
static void place_all(struct gang_try *t)
{
	bool more = true;

	while (more && !t->tenant->over) {
		more = false;
		for (size_t i = 0; i < t->n && !t->tenant->over; i++) {
			struct kind *k = &t->states[t->v[i].kind];

			if (t->v[i].bin || k->out)
				continue;
			if (place(t, &t->v[i]))
				more = true;
			else
				k->out = !k->topology;
		}
	}
}

static void tell(struct gang_try *t, struct gang_miss *miss)
{
	const struct plan_cell *cell;
	struct topology_cell *topology;
	size_t i = 0, bin;

	while (i < t->n && t->v[i].bin)
		i++;
	if (i == t->n)
		return;
	cell = t->kinds[t->v[i].kind].cell;
	topology = t->states[t->v[i].kind].topology;
	miss->placed = t->placed;
	if (cell->class_->refused) {
		refusal_of_pod(t->p, cell->class_);
		miss->reasons = cell->class_->reasons;
		miss->nreasons = cell->class_->nreasons;
		return;
	}
	if (topology)
		(void)topology_begin(topology);
	(void)open_one(t, &t->v[i],
		       &bin); /* says in which pools machines are, and may not be used */
	supply_tell_try(t->p->supply, cell, &miss->reasons, &miss->nreasons);
}

static bool run(struct gang_try *t, struct span *s, bool stock, size_t levels,
		struct gang_miss *miss)
{
	blocks_order(t->blocks, s, levels, t->n);
	t->order = s->v;
	t->norder = s->n;
	t->stock = stock;
	begin(t);
	place_all(t);
	if (t->placed >= t->g->need && !t->tenant->over) {
		keep(t);
		return true;
	}
	if (miss)
		tell(t, miss);
	undo(t);
	return false;
}

/* --- which domain -------------------------------------------------------------------------------- */

/* Fewer new machines, then smaller; spans came by value. */
static int by_worth(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	if (a->room != b->room)
		return a->room > b->room ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return strcmp(a->value, b->value);
}

/* Where those stand that have their places: the value of a level that all of them have; false: they have none. */
static bool stand(const struct gang_try *t, size_t level, const char **value)
{
	const char *key = t->p->w->levels[level];
	bool any = false;

	*value = NULL;
	for (const struct world_member *m = t->g->it->first; m; m = m->after) {
		const struct world_host *h = NULL;
		const char *v;

		if (!m->pod->node || m->pod->terminating)
			continue;
		h = world_find(t->p->w->nodes,
			       arena_printf(t->a, "%s/%s", m->pod->tenant, m->pod->node));
		v = h ? labels_get(&h->node.labels, key) : NULL;
		*value = any && !str_eq(*value, v) ? NULL : v;
		any = true;
		if (!*value)
			return true;
	}
	for (size_t i = 0; i < t->g->n; i++) {
		const char *v;

		if (!t->g->v[i]->seat)
			continue;
		v = labels_get(bins_at(t->tenant->bins, t->g->v[i]->seat - 1)->labels, key);
		*value = any && !str_eq(*value, v) ? NULL : v;
		any = true;
		if (!*value)
			return true;
	}
	return any;
}

static bool try_level(struct gang_try *t, const struct span *all, size_t level, bool stock)
{
	size_t n, tried = 0, enough = 0;
	struct span *s = blocks_spans(t->blocks, all, level, &n);
	const char *value;
	const bool stands = stand(t, level, &value);

	for (size_t i = 0; i < n; i++)
		if (s[i].value && (stock ? s[i].all : s[i].room) >= t->g->need &&
		    (!stands || str_eq(s[i].value, value)))
			s[enough++] = s[i];
	qsort(s, enough, sizeof(*s), by_worth);
	for (; tried < enough && tried < DOMAINS_TRIED && !t->tenant->over; tried++)
		if (run(t, &s[tried], stock, level, NULL))
			return true;
	return false;
}

static bool try_all(struct gang_try *t, bool stock, struct gang_miss *miss)
{
	struct span all;

	t->blocks = blocks_new(t->p, t->tenant, t->kinds, t->nkinds, stock, t->a);
	all = blocks_all(t->blocks);
	if (!stock && all.room < t->g->need)
		return false;
	for (size_t l = 0; l < t->p->w->nlevels && !t->tenant->over; l++)
		if (try_level(t, &all, l, stock))
			return true;
	return run(t, &all, stock, t->p->w->nlevels, miss);
}

/* --- whose --------------------------------------------------------------------------------------- */

static size_t kind_of(struct gang_try *t, struct plan_cell *c)
{
	size_t i = 0;

	while (i < t->nkinds && t->kinds[i].cell != c)
		i++;
	if (i == t->nkinds)
		t->kinds[t->nkinds++] = (struct gang_kind){.cell = c};
	planning_charge(t->p, t->tenant, 1 + i);
	t->kinds[i].left++;
	return i;
}

/* Room only shrinks: what was too little for a gang of such pods is so for one that is as large. */
static bool is_known(const struct gang_try *t, struct gang_miss *miss)
{
	const struct plan_cell *c = t->kinds[0].cell;

	if (t->nkinds > 1 || c->topology || !c->missed || t->g->need < c->missed_need)
		return false;
	*miss = *c->missed;
	return true;
}

static bool remember(const struct gang_try *t, const struct gang_miss *miss)
{
	struct plan_cell *c = t->kinds[0].cell;
	struct gang_miss *copy;

	if (t->nkinds > 1 || c->topology)
		return true;
	copy = arena_new_obj(t->p->a, struct gang_miss);
	*copy = *miss;
	c->missed = copy;
	c->missed_need = t->g->need;
	return true;
}

bool gang_try(struct planning *p, struct plan_gang *g, struct gang_miss *miss)
{
	const bool may = !refusal_is_of_tenant(g->tenant->it);
	OWN(arena) a = arena_new();
	struct gang_try t = {.p = p,
			     .a = a,
			     .g = g,
			     .tenant = g->tenant,
			     .v = arena_calloc(a, g->want + 1, sizeof(*t.v)),
			     .kinds = arena_calloc(a, g->want + 1, sizeof(*t.kinds)),
			     .states = arena_calloc(a, g->want + 1, sizeof(*t.states)),
			     .marks = arena_calloc(a, g->want + 1, sizeof(*t.marks)),
			     .fresh = arena_new_obj(a, struct block)};

	*miss = (struct gang_miss){0};
	for (size_t i = 0; i < g->n; i++)
		if (!g->v[i]->seat)
			t.v[t.n++] = (struct pod){.q = g->v[i], .kind = kind_of(&t, g->v[i]->cell)};
	for (size_t i = 0; i < t.nkinds; i++) {
		bins_look(g->tenant->bins, t.kinds[i].cell->class_->fit);
		if (!may || t.kinds[i].cell->class_->refused)
			continue;
		supply_ask(p->supply, t.kinds[i].cell);
		(void)supply_ask_again(p->supply, t.kinds[i].cell);
	}
	if (try_all(&t, false, miss))
		return true;
	return may && !is_known(&t, miss) && (try_all(&t, true, miss) || !remember(&t, miss));
}
