#include "planner/queue.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "planner/supply/quota.h"

/*
 * queue: sorts the waiting pods and serves them by fair share.
 *
 * Sorting: most pods agree in most of the criteria. So the sort key is divided into 64-bit pieces.
 * Pods that agree in one piece are sorted by the next piece; a piece in which all pods agree costs
 * one comparison per pod.
 *
 * Serving: in the sorted order, the pods of one priority form a band, and the pods of one tenant
 * within a band form a run. The runs of the present band are in a binary heap, ordered by their
 * tenants' shares. When an entry has been served, only the share of its tenant can have grown, so
 * only the run of that tenant moves in the heap.
 */
enum { CHECK, TENANT_PRIORITY, PRIORITY, TENANT, OWN, AGE, TEXT };

struct keyed_entry {
	uint64_t key;
	struct queued *q;
};

/* Run: pods of one tenant in one band (pods of equal priority), ordered by their own priority, then
 * oldest first. */
struct band_run {
	struct queued **at, **end;
	const struct plan_tenant *tenant;
	/* True if the tenant has used up its own quota, so its next machine would be borrowed. */
	bool borrows;
	__int128 share;
};

struct queue {
	/* Entries of the bands (pods of equal priority) that follow the present band. */
	struct queued **at, **end;
	struct band_run *heap;
	size_t n;
	/* True if queue_next() has returned the first entry of the first run, but has not removed
	 * that entry yet. */
	bool taken;
};

static uint64_t signed_key(int64_t n)
{
	return (uint64_t)n ^ (uint64_t)1 << 63;
}

static bool past(const struct queued *q, size_t piece)
{
	return piece >= TEXT && (piece - TEXT) * 8 >= q->pod->order;
}

static uint64_t piece_of(const struct queued *q, size_t piece)
{
	size_t at, n;
	uint64_t word = 0;

	switch (piece) {
	case CHECK:
		/* mutant: check-in-turn */
		return q->pod->check;
	case TENANT_PRIORITY:
		return ~signed_key(q->class_->tenant->it->priority);
	case PRIORITY:
		return ~signed_key(q->priority);
	case TENANT:
		return q->class_->tenant->number;
	case OWN:
		return ~signed_key(q->own);
	case AGE:
		return signed_key(q->pod->since);
	default:
		break;
	}
	at = (piece - TEXT) * 8;
	if (at >= q->pod->order)
		return 0;
	n = q->pod->order - at;
	memcpy(&word, q->pod->text + at, n < 8 ? n : 8);
	return be64toh(word);
}

static int by_piece(const void *x, const void *y)
{
	const struct keyed_entry *a = x, *b = y;

	return a->key < b->key ? -1 : a->key > b->key;
}

/* Pieces of the keys in which all entries agree. differs: bit set of the pieces before TEXT in
 * which some entries differ. text: number of leading bytes that all texts share. */
struct agreement {
	unsigned differs;
	size_t text;
};

static struct agreement agreement_of(struct queued *const *q, size_t n)
{
	const struct queued *a = q[0];
	struct agreement x = {0};

	if (!n)
		return x;
	x.text = a->pod->order;
	for (size_t i = 1; i < n; i++) {
		const struct queued *b = q[i];

		x.differs |= (unsigned)(a->pod->check != b->pod->check) << CHECK;
		x.differs |= (unsigned)(a->class_->tenant != b->class_->tenant) << TENANT_PRIORITY;
		x.differs |= (unsigned)(a->priority != b->priority) << PRIORITY;
		x.differs |= (unsigned)(a->class_->tenant != b->class_->tenant) << TENANT;
		x.differs |= (unsigned)(a->own != b->own) << OWN;
		x.differs |= (unsigned)(a->pod->since != b->pod->since) << AGE;
		x.text = x.text < b->pod->order ? x.text : b->pod->order;
		while (memcmp(a->pod->text, b->pod->text, x.text) != 0)
			x.text--;
	}
	return x;
}

static bool agrees(const struct agreement *x, size_t piece)
{
	return piece < TEXT ? !(x->differs >> piece & 1) : (piece - TEXT + 1) * 8 <= x->text;
}

