#include <string.h>

#include "base/str.h"
#include "planner/attachments.h"
#include "planner/bins.h"
#include "planner/fit.h"

struct bins {
	struct planning *p;
	struct arena *a;
	/* True if a pod of the tenant has topology constraints. bins_add() then records the domains
	 * of each bin. */
	bool topology;
	struct plan_tenant *of;
	struct bin *v;
	struct capacity_table *capacity_table;
	/* Shared volumes that are attached to the bins; NULL: no waiting pod of the tenant has
	 * shared volumes. */
	struct attachments *attachments;
	size_t n, cap;
	/* True if a node, a claim or a pool has a PreferNoSchedule taint. Then also pods without
	 * preferences need a score per bin. */
	bool soft;
};

/* Search position of a cell (set of interchangeable pods) among the bins (candidate nodes) of one
 * preference score. */
struct cursor {
	int64_t score;
	/* Index of the first bin that is not excluded for good. Bins before this index are skipped
	 * in all later searches. */
	size_t never;
	/* Index of the first bin that is not excluded at present. Bins before this index are
	 * skipped while topology_epoch() equals `epoch`. */
	size_t now;
	uint64_t epoch;
	/* By topology domain, if a spread has at most TOPOLOGY_FEW domains: index of the domain's
	 * first bin that is not excluded for good. */
	uint32_t *few;
};

struct bins *bins_new(struct planning *p, struct plan_tenant *of)
{
	struct bins *b = arena_new_obj(p->a, struct bins);

	*b = (struct bins){.p = p,
			   .a = p->a,
			   .of = of,
			   .soft = p->soft,
			   .topology = of->topology != NULL,
			   .capacity_table = capacity_table_new(p->a, p->ncolumns),
			   .attachments = attachments_new(p, of)};
	return b;
}

size_t bins_add(struct bins *b, const struct bin *bin, const int64_t *room)
{
	b->v = planning_wider(b->a, b->v, &b->cap, b->n + 1, sizeof(*b->v));
	b->v[b->n] = *bin;
	(void)capacity_table_add(b->capacity_table, room);
	if (b->topology)
		groups_bin(b->p->groups, b->of, b->n, bin->labels, bin->taints);
	return b->n++;
}

void bins_load(struct bins *b, size_t at, const struct world_load *l)
{
	attachments_load(b->attachments, at, l);
}

const struct bin *bins_at(const struct bins *b, size_t at)
{
	return &b->v[at];
}

/* --- which bins suit a fit (pods that differ only in their requests) -------------------------- */

static uint64_t *wider(const uint64_t *old, size_t had, size_t words, struct arena *a)
{
	uint64_t *v = arena_calloc(a, words, sizeof(*v));

	if (had)
		memcpy(v, old, had * sizeof(*v));
	return v;
}

static void make_room(const struct bins *b, struct plan_fit *f)
{
	const size_t words = b->cap / 64 + 1;

	if (f->words >= words)
		return;
	f->bins = wider(f->bins, f->words, words, b->a);
	for (size_t i = 0; i < f->nlevels; i++)
		f->level[i].bins = wider(f->level[i].bins, f->words, words, b->a);
	f->words = words;
}

/* Returns the level of f (its set of bins with one preference score) that has this score, created
 * if missing. Levels are sorted, highest score first. */
static struct fit_level *level_of(const struct bins *b, struct plan_fit *f, int64_t score)
{
	struct fit_level *v;
	size_t at = 0;

	while (at < f->nlevels && f->level[at].score > score)
		at++;
	if (at < f->nlevels && f->level[at].score == score)
		return &f->level[at];
	v = arena_calloc(b->a, f->nlevels + 1, sizeof(*v));
	if (f->nlevels) {
		memcpy(v, f->level, at * sizeof(*v));
		memcpy(v + at + 1, f->level + at, (f->nlevels - at) * sizeof(*v));
	}
	v[at] = (struct fit_level){score, arena_calloc(b->a, f->words, sizeof(uint64_t))};
	f->level = v;
	f->nlevels++;
	return &v[at];
}

