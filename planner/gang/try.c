#include "planner/gang/try.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/attachments.h"
#include "planner/gang/blocks.h"
#include "planner/cells.h"
#include "planner/fit.h"
#include "planner/supply/opening.h"
#include "planner/supply/overhead.h"
#include "planner/refusal.h"

/* Number of domains tried per topology level. The free room computed for a domain may be too high,
 * but seldom is; so a further domain is seldom needed. Each further attempt would delay all other
 * work. */
#define DOMAINS_TRIED 4

struct gang_pod {
	struct queued *q;
	size_t kind;
	/* 1 + index of the bin in which the pod is placed; 0: not placed. */
	size_t bin;
};
struct kind_state {
	/* Topology state of this attempt only; NULL: no topology constraint restricts the pods. */
	struct topology_cell *topology;
	/* Search position, used only for pods without topology constraints and preferences. block:
	 * index in the search order. bin: index in that block. fresh: index in gang_try.fresh. No
	 * bin before these positions has room. */
	size_t block, bin, fresh;
	bool out;
};
struct gang_try {
	struct planning *p;
	/* Arena of this search, freed at the end of the search. Results that outlive the search are
	 * in the plan's arena. */
	struct arena *a;
	struct plan_gang *g;
	struct plan_tenant *tenant;
	/* v: the n pods of the gang that were not placed before the search. placed: how many of
	 * them the present attempt has placed. */
	struct gang_pod *v;
	size_t n, placed;
	struct gang_kind *kinds;
	struct kind_state *states;
	size_t nkinds;
	struct blocks *blocks;
	/* Blocks (sets of candidate locations with equal topology labels, blocks.h) of the present
	 * attempt, in the order in which they are filled. */
	struct block **order;
	size_t norder;
	/* Bins of the claims that the present attempt opened. */
	struct block *fresh;
	/* True if the present attempt may open claims. */
	bool stock;
	/* Parameters and result of a look-ahead (search for a later time, try.h); NULL: this
	 * search is for the present time. */
	struct gang_ahead *ahead;
	/* State before the present attempt, to which undo() returns. */
	struct bins_mark *marks;
	size_t nbins, nclaims;
};

/* --- one pod ---------------------------------------------------------------------------------- */

/* Returns the best bin of block b, from index *from on; CAPACITY_TABLE_NONE: none. The best bin is
 * the one with the lowest preference level (bins_level()); only levels lower than *level count.
 * Writes that bin's level to *level and the next search position to *from. */
