/*
 * warm_pool: makes one pass over the pools that ask for warm machines (powered on, with the agent
 * running). For each pool:
 *
 *   plan_stock(pool) --> its warm machines, then the best others --> struct warm_wish
 *                    --> notify machines
 *
 * Machines are chosen in this order: already warm for this pool; agent running; powered on because
 * another pool gave the machine up; rack with the fewest machines of this pool; fewest failures;
 * name.
 */
#include "controller/claims/warm_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/breaker.h"
#include "controller/claims/world_sync.h"
#include "controller/core/approval.h"
#include "controller/core/claim_index.h"
#include "controller/core/machine_lists.h"
#include "controller/rules/machine.h"
#include "planner/plan.h"

#define PASS_MS 1000
#define HELD_MS 50 /* Retry interval while the planner's world is paused for a plan */

/* Interval of passes while a pool has too few warm machines, because machines may become suitable
 * again by time alone */
#define AGAIN_MS 60000

#define FAILED_LATELY_MS (30 * 60 * 1000)

struct warm_wish {
	char *pool, *uid;
};

/* Result of the last pass for one pool. */
struct pass_result {
	int64_t wanted, kept;
	/* True: the pool's limits do not allow more warm machines */
	bool limited;
};

struct warm_pool {
	struct context *c;
	struct world_sync *sync;
	struct loop_timer timer, again;
	/* loop_now() of the last pass */
	int64_t passed_at;
	bool known;
	/* Machines that should be warm. Key: name of a Machine; value: struct warm_wish */
	struct map *wishes;
	/* Names of the machines that were free in the last pass */
	struct map *looked;
	/* Key: name of a pool; value: struct pass_result */
	struct map *pools;
};

/* --- wanted number ---------------------------------------------------------------------------- */

static bool kept_for(const struct machine *m, const struct node_pool *p)
{
	const struct object_ref *r = m->status.warm_for;

	return r && str_eq(r->name, p->meta.name) && str_eq(str_or(r->uid, ""), p->meta.uid);
}

static bool wants(const struct node_pool *p)
{
	return warm_pool_asked(p) && !p->meta.deletion_timestamp;
}

bool warm_pool_asked(const struct node_pool *p)
{
	return p->spec.warm.nodes > 0 || p->spec.warm.percent > 0;
}

struct having {
	const struct context *c;
	const struct node_pool *pool;
	int64_t n;
};

/* Counts the pool's nodes. Claims in progress count as well, because more claims are likely to
 * follow; not while they wait for an approval, because it may never be given. */
static bool count_claim(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct having *h = arg;

	h->n += str_eq(n->spec.node_pool_ref.name, h->pool->meta.name) &&
		!n->meta.deletion_timestamp && !str_eq(n->status.phase, "Failed") &&
		/* mutant: warm-for-waiting */ approval_admits(h->c, n);
	return true;
}

/* Returns the number of warm machines that pool p asks for, as a number or as a percentage of its
 * nodes, whichever is more. */
static int64_t wanted(const struct warm_pool *w, const struct node_pool *p)
{
	struct having h = {w->c, p, 0};
	int64_t part;

	if (p->spec.warm.percent <= 0)
		return p->spec.warm.nodes;
	kube_cache_each(w->c->cache[OBJECT_NODE_CLAIM], count_claim, &h);
	part = (h.n * p->spec.warm.percent + 99) / 100;
	return part > p->spec.warm.nodes ? part : p->spec.warm.nodes;
}

/* True if the machine may be started to become warm: it has a BMC, is not on, had no recent
 * failure, and does not wait for the next attempt of its operation. */
static bool may_be_warmed(const struct warm_pool *w, const struct machine *m)
{
	const struct machine_operation *op = m->status.operation;
	int64_t now = loop_wall(w->c->loop);
	size_t n = m->status.failures.n;

	return m->spec.bmc && !str_eq(m->status.power.state, "On") &&
	       !(op && op->next_attempt > now) &&
	       !(n && now - m->status.failures.v[n - 1].time < FAILED_LATELY_MS);
}