void bins_check(struct bins *b, struct plan_fit *f)
{
	make_room(b, f);
	planning_charge(b->p, b->of, (b->n - f->seen) * f->cost);
	for (; f->seen < b->n; f->seen++) {
		const struct bin *bin = &b->v[f->seen];
		const uint64_t bit = (uint64_t)1 << f->seen % 64;
		const bool tainted = bin->taints->n, picky = f->pod->preferences.n || b->soft;

		if ((!f->any_label && !fit_labels(f->pod, bin->labels)) ||
		    !fit_runtime(f->pod, bin->pool))
			continue;
		if (bin->permit && !str_eq(bin->permit, f->pod->permit))
			continue;
		if (bin->kind == PLAN_NOTHING || (tainted && fit_taints(f->pod, bin->taints)))
			continue;
		f->bins[f->seen / 64] |= bit;
		if (picky || f->nlevels)
			level_of(b, f, fit_score(f->pod, bin->labels, bin->taints))
				->bins[f->seen / 64] |= bit;
	}
}

/* --- the first bin that fits ------------------------------------------------------------------ */

static size_t next_bit(const uint64_t *bits, size_t from, size_t n)
{
	size_t word = from / 64;
	uint64_t rest;

	if (from >= n)
		return n;
	rest = bits[word] & ~(uint64_t)0 << from % 64;
	while (!rest && ++word < (n + 63) / 64)
		rest = bits[word];
	return rest ? word * 64 + (size_t)__builtin_ctzll(rest) : n;
}

/* True if bin `at`, which has room for the class apart from shared volumes, has enough attachments
 * left for those shared volumes of the class that are not attached to the bin yet. */
static bool has_attachments(struct bins *b, const struct plan_class *c, size_t at)
{
	const int64_t *row = capacity_table_row(b->capacity_table, at);
	uint64_t steps = 0;
	bool has = true;

	for (size_t i = 0; has && i < c->nshared; i++) {
		const struct plan_shared *s = &c->shared[i];
		const int64_t needs =
			s->own + (int64_t)attachments_missing(b->attachments, at, s, &steps);

		has = !needs || row[s->column] >= needs;
	}
	planning_charge(b->p, b->of, steps);
	return has;
}

static bool has_room(struct bins *b, const struct plan_class *c, size_t at)
{
	return capacity_table_fit(b->capacity_table, at, c->asks) &&
	       (!c->nshared || has_attachments(b, c, at));
}

/* Returns the index of the first bin, from index `from` on, that is in bit set `bits` and has room
 * for one pod of cell c (a set of interchangeable pods); b->n if there is none. Ignores topology
 * constraints. */
static size_t next(struct bins *b, const struct plan_cell *c, const uint64_t *bits, size_t from)
{
	uint64_t steps = 1;
	size_t at = from;

	for (;;) {
		const size_t bit = next_bit(bits, at, b->n);

		steps += (bit - at) / 64;
		at = bit < b->n
			     ? capacity_table_next(b->capacity_table, bit, c->class_->asks, &steps)
			     : CAPACITY_TABLE_NONE;
		if (at == CAPACITY_TABLE_NONE)
			break;
		if (at == bit && (!c->class_->nshared || has_attachments(b, c->class_, at)))
			break;
		at += at == bit;
	}
	planning_charge(b->p, b->of, steps);
	return at == CAPACITY_TABLE_NONE ? b->n : at;
}

static struct cursor *cursor_of(const struct bins *b, struct plan_cell *c, int64_t score)
{
	struct cursor *v;

	for (size_t i = 0; i < c->ncursors; i++)
		if (c->cursors[i].score == score)
			return &c->cursors[i];
	v = arena_calloc(b->a, c->ncursors + 1, sizeof(*v));
	if (c->ncursors)
		memcpy(v, c->cursors, c->ncursors * sizeof(*v));
	v[c->ncursors].score = score;
	c->cursors = v;
	return &v[c->ncursors++];
}