static size_t look_in(struct gang_try *t, const struct gang_pod *x, const struct block *b,
		      size_t *from, size_t *level)
{
	const struct plan_class *c = t->kinds[x->kind].cell->class_;
	struct topology_cell *topology = t->states[x->kind].topology;
	size_t best = CAPACITY_TABLE_NONE, has;

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

static bool find_bin(struct gang_try *t, const struct gang_pod *x, size_t *bin)
{
	struct kind_state *k = &t->states[x->kind];
	const bool plain = !k->topology && !t->kinds[x->kind].cell->class_->fit->nlevels;
	size_t level = SIZE_MAX, from = plain ? k->fresh : 0, found;

	*bin = look_in(t, x, t->fresh, &from, &level);
	k->fresh = from;
	if ((*bin != CAPACITY_TABLE_NONE && !level) || (t->ahead && t->ahead->anywhere))
		return *bin != CAPACITY_TABLE_NONE;
	for (size_t i = plain ? k->block : 0; i < t->norder && level; i++) {
		from = plain && i == k->block ? k->bin : 0;
		found = look_in(t, x, t->order[i], &from, &level);
		if (plain) {
			k->block = i;
			k->bin = from;
		}
		if (found != CAPACITY_TABLE_NONE)
			*bin = found;
	}
	return *bin != CAPACITY_TABLE_NONE;
}

struct machine_choice {
	const struct block_machines *from;
	struct supply_pool *pool;
	struct world_stock *machine;
	int64_t score;
	size_t serves;
};

/* True if the machine serves the gang's tenant now. The free room of such a machine is already
 * counted as a bin, so the machine must not count a second time as one that becomes free. */
static bool serves_us(const struct gang_try *t, const struct world_stock *s)
{
	return !s->m.offered && s->used == t->p->w->plan && str_eq(s->serves, t->tenant->it->name);
}

static int64_t until_of(const struct gang_try *t, bool first)
{
	const int64_t until = t->ahead ? t->ahead->until : 0;

	return first && until == SUPPLY_SOMETIME ? SUPPLY_SOMETIME - 1 : until;
}

/* Returns the option's next machine that is free (in a look-ahead: that will be free at the time
 * t->ahead->until), and advances m->next to its position; NULL: no machine is left. */
static struct world_stock *free_machine(const struct gang_try *t, const struct supply_pool *pool,
					struct block_machines *m)
{
	struct world_stock **v = t->ahead ? m->option->group->ahead : m->option->group->v;
	const size_t n = t->ahead ? m->option->group->nahead : m->option->group->n;

	/* A look-ahead passes over the list twice. The list is sorted by the machines' own free
	 * times, but a machine that is expected to go to another queue entry counts as free at an
	 * unknown time. So the first pass skips such a machine, and the second pass considers
	 * it. */
	for (; m->next < (t->ahead ? 2 * n : n); m->next++) {
		struct world_stock *s = v[m->next % n];

		if (supply_is_there(t->p, s, until_of(t, m->next < n)) &&
		    (!t->ahead ||
		     (s->tried != t->p->w->tries && (t->ahead->anywhere || !serves_us(t, s)))) &&
		    supply_wiped_enough(&s->m, pool->it))
			return s;
	}
	return NULL;
}

/* Returns the time at which the chosen machine is free (supply_free_at()). Returns 0 if this is no
 * look-ahead, or if no machine is chosen. */
static int64_t time_of(const struct gang_try *t, const struct machine_choice *c)
{
	return t->ahead && c->from ? supply_free_at(t->p, c->machine) : 0;
}

static bool is_better(const struct gang_try *t, const struct machine_choice *a,
		      const struct machine_choice *b)
{
	const int64_t at = time_of(t, a), other = time_of(t, b);

	if (b->from && t->ahead && t->ahead->anywhere && at != other)
		return at < other;
	if (!b->from || a->score != b->score)
		return !b->from || a->score > b->score;
	if (a->pool->it->weight == b->pool->it->weight &&
	    a->from->offer->provider->elastic != b->from->offer->provider->elastic)
		return b->from->offer->provider->elastic;
	if (a->from->pool != b->from->pool)
		return a->from->pool < b->from->pool;
	if (a->from->offer != b->from->offer)
		return supply_is_better(a->pool, a->from->offer, a->serves, b->from->offer,
					b->serves) ||
		       (!supply_is_better(a->pool, b->from->offer, b->serves, a->from->offer,
					  a->serves) &&
			a->from->offer < b->from->offer);
	if (at != other)
		return at < other;
	return supply_by_worth(&a->machine->m, &b->machine->m) < 0;
}

static void weigh(struct gang_try *t, const struct gang_pod *x, struct block_machines *m,
		  struct machine_choice *best)
{
	const struct plan_class *c = t->kinds[x->kind].cell->class_;
	struct topology_cell *topology = t->states[x->kind].topology;
	const size_t most = topology ? topology_on_one(topology) : SIZE_MAX;
	struct fit_pool *fp = &c->fit->pools[m->pool];
	struct machine_choice now = {.from = m, .pool = fp->pool};

	planning_charge(t->p, t->tenant, 2);
	if (!fp->n || !supply_has(fp->suits.options, (size_t)(m->option - fp->pool->options)) ||
	    !supply_fits(c, m->offer) || !supply_allowed(c, fp->pool, m->offer))
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
	now.serves = attachments_times_new(c, overhead_row(c->fit, m->offer));
	now.serves = now.serves < t->kinds[x->kind].left ? now.serves : t->kinds[x->kind].left;
	now.serves = now.serves < most ? now.serves : most;
	if (is_better(t, &now, best))
		*best = now;
}

static void note(struct gang_try *t, const struct machine_choice *c)
{
	struct gang_ahead *x = t->ahead;

	x->v = planning_wider(t->p->a, x->v, &x->cap, x->n + 1, sizeof(*x->v));
	c->machine->tried = t->p->w->tries;
	x->v[x->n++] = (struct gang_machine){c->pool, c->from->offer, c->machine};
}

/* Opens a claim for pod x on the best machine of the first block that has a suitable one; if
 * gang_ahead.anywhere is set, on the best machine of all blocks. *bin: index of the claim's bin.
 * False: no machine. */
static bool open_one(struct gang_try *t, const struct gang_pod *x, size_t *bin)
{
	struct plan_class *c = t->kinds[x->kind].cell->class_;
	struct machine_choice best = {0};
	struct supply_choice offer;

	for (size_t i = 0; i < c->fit->npools; i++)
		c->fit->pools[i].blocked = false;
	for (size_t i = 0; i < t->norder && (!best.from || (t->ahead && t->ahead->anywhere)); i++)
		for (size_t k = 0; k < t->order[i]->nmachines; k++)
			weigh(t, x, &t->order[i]->machines[k], &best);
	if (!best.from)
		return false;
	supply_take_this(t->p->supply, c, best.pool, best.from->offer, best.from->option,
			 best.machine, &offer);
	if (t->ahead)
		note(t, &best);
	*bin = opening_new(t->p, c, &offer);
	t->fresh->bins = planning_wider(t->a, t->fresh->bins, &t->fresh->bins_cap,
					t->fresh->nbins + 1, sizeof(*t->fresh->bins));
	t->fresh->bins[t->fresh->nbins++] = (uint32_t)*bin;
	return true;
}

static bool place(struct gang_try *t, struct gang_pod *x)
{
	const struct plan_cell *cell = t->kinds[x->kind].cell;
	struct kind_state *k = &t->states[x->kind];
	size_t bin;

	for (size_t i = 0; i < t->nkinds; i++)
		bins_check(t->tenant->bins, t->kinds[i].cell->class_->fit);
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

/* --- one attempt ------------------------------------------------------------------------------ */

static void begin(struct gang_try *t)
{
	for (size_t i = 0; i < t->nkinds; i++) {
		const struct plan_cell *c = t->kinds[i].cell;

		t->marks[i] = bins_mark(c->class_->fit);
		t->states[i] =
			(struct kind_state){.out = c->class_->impossible || c->class_->refused};
		if (c->topology)
			t->states[i].topology = topology_cell(t->p, c->class_, c->profile);
	}
	for (size_t i = 0; i < t->norder; i++)
		for (size_t k = 0; k < t->order[i]->nmachines; k++)
			t->order[i]->machines[k].next =
				t->ahead ? 0 : t->order[i]->machines[k].option->next;
	if (t->ahead) {
		t->ahead->n = 0;
		t->p->w->tries++;
	}
	t->fresh->nbins = 0;
	t->placed = 0;
	t->nbins = bins_count(t->tenant->bins);
	t->nclaims = t->p->plan->nclaims;
	supply_try(t->p->supply, !t->ahead);
	if (t->p->groups)
		groups_try(t->p->groups);
}

/* Rolls back the attempt. keeps true: pods that the attempt placed in bins of existing claims stay
 * there, so that their room is reserved for the gang. */
static void undo(struct gang_try *t, bool keeps)
{
	for (size_t i = t->n; i-- > 0;) {
		struct gang_pod *x = &t->v[i];

		if (x->bin && x->bin - 1 < t->nbins &&
		    !(keeps && bins_at(t->tenant->bins, x->bin - 1)->kind != PLAN_ON_NODE))
			/* mutant: gang-not-undone */
			bins_release(t->tenant->bins, x->bin - 1, t->kinds[x->kind].cell->class_);
		t->kinds[x->kind].left += x->bin != 0;
		x->bin = 0;
	}
	if (t->p->groups)
		groups_undo(t->p->groups);
	bins_truncate(t->tenant->bins, t->nbins, t->marks, t->nkinds);
	supply_undo(t->p->supply);
	t->p->plan->nclaims = t->nclaims;
}

static void keep(struct gang_try *t)
{
	supply_commit(t->p->supply);
	if (t->p->groups)
		groups_keep(t->p->groups);
	t->g->number = ++t->p->plan->ngangs;
	for (size_t i = t->nclaims; i < t->p->plan->nclaims; i++) {
		t->p->plan->claims[i].gang = t->g->number;
		t->p->plan->claims[i].gang_key = gang_key(t->g->it);
	}
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].q->seat = t->v[i].bin;
		if (t->v[i].bin && t->v[i].q != t->g->turn)
			cells_leave(t->v[i].q->cell);
	}
}