/* --- choosing --------------------------------------------------------------------------------- */

struct warm_rack {
	/* Number of machines chosen in this rack for the pool */
	int64_t n;
};

struct warm_choice {
	const struct machine *m;
	/* Rack of m; NULL: not known */
	struct warm_rack *rack;
	bool mine, ready, on, chosen;
};

struct choosing {
	struct warm_pool *w;
	const struct node_pool *pool;
	struct arena *a;
	struct map *racks;
	struct warm_choice *v;
	size_t n;
};

/* True if the machine is warm for another pool that still asks for it. */
static bool is_anothers(const struct choosing *ch, const struct machine *m)
{
	const struct object_ref *r = m->status.warm_for;
	const struct node_pool *p =
		r ? CTX_GET(ch->w->c, OBJECT_NODE_POOL, node_pool, r->name) : NULL;
	const struct pass_result *f = p ? map_get(ch->w->pools, p->meta.name) : NULL;

	/* If this pass has handled the pool already (f is set), the pool has given up the machines
	 * that it did not choose. */
	return p && wants(p) && kept_for(m, p) && !f;
}

/* True if an operator has to check the machine; another machine may be warm instead meanwhile. */
static bool is_odd(const struct machine *m)
{
	const struct machine_operation *op = m->status.operation;

	return m->status.warm_for && !warm_is_ready(m) && op &&
	       str_eq(op->last_error.reason, "PowerStateUnexpected");
}

static void consider(struct choosing *ch, const char *machine)
{
	const struct machine *m = CTX_GET(ch->w->c, OBJECT_MACHINE, machine, machine);
	struct warm_choice *c = &ch->v[ch->n];
	const char *rack;

	if (!m || is_odd(m) || map_has(ch->w->wishes, machine))
		return;
	*c = (struct warm_choice){.m = m, .mine = kept_for(m, ch->pool), .ready = warm_is_ready(m)};
	c->on = m->status.warm_for;
	if (!c->mine && (ch->pool->spec.paused || is_anothers(ch, m)))
		return;
	if (!c->on && !may_be_warmed(ch->w, m))
		return;
	rack = breaker_rack(ch->w->c, m);
	if (rack) {
		c->rack = map_get(ch->racks, rack);
		if (!c->rack) {
			c->rack = arena_new_obj(ch->a, struct warm_rack);
			map_put(ch->racks, rack, c->rack);
		}
	}
	ch->n++;
}

static bool better(const struct warm_choice *x, const struct warm_choice *y)
{
	if (x->mine != y->mine)
		return x->mine;
	if (x->ready != y->ready)
		return x->ready;
	if (x->on != y->on)
		return x->on;
	/* Prefer the rack in which fewer machines were chosen for the pool. If both are equal,
	 * best() keeps the machine that is first in the list. */
	return x->rack && y->rack && x->rack->n < y->rack->n;
}

static struct warm_choice *best(const struct choosing *ch)
{
	struct warm_choice *b = NULL;

	for (size_t i = 0; i < ch->n; i++)
		if (!ch->v[i].chosen && (!b || better(&ch->v[i], b)))
			b = &ch->v[i];
	return b;
}

static void wish_free(void *arg)
{
	struct warm_wish *x = arg;

	free(x->pool);
	free(x->uid);
	free(x);
}

static void choose(struct choosing *ch, struct warm_choice *c)
{
	struct warm_wish *x = mem_new(struct warm_wish);

	c->chosen = true;
	if (c->rack)
		c->rack->n++;
	x->pool = mem_strdup(ch->pool->meta.name);
	x->uid = mem_strdup(str_or(ch->pool->meta.uid, ""));
	map_put(ch->w->wishes, c->m->meta.name, x);
}

static int by_name(const void *x, const void *y)
{
	return strcmp((*(const struct world_machine *const *)x)->name,
		      (*(const struct world_machine *const *)y)->name);
}

/* Fewest failures first, then name. Unlike the planner, ignores the instance type: every type here
 * serves the pool equally well. */