static bool find_anywhere(struct bins *b, const struct plan_cell *c, const uint64_t *bits,
			  struct cursor *cur, size_t *at)
{
	*at = cur->never = next(b, c, bits, cur->never);
	return *at < b->n;
}

/* Finds the first admissible bin, with topology constraints. Skips the bins that cursor *cur
 * records as excluded for good or in this epoch, and advances *cur. */
static bool find_in_epoch(struct bins *b, const struct plan_cell *c, const uint64_t *bits,
			  struct cursor *cur, size_t *at)
{
	bool clean;

	if (cur->epoch != topology_epoch(c->topology)) {
		cur->epoch = topology_epoch(c->topology);
		cur->now = cur->never;
	}
	clean = cur->now == cur->never;
	for (size_t i = cur->now;; i++) {
		enum topology_answer answer;

		i = next(b, c, bits, i);
		answer = i < b->n ? topology_bin(c->topology, i) : TOPOLOGY_YES;
		if (clean)
			cur->never = i;
		if (answer == TOPOLOGY_YES) {
			*at = cur->now = i;
			return i < b->n;
		}
		clean &= answer == TOPOLOGY_NEVER;
	}
}

/* Finds the first admissible bin, with one search position per domain (cur->few) of a spread with
 * few domains. The search begins at the lowest of the positions of the admitted domains. */
static bool find_in_few(struct bins *b, const struct plan_cell *c, const uint64_t *bits,
			struct cursor *cur, int key, uint64_t admitted, size_t *at)
{
	/* Bit set of domains that contain a bin which is excluded now, but not for good. The
	 * domain's search position stays at that bin, so that a later search checks it again. */
	uint64_t kept = 0;
	size_t i = b->n;

	if (!cur->few)
		cur->few = arena_calloc(b->a, TOPOLOGY_FEW, sizeof(*cur->few));
	for (uint64_t left = admitted; left; left &= left - 1)
		if (cur->few[__builtin_ctzll(left)] < i)
			i = cur->few[__builtin_ctzll(left)];
	for (;; i++) {
		enum topology_answer answer;
		int d;

		i = next(b, c, bits, i);
		if (i == b->n)
			break;
		d = domains_of_bin(b->of, key, i);
		if (d < 0 || !(admitted >> d & 1) || i < cur->few[d])
			continue;
		answer = topology_bin(c->topology, i);
		if (answer == TOPOLOGY_YES)
			break;
		if (answer == TOPOLOGY_NOT_NOW && !(kept >> d & 1)) {
			kept |= (uint64_t)1 << d;
			cur->few[d] = (uint32_t)i;
		}
	}
	for (uint64_t left = admitted & ~kept; left; left &= left - 1)
		if (cur->few[__builtin_ctzll(left)] < i)
			cur->few[__builtin_ctzll(left)] = (uint32_t)i;
	*at = i;
	return i < b->n;
}

static bool find_listed(struct bins *b, const struct plan_cell *c, const uint64_t *bits, size_t *at)
{
	size_t i = 0, k = 0, bin;

	*at = b->n;
	while (topology_list(c->topology, &i, &k, &bin)) {
		planning_charge(b->p, b->of, 2);
		if (bin < *at && bits[bin / 64] >> bin % 64 & 1 && has_room(b, c->class_, bin) &&
		    topology_bin(c->topology, bin) == TOPOLOGY_YES)
			*at = bin;
	}
	return *at < b->n;
}

static bool find(struct bins *b, struct plan_cell *c, const uint64_t *bits, int64_t score,
		 size_t *at)
{
	struct cursor *cur = cursor_of(b, c, score);
	uint64_t admitted;
	int key;

	if (!c->topology)
		return find_anywhere(b, c, bits, cur, at);
	if (topology_is_listed(c->topology))
		return find_listed(b, c, bits, at);
	key = topology_few(c->topology, &admitted);
	return key >= 0 ? find_in_few(b, c, bits, cur, key, admitted, at)
			: find_in_epoch(b, c, bits, cur, at);
}