static void sort(struct keyed_entry *k, size_t n, size_t piece, const struct agreement *all)
{
	bool same = true, sorted = true;

	if (n < 2)
		return;
	do {
		same = true;
		while (agrees(all, piece))
			piece++;
		for (size_t i = 0; i < n; i++) {
			k[i].key = piece_of(k[i].q, piece);
			same = same && k[i].key == k[0].key;
			sorted = sorted && (!i || k[i - 1].key <= k[i].key);
		}
		piece++;
	} while (same && !past(k[0].q, piece));
	if (same)
		return;
	if (!sorted)
		qsort(k, n, sizeof(*k), by_piece);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && k[to].key == k[from].key; to++)
			;
		sort(k + from, to - from, piece, all);
	}
}

/* --- aging ------------------------------------------------------------------------------------ */

#define HOUR_MS ((int64_t)3600 * 1000)
/* A new level (pair of priorities) is stored unless it equals one of the last RECENT stored levels.
 * That avoids most duplicates. */
#define RECENT 8

struct priority_level {
	int64_t tenant, priority;
};

/* Returns the level of the pod: the pair of the tenant's and the pod's priority, before aging. */
static struct priority_level level_of(const struct queued *q)
{
	return (struct priority_level){q->class_->tenant->it->priority, q->priority};
}

static int by_level(const void *x, const void *y)
{
	const struct priority_level *a = x, *b = y;

	if (a->tenant != b->tenant)
		return a->tenant < b->tenant ? -1 : 1;
	return a->priority < b->priority ? -1 : a->priority > b->priority;
}

static bool is_recent(const struct priority_level *v, size_t n, const struct priority_level *l)
{
	for (size_t i = n > RECENT ? n - RECENT : 0; i < n; i++)
		if (by_level(&v[i], l) == 0)
			return true;
	return false;
}

/* Writes to v the levels (pairs of priorities) of all n entries, sorted; a level may occur more
 * than once. Returns the number of levels written. */
static size_t levels_of(struct queued *const *q, size_t n, struct priority_level *v)
{
	size_t levels = 0;

	for (size_t i = 0; i < n; i++) {
		const struct priority_level l = level_of(q[i]);

		if (!is_recent(v, levels, &l))
			v[levels++] = l;
	}
	qsort(v, levels, sizeof(*v), by_level);
	return levels;
}

static int64_t points_of(const struct queued *q, const struct world_aging *g, int64_t now_ms)
{
	const int64_t waited = planning_sub(now_ms, q->pod->since);
	const __int128 points = waited > 0 ? (__int128)(waited / HOUR_MS) * g->points : 0;

	return points < g->most ? (int64_t)points : g->most;
}

/* Returns the priority that the pod reaches with these aging points: that of the highest level in v
 * that does not exceed the pod's priority plus points. The result needs no clamp, because all
 * levels in v are clamped already. */
static int64_t reached(const struct priority_level *v, size_t n, const struct queued *q,
		       int64_t points)
{
	const struct priority_level most = {q->class_->tenant->it->priority,
					    planning_add(q->priority, points)};
	size_t from = 0, to = n;

	while (to - from > 1) {
		const size_t mid = from + (to - from) / 2;

		if (by_level(&v[mid], &most) <= 0)
			from = mid;
		else
			to = mid;
	}
	return v[from].priority;
}

int64_t queue_clamp(const struct world *w, const struct world_tenant *t, int64_t priority)
{
	return /* mutant: priority-unclamped */ w->clamps && priority > t->priority ? t->priority
										    : priority;
}

static void raise(struct queued **q, size_t n, const struct world *w, int64_t now_ms,
		  struct arena *a)
{
	const struct world_aging *g = &w->aging;
	struct priority_level *v;
	size_t levels;
	bool same = true;

	for (size_t i = 0; i < n; i++) {
		q[i]->priority = queue_clamp(w, q[i]->class_->tenant->it, q[i]->pod->priority);
		q[i]->own = w->clamps ? q[i]->pod->priority : 0;
		same = same && q[i]->priority == q[0]->priority && q[i]->own == q[0]->own;
	}
	if (same || g->points <= 0 || g->most <= 0)
		return;
	v = arena_calloc(a, n, sizeof(*v));
	levels = levels_of(q, n, v);
	for (size_t i = 0; i < n; i++) {
		const int64_t points = points_of(q[i], g, now_ms);

		if (points <= 0)
			continue;
		q[i]->priority = reached(v, levels, q[i], points);
		if (w->clamps)
			q[i]->own = planning_add(q[i]->own, points);
	}
}