static int by_health(const void *x, const void *y)
{
	const struct world_machine *a = *(const struct world_machine *const *)x,
				   *b = *(const struct world_machine *const *)y;

	if (a->failures != b->failures)
		return a->failures < b->failures ? -1 : 1;
	return by_name(x, y);
}

static void look_at(struct warm_pool *w, const struct node_pool *p)
{
	OWN(arena) a = arena_new();
	OWN(map) racks = map_new(NULL);
	struct plan_stock stock = plan_stock(world_sync_world(w->sync), p->meta.name, a);
	struct choosing ch = {.w = w, .pool = p, .a = a, .racks = racks};
	struct pass_result *f = mem_new(struct pass_result);
	int64_t want = wanted(w, p);
	struct warm_choice *c;

	if (stock.n)
		qsort(stock.v, stock.n, sizeof(*stock.v), by_health);
	f->wanted = want;
	ch.v = arena_calloc(a, stock.n + 1, sizeof(*ch.v));
	for (size_t i = 0; i < stock.n; i++)
		consider(&ch, stock.v[i]->name);
	if ((uint64_t)want > stock.room) {
		f->limited = stock.room < stock.n;
		want = (int64_t)stock.room;
	}
	for (; f->kept < want && (c = best(&ch)); f->kept++)
		choose(&ch, c);
	map_put(w->pools, p->meta.name, f);
}

/* --- pass over the pools ---------------------------------------------------------------------- */

struct warm_pools {
	const struct node_pool **v;
	size_t n, cap;
	struct arena *a;
};

static bool gather(const struct kube_entry *en, void *arg)
{
	struct warm_pools *g = arg;

	if (wants(en->object) && g->n < g->cap)
		g->v[g->n++] = en->object;
	return true;
}

static int by_weight(const void *x, const void *y)
{
	const struct node_pool *a = *(const struct node_pool *const *)x,
			       *b = *(const struct node_pool *const *)y;

	if (a->spec.weight != b->spec.weight)
		return a->spec.weight > b->spec.weight ? -1 : 1;
	return strcmp(a->meta.name, b->meta.name);
}

static bool kick_if_other(const struct machine *m, void *arg)
{
	const struct object_ref *is = m->status.warm_for;
	struct warm_pool *w = arg;
	struct object_ref want;
	bool on = warm_pool_desired(w, m->meta.name, &want) == WARM_POOL_ON;

	/* Skip a machine that a claim names: it is about to be claimed, or was claimed until now,
	 * so this pass decides nothing about it. */
	if (machine_is_in(m, MACHINE_FREE) &&
	    !claim_index_count(w->c, CLAIM_BY_MACHINE, m->meta.name))
		map_put(w->looked, m->meta.name, w);
	if (on != (is != NULL) ||
	    (on && !(str_eq(is->name, want.name) && str_eq(is->uid, want.uid))))
		notify(w->c, NOTICE_MACHINE, m->meta.name);
	return true;
}

static void pass(void *arg)
{
	struct warm_pool *w = arg;
	struct context *c = w->c;
	OWN(arena) a = arena_new();
	struct warm_pools g = {.a = a};
	const struct pass_result *f;
	bool few = false;

	w->known = c->leading && c->ready;
	if (!w->known)
		return;
	if (ctx_crds_terminating(c)) {
		/* Keep all machines as they are while one of drover's CustomResourceDefinitions is
		 * being deleted, or their cache is not synced: pools may be missing only because
		 * their definition is being deleted. */
		w->known = false;
		loop_timer_start(&w->again, AGAIN_MS);
		return;
	}
	if (world_sync_is_paused(w->sync)) {
		loop_timer_start(&w->timer, HELD_MS);
		return;
	}
	w->passed_at = loop_now(c->loop);
	map_clear(w->wishes);
	map_clear(w->looked);
	map_clear(w->pools);
	g.cap = kube_cache_size(c->cache[OBJECT_NODE_POOL]);
	g.v = arena_calloc(a, g.cap + 1, sizeof(*g.v));
	kube_cache_each(c->cache[OBJECT_NODE_POOL], gather, &g);
	qsort(g.v, g.n, sizeof(*g.v), by_weight);
	for (size_t i = 0; i < g.n; i++) {
		look_at(w, g.v[i]);
		f = map_get(w->pools, g.v[i]->meta.name);
		few |= f->kept < f->wanted;
	}
	machine_lists_each(c, MACHINES_SPARE, kick_if_other, w);
	notify(c, NOTICE_POOL, NULL);
	if (few)
		loop_timer_start(&w->again, AGAIN_MS);
}