bool bins_find(struct bins *b, struct plan_cell *c, size_t *at)
{
	const struct plan_fit *f = c->class_->fit;

	if (c->class_->impossible || !b->n)
		return false;
	if (c->released != b->of->released) {
		c->released = b->of->released;
		c->ncursors = 0;
	}
	if (!f->nlevels)
		return find(b, c, f->bins, 0, at);
	for (size_t i = 0; i < f->nlevels; i++)
		if (find(b, c, f->level[i].bins, f->level[i].score, at))
			return true;
	return false;
}

bool bins_suits(const struct plan_fit *f, size_t at)
{
	return f->bins[at / 64] >> at % 64 & 1;
}

bool bins_fits(struct bins *b, const struct plan_cell *c, size_t at)
{
	planning_charge(b->p, b->of, 2);
	return !c->class_->impossible && bins_suits(c->class_->fit, at) &&
	       has_room(b, c->class_, at) &&
	       (!c->topology || topology_bin(c->topology, at) == TOPOLOGY_YES);
}

void bins_take(struct bins *b, size_t at, const struct plan_class *c)
{
	capacity_table_subtract(b->capacity_table, at, c->asks);
	if (c->nshared)
		capacity_table_subtract(b->capacity_table, at,
					attachments_take(b->attachments, at, c));
}

bool bins_reserve(struct bins *b, size_t at, struct asks asks)
{
	if (!capacity_table_fit(b->capacity_table, at, asks))
		return false;
	capacity_table_subtract(b->capacity_table, at, asks);
	return true;
}

void bins_unreserve(struct bins *b, size_t at, struct asks asks)
{
	capacity_table_restore(b->capacity_table, at, asks);
}

const int64_t *bins_room(const struct bins *b, size_t at)
{
	return capacity_table_row(b->capacity_table, at);
}

void bins_close(struct bins *b, size_t at)
{
	capacity_table_close(b->capacity_table, at);
}

/* --- gangs and rollback ----------------------------------------------------------------------- */

size_t bins_count(const struct bins *b)
{
	return b->n;
}

size_t bins_next(struct bins *b, const struct plan_cell *c, size_t from)
{
	return from < b->n && !c->class_->impossible ? next(b, c, c->class_->fit->bins, from)
						     : b->n;
}

size_t bins_times(const struct bins *b, const struct plan_class *c, size_t at)
{
	const int64_t *row = capacity_table_row(b->capacity_table, at);

	return bins_suits(c->fit, at) ? attachments_times(b->attachments, c, at, row) : 0;
}

bool bins_level(struct bins *b, const struct plan_class *c, size_t at, size_t *level)
{
	const struct plan_fit *f = c->fit;

	planning_charge(b->p, b->of, 1);
	*level = 0;
	if (!bins_suits(f, at) || !has_room(b, c, at))
		return false;
	while (*level < f->nlevels && !(f->level[*level].bins[at / 64] >> at % 64 & 1))
		++*level;
	return true;
}

void bins_release(struct bins *b, size_t at, const struct plan_class *c)
{
	capacity_table_restore(b->capacity_table, at, c->asks);
	if (c->nshared)
		capacity_table_restore(b->capacity_table, at,
				       attachments_release(b->attachments, at, c));
}

struct bins_mark bins_mark(struct plan_fit *f)
{
	return (struct bins_mark){f, f->seen};
}

static void forget(uint64_t *bits, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		bits[i / 64] &= ~((uint64_t)1 << i % 64);
}

static void unlook(const struct bins_mark *m)
{
	struct plan_fit *f = m->fit;

	forget(f->bins, m->seen, f->seen);
	for (size_t i = 0; i < f->nlevels; i++)
		forget(f->level[i].bins, m->seen, f->seen);
	f->seen = m->seen;
}

void bins_truncate(struct bins *b, size_t n, const struct bins_mark *m, size_t nmarks)
{
	for (size_t i = 0; i < nmarks; i++)
		unlook(&m[i]);
	while (b->n > n) {
		b->n--;
		if (b->topology)
			groups_unbin(b->of, b->n);
	}
	capacity_table_truncate(b->capacity_table, n);
	attachments_truncate(b->attachments, n);
}
