#include "controller/claims/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/* The lists of all tenants that result from one plan. */
struct book {
	struct arena *a;
	/* All pods, in the order of the queue */
	struct waiting_row *rows;
	size_t n, cap;
	/* Key: name of a tenant; value: its first pods, struct virtual_cluster_waits in the
	 * arena */
	struct map *tenants;
	/* Key: "TENANT/NAME" of a gang; value: struct waiting_gang in the arena */
	struct map *gangs;
};

struct waiting {
	struct context *c;
	void (*published)(void *arg);
	void *arg;
	/* Lists of the plan that is being processed; NULL: none */
	struct book *next;
	/* Complete lists, newer than `now`, that wait to be published; NULL: none */
	struct book *last;
	/* Published lists; NULL: none yet */
	struct book *now;
	/* Publication in progress, which replaces `now`. book NULL: none */
	struct dating {
		struct book *book;
		/* Rows of `now`. Key: "TENANT/POD" */
		struct map *before;
		/* Number of rows of `now` that are in `before`, and of rows of `book` that have
		 * their time */
		size_t indexed, dated;
	} dating;
	struct loop_timer timer;
	/* loop_now() of the last publication of lists that had pods; 0: none */
	int64_t at;
	uint64_t number;
};

static struct book *book_new(void)
{
	struct book *b = mem_new(struct book);

	b->a = arena_new();
	b->tenants = map_new(NULL);
	b->gangs = map_new(NULL);
	return b;
}

static void book_drop(struct book **b)
{
	if (!*b)
		return;
	map_free((*b)->tenants);
	map_free((*b)->gangs);
	free((*b)->rows);
	arena_free((*b)->a);
	free(*b);
	*b = NULL;
}

void waiting_begin(struct waiting *w)
{
	book_drop(&w->next);
	w->next = book_new();
}

/* Returns a copy of s as valid UTF-8, truncated to at most max bytes without splitting a
 * character. */