struct queue *queue_new(struct queued **q, size_t n, const struct world *w, int64_t now_ms,
			struct arena *a)
{
	struct keyed_entry *k = arena_calloc(a, n + 1, sizeof(*k));
	struct agreement all;

	raise(q, n, w, now_ms, a);
	for (size_t i = 0; i < n; i++)
		k[i].q = q[i];
	all = agreement_of(q, n);
	sort(k, n, CHECK, &all);
	for (size_t i = 0; i < n; i++)
		q[i] = k[i].q;
	return queue_sorted(q, n, a);
}

struct queue *queue_sorted(struct queued **q, size_t n, struct arena *a)
{
	struct queue *queue = arena_new_obj(a, struct queue);
	size_t tenants = 0;

	for (size_t i = 0; i < n; i++)
		if (q[i]->class_->tenant->number > tenants)
			tenants = q[i]->class_->tenant->number;
	*queue = (struct queue){.at = q,
				.end = q + n,
				.heap = arena_calloc(a, tenants + 1, sizeof(struct band_run))};
	return queue;
}

static __int128 share_of(const struct plan_tenant *t)
{
	const struct quantity *held = resources_get(&t->tally.held, PLANNING_GPU);
	const int64_t weight = t->it->weight > 0 ? t->it->weight : 1;
	const __int128 used = (__int128)(t->it->used_milli > 0 ? t->it->used_milli : 0) * 1000000;

	return (used + (held && held->nano > 0 ? held->nano : 0)) / weight;
}

static void measure(struct band_run *r)
{
	r->borrows = quota_borrows(r->tenant);
	r->share = share_of(r->tenant);
}

/* True if run x is served before run y. The compared texts include their terminating NULs, so
 * neither is a prefix of the other. */
static bool is_before(const struct band_run *x, const struct band_run *y)
{
	const struct world_one *a = (*x->at)->pod, *b = (*y->at)->pod;

	if (x->borrows != y->borrows)
		return y->borrows;
	if (x->share != y->share)
		return x->share < y->share;
	if (a->since != b->since)
		return a->since < b->since;
	return memcmp(a->text, b->text, a->order < b->order ? a->order : b->order) < 0;
}

static void sink(struct queue *q, size_t at)
{
	const struct band_run sinks = q->heap[at];
	size_t child;

	while ((child = 2 * at + 1) < q->n) {
		if (child + 1 < q->n && is_before(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!is_before(&q->heap[child], &sinks))
			break;
		q->heap[at] = q->heap[child];
		at = child;
	}
	q->heap[at] = sinks;
}

static bool of_one_band(const struct queued *a, const struct queued *b)
{
	return a->pod->check == b->pod->check && a->priority == b->priority &&
	       a->class_->tenant->it->priority == b->class_->tenant->it->priority;
}

static void open_band(struct queue *q)
{
	struct queued *const first = *q->at;

	while (q->at < q->end && of_one_band(*q->at, first)) {
		struct band_run *r = &q->heap[q->n++];

		*r = (struct band_run){.at = q->at, .tenant = (*q->at)->class_->tenant};
		measure(r);
		while (q->at < q->end && of_one_band(*q->at, first) &&
		       (*q->at)->class_->tenant == r->tenant)
			q->at++;
		r->end = q->at;
	}
	for (size_t i = q->n / 2; i-- > 0;)
		sink(q, i);
}

struct queued *queue_next(struct queue *q)
{
	if (q->taken) {
		struct band_run *first = &q->heap[0];

		q->taken = false;
		/* Compute the tenant's share again only if there is another run with which to
		 * compare it. */
		if (q->n > 1)
			measure(first);
		if (++first->at == first->end)
			*first = q->heap[--q->n];
		if (q->n > 1)
			sink(q, 0);
	}
	if (!q->n && q->at == q->end)
		return NULL;
	if (!q->n)
		open_band(q);
	q->taken = true;
	return *q->heap[0].at;
}