/* Places the pods, in rounds, until a round places none. Rounds are needed because a pod may have
 * to wait until another pod is placed that its affinity requires. */
static void place_all(struct gang_try *t)
{
	const size_t enough = t->ahead ? t->g->need : SIZE_MAX;
	bool more = true;

	while (more && !t->tenant->over) {
		more = false;
		for (size_t i = 0; i < t->n && t->placed < enough && !t->tenant->over; i++) {
			struct kind_state *k = &t->states[t->v[i].kind];

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
		       /* Only the side effect of open_one() is needed: it sets fit_pool.blocked
		        * where machines are free but excluded. */
		       &bin);
	supply_explain_try(t->p->supply, cell, &miss->reasons, &miss->nreasons);
}

static bool run(struct gang_try *t, struct block_span *s, bool stock, size_t levels,
		struct gang_miss *miss)
{
	blocks_order(t->blocks, s, levels, t->n);
	t->order = s->v;
	t->norder = s->n;
	t->stock = stock;
	begin(t);
	place_all(t);
	if (/* mutant: gang-in-parts */ t->placed >= t->g->need && !t->tenant->over) {
		if (t->ahead)
			undo(t, t->ahead->keeps);
		else
			keep(t);
		return true;
	}
	if (miss)
		tell(t, miss);
	undo(t, false);
	return false;
}

/* --- choice of a domain ----------------------------------------------------------------------- */

/* Compares spans: spans that need fewer new machines first, then smaller spans, then by label
 * value. */
static int by_worth(const void *x, const void *y)
{
	const struct block_span *a = x, *b = y;

	if (a->room != b->room)
		return a->room > b->room ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return strcmp(a->value, b->value);
}

/* Finds the topology domain in which the gang's placed pods are. *value: value of the level's
 * label on the nodes of all these pods; NULL if the values differ. False: no pod of the gang is
 * placed. */
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

static bool try_level(struct gang_try *t, const struct block_span *all, size_t level, bool stock)
{
	size_t n, tried = 0, enough = 0;
	struct block_span *s = blocks_spans(t->blocks, all, level, &n);
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
	struct block_span all;

	t->blocks = blocks_new(t->p, t->tenant, t->kinds, t->nkinds, stock,
			       t->ahead ? t->ahead->until : 0, t->a);
	all = blocks_all(t->blocks);
	if ((!stock && all.room < t->g->need) || (t->ahead && all.all < t->g->need))
		return false;
	for (size_t l = t->ahead && t->ahead->anywhere ? t->p->w->nlevels : 0;
	     l < t->p->w->nlevels && !t->tenant->over; l++)
		if (try_level(t, &all, l, stock))
			return true;
	return run(t, &all, stock, t->p->w->nlevels, miss);
}

/* --- entry points ----------------------------------------------------------------------------- */

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

/* True if this plan already failed to place a gang of equal pods that needed as many pods as this
 * gang or fewer. Room only shrinks during a plan, so this gang cannot be placed either. *miss: the
 * result of the earlier gang. */
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

static struct gang_try try_new(struct planning *p, struct plan_gang *g, struct arena *a)
{
	const bool may = !refusal_is_of_tenant(g->tenant->it);
	struct gang_try t = {.p = p,
			     .a = a,
			     .g = g,
			     .tenant = g->tenant,
			     .v = arena_calloc(a, g->want + 1, sizeof(*t.v)),
			     .kinds = arena_calloc(a, g->want + 1, sizeof(*t.kinds)),
			     .states = arena_calloc(a, g->want + 1, sizeof(*t.states)),
			     .marks = arena_calloc(a, g->want + 1, sizeof(*t.marks)),
			     .fresh = arena_new_obj(a, struct block)};

	for (size_t i = 0; i < g->n; i++)
		if (!g->v[i]->seat)
			t.v[t.n++] =
				(struct gang_pod){.q = g->v[i], .kind = kind_of(&t, g->v[i]->cell)};
	for (size_t i = 0; i < t.nkinds; i++) {
		bins_check(g->tenant->bins, t.kinds[i].cell->class_->fit);
		if (!may || t.kinds[i].cell->class_->refused)
			continue;
		supply_ask(p->supply, t.kinds[i].cell);
		(void)supply_ask_again(p->supply, t.kinds[i].cell);
	}
	return t;
}

bool gang_try(struct planning *p, struct plan_gang *g, struct gang_miss *miss)
{
	OWN(arena) a = arena_new();
	struct gang_try t = try_new(p, g, a);

	*miss = (struct gang_miss){0};
	if (try_all(&t, false, miss))
		return true;
	return !refusal_is_of_tenant(g->tenant->it) && !is_known(&t, miss) &&
	       (try_all(&t, true, miss) || !remember(&t, miss));
}

/* True if, in this plan, a look-ahead already failed for a gang of equal pods that needed as many
 * pods as this gang or fewer. Room and future machines only shrink during a plan, so a look-ahead
 * for this gang would fail, too. */
static bool is_hopeless(const struct gang_try *t)
{
	const struct plan_cell *c = t->kinds[0].cell;

	return t->nkinds == 1 && !c->topology && c->never_need && t->g->need >= c->never_need;
}

static bool despair(const struct gang_try *t)
{
	if (t->nkinds == 1 && !t->kinds[0].cell->topology && t->ahead->until == SUPPLY_SOMETIME &&
	    !t->ahead->anywhere)
		t->kinds[0].cell->never_need = t->g->need;
	return false;
}

/* Computes supply_group.ahead (the machines that are or will be free) for all options, that is
 * groups of equal machines, that the pods may use. */
static void look_ahead(const struct gang_try *t)
{
	for (size_t k = 0; k < t->nkinds; k++) {
		const struct plan_fit *f = t->kinds[k].cell->class_->fit;

		for (size_t i = 0; i < f->npools; i++)
			for (size_t o = 0; f->pools[i].n && o < f->pools[i].pool->noptions; o++)
				if (f->pools[i].pool->options[o].group)
					supply_forecast(t->p, f->pools[i].pool->options[o].group);
	}
}

bool gang_try_ahead(struct planning *p, struct plan_gang *g, struct gang_ahead *out)
{
	OWN(arena) a = arena_new();
	struct gang_try t = try_new(p, g, a);

	if (is_hopeless(&t))
		return false;
	t.ahead = out;
	look_ahead(&t);
	return try_all(&t, true, NULL) || despair(&t);
}