static const char *clean(struct arena *a, const char *s, size_t max)
{
	size_t n = strlen(s);
	char *copy;

	if (n > max)
		for (n = max; n && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
			;
	copy = arena_printf(a, "%.*s", (int)n, s);
	str_clean(copy);
	return copy;
}

/* Adds a pod to its tenant's list for status.waiting. */
static void put_first(struct book *b, const struct waiting_row *row)
{
	struct virtual_cluster_waits *of = map_get(b->tenants, row->tenant);

	if (!of) {
		of = arena_new_obj(b->a, struct virtual_cluster_waits);
		of->v = arena_calloc(b->a, VIRTUAL_CLUSTER_WAITING_MAX, sizeof(*of->v));
		map_put(b->tenants, row->tenant, of);
	}
	if (of->n < VIRTUAL_CLUSTER_WAITING_MAX)
		of->v[of->n++] = row->at;
}

/* Adds the next row of the list to its gang, and returns the gang; NULL: the row has none. */
static struct waiting_gang *put_gang(struct book *b, const struct waiting_row *row)
{
	struct waiting_gang **slot, *g;
	const char *name;

	if (!row->gang)
		return NULL;
	name = clean(b->a, row->gang->name, WAITING_GANG_MAX);
	slot = (struct waiting_gang **)map_slot(b->gangs,
						arena_printf(b->a, "%s/%s", row->tenant, name));
	if (!*slot) {
		*slot = arena_new_obj(b->a, struct waiting_gang);
		**slot = (struct waiting_gang){.name = name,
					       .size = row->gang->size,
					       .begun = row->gang->begun,
					       .first = b->n,
					       .p50 = row->p50,
					       .p90 = row->p90};
	}
	g = *slot;
	g->waiting++;
	g->p50 = !g->p50 || !row->p50 ? 0 : row->p50 > g->p50 ? row->p50 : g->p50;
	g->p90 = !g->p90 || !row->p90 ? 0 : row->p90 > g->p90 ? row->p90 : g->p90;
	return g;
}

void waiting_put(struct waiting *w, const struct waiting_row *row)
{
	struct book *b = w->next;
	struct arena *a = b->a;
	const struct virtual_cluster_waiting *at = &row->at;
	const struct waiting_row copy = {
		.tenant = arena_strdup(a, row->tenant),
		.at = {.pod = clean(a, at->pod, VIRTUAL_CLUSTER_POD_MAX),
		       .place = at->place,
		       .reason = at->reason,
		       .message = clean(a, at->message, VIRTUAL_CLUSTER_MESSAGE_MAX),
		       .claim = at->claim ? arena_strdup(a, at->claim) : NULL},
		.p50 = row->p50,
		.p90 = row->p90,
		.gang = put_gang(b, row),
	};

	mem_grow(b->rows, b->n, b->cap);
	b->rows[b->n++] = copy;
	put_first(b, &copy);
}

static bool is_same(const struct virtual_cluster_waiting *x,
		    const struct virtual_cluster_waiting *y)
{
	return str_eq(x->reason, y->reason) && str_eq(str_or(x->claim, ""), str_or(y->claim, ""));
}

static const char *key_of(const struct waiting_row *row, struct arena *a)
{
	return arena_printf(a, "%s/%s", row->tenant, row->at.pod);
}

/* Adds one row of the published lists to the index of the publication in progress. */
static void index_row(struct waiting *w, size_t i)
{
	OWN(arena) a = arena_new();

	map_put(w->dating.before, key_of(&w->now->rows[i], a), &w->now->rows[i]);
}

/* Sets since when a pod waits for its reason: as in the published lists if they have the pod with
 * the same reason and claim, otherwise now. */
static void date_row(struct waiting *w, size_t i)
{
	OWN(arena) a = arena_new();
	struct waiting_row *row = &w->dating.book->rows[i];
	const struct waiting_row *old = map_get(w->dating.before, key_of(row, a));
	struct waiting_gang *g = row->gang;

	row->at.since = old && is_same(&old->at, &row->at) ? old->at.since : loop_wall(w->c->loop);
	if (g && (!g->since || row->at.since < g->since))
		g->since = row->at.since;
}

static void start_timer(struct waiting *w)
{
	const int64_t due = w->at ? w->at + WAITING_MS - loop_now(w->c->loop) : 0;

	if (!loop_timer_active(&w->timer))
		loop_timer_start(&w->timer, due > 0 ? due : 0);
}

static void dating_drop(struct waiting *w)
{
	book_drop(&w->dating.book);
	map_free(w->dating.before);
	w->dating.before = NULL;
	w->dating.indexed = w->dating.dated = 0;
}

/* Ends a publication whose rows all have their times. */
static void swap(struct waiting *w)
{
	const bool changes = (w->now && w->now->n) || w->dating.book->n;

	book_drop(&w->now);
	w->now = w->dating.book;
	w->dating.book = NULL;
	dating_drop(w);
	w->number += changes || !w->number;
	if (changes)
		w->at = loop_now(w->c->loop);
	if (w->last)
		start_timer(w);
	if (changes)
		w->published(w->arg);
}

/* Goes on with a publication, or begins one. Handles at most WAITING_ROWS rows in a turn. */
static void publish(void *arg)
{
	struct waiting *w = arg;
	struct dating *d = &w->dating;
	size_t left = WAITING_ROWS;

	if (!d->book) {
		d->book = w->last;
		d->before = map_new(NULL);
		w->last = NULL;
	}
	for (; left && w->now && d->indexed < w->now->n; left--)
		index_row(w, d->indexed++);
	for (; left && d->dated < d->book->n; left--)
		date_row(w, d->dated++);
	if (left)
		swap(w);
	else
		loop_timer_start(&w->timer, 0);
}

void waiting_end(struct waiting *w)
{
	book_drop(&w->last);
	w->last = w->next;
	w->next = NULL;
	start_timer(w);
}

/* --- status ----------------------------------------------------------------------------------- */

static const struct virtual_cluster_waiting *find(const struct virtual_cluster_waits *in,
						  const char *pod)
{
	for (size_t i = 0; i < in->n; i++)
		if (str_eq(in->v[i].pod, pod))
			return &in->v[i];
	return NULL;
}

bool waiting_status(const struct waiting *w, const struct virtual_cluster *vc, struct arena *a,
		    struct virtual_cluster_waits *out)
{
	const struct virtual_cluster_waits *was = &vc->status.waiting, *is;
	bool changed;

	if (!w || !w->now)
		return false;
	is = map_get(w->now->tenants, vc->meta.name);
	*out = (struct virtual_cluster_waits){
		.v = arena_calloc(a, VIRTUAL_CLUSTER_WAITING_MAX, sizeof(*out->v)),
		.n = is ? is->n : 0,
	};
	changed = out->n != was->n;
	for (size_t i = 0; i < out->n; i++) {
		struct virtual_cluster_waiting *x = &out->v[i];
		const struct virtual_cluster_waiting *old = find(was, is->v[i].pod);

		*x = is->v[i];
		x->since = old && is_same(old, x) ? old->since : loop_wall(w->c->loop);
		changed |= i >= was->n || old != &was->v[i] || !is_same(old, x) ||
			   old->place != x->place || !str_eq(str_or(old->message, ""), x->message);
	}
	return changed;
}

/* --- for readers ------------------------------------------------------------------------------ */

const struct waiting_row *waiting_rows(const struct waiting *w, size_t *n)
{
	*n = w->now ? w->now->n : 0;
	return w->now ? w->now->rows : NULL;
}

uint64_t waiting_number(const struct waiting *w)
{
	return w->number;
}

/* --- start and stop --------------------------------------------------------------------------- */

struct waiting *waiting_new(struct context *c, void (*published)(void *arg), void *arg)
{
	struct waiting *w = mem_new(struct waiting);

	w->c = c;
	w->published = published;
	w->arg = arg;
	loop_timer_init(&w->timer, c->group, publish, w);
	return w;
}

void waiting_free(struct waiting *w)
{
	if (!w)
		return;
	loop_timer_stop(&w->timer);
	book_drop(&w->next);
	book_drop(&w->last);
	dating_drop(w);
	book_drop(&w->now);
	free(w);
}