void warm_pool_kick(struct warm_pool *w)
{
	int64_t due;

	if (!w)
		return;
	/* If another process was leader meanwhile, its decisions are not known here. */
	w->known &= w->c->leading;
	if (loop_timer_active(&w->timer))
		return;
	due = w->known ? w->passed_at + PASS_MS - loop_now(w->c->loop) : 0;
	loop_timer_start(&w->timer, due > 0 ? due : 0);
}

static void on_again(void *arg)
{
	warm_pool_kick(arg);
}

/* --- queries ---------------------------------------------------------------------------------- */

enum warm_pool_desired warm_pool_desired(const struct warm_pool *w, const char *machine,
					 struct object_ref *pool)
{
	const struct warm_wish *x;

	if (!w || !w->known || !w->c->leading)
		return WARM_POOL_UNKNOWN;
	x = map_get(w->wishes, machine);
	if (!x)
		return map_has(w->looked, machine) ? WARM_POOL_OFF : WARM_POOL_UNKNOWN;
	*pool = (struct object_ref){x->pool, x->uid};
	return WARM_POOL_ON;
}

struct warm_count {
	const struct node_pool *pool;
	struct warm_pool_tally *out;
};

static bool count(const struct machine *m, void *arg)
{
	struct warm_count *k = arg;

	if (!machine_is_in(m, MACHINE_FREE) || !kept_for(m, k->pool))
		return true;
	k->out->kept++;
	k->out->ready += warm_is_ready(m);
	return true;
}

bool warm_pool_tally(const struct warm_pool *w, const struct node_pool *p, struct arena *a,
		     struct warm_pool_tally *out)
{
	const struct pass_result *f = w && w->known ? map_get(w->pools, p->meta.name) : NULL;
	struct warm_count k = {p, out};
	const char *why;

	*out = (struct warm_pool_tally){0};
	if (!f || !wants(p))
		return false;
	machine_lists_each(w->c, MACHINES_SPARE, count, &k);
	out->wanted = f->wanted;
	if (out->ready >= f->wanted) {
		out->reason = "Warm";
		why = "";
	} else if (p->spec.paused) {
		out->reason = "PoolPaused";
		why = ": the pool is paused";
	} else if (f->kept >= f->wanted) {
		out->reason = "Warming";
		why = ": the others are being started";
	} else if (f->limited) {
		out->reason = "LimitExceeded";
		why = ": the limits of the pool leave no room for more";
	} else {
		out->reason = "NoCapacity";
		why = ": no other free machine of a suitable type can be started now";
	}
	out->message = arena_printf(a, "%lld of %lld machines are warm%s", (long long)out->ready,
				    (long long)f->wanted, why);
	return true;
}

/* --- start ------------------------------------------------------------------------------------ */

struct warm_pool *warm_pool_new(struct context *c, struct world_sync *sync)
{
	struct warm_pool *w = mem_new(struct warm_pool);

	w->c = c;
	w->sync = sync;
	w->wishes = map_new(wish_free);
	w->looked = map_new(NULL);
	w->pools = map_new(free);
	loop_timer_init(&w->timer, c->group, pass, w);
	loop_timer_init(&w->again, c->group, on_again, w);
	return w;
}

void warm_pool_free(struct warm_pool *w)
{
	if (!w)
		return;
	loop_timer_stop(&w->timer);
	loop_timer_stop(&w->again);
	map_free(w->wishes);
	map_free(w->looked);
	map_free(w->pools);
	free(w);
}
