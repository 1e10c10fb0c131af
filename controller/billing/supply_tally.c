/* supply_tally: one list of groups for each kind of object. A row leads from an object to its
 * group; the key of a group is the text of all properties that count. */
#include "controller/billing/supply_tally.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/billing/bill.h"
#include "controller/core/counters.h"
#include "controller/core/lookup.h"
#include "controller/core/sweep.h"
#include "controller/rules/claim.h"

/* Number of objects that the check looks at in one loop turn */
#define CHECKED_EACH_TURN 100

struct tally_group {
	struct arena *a;
	const char *key;
	int64_t n;
	/* Machines or claims, depending on the kind */
	struct supply_machines machines;
	struct supply_claims claims;
};

enum tally_kind { MACHINES, CLAIMS, KINDS };

struct tally_counts {
	/* Key: name of an object; value: struct tally_group, owned by `groups` */
	struct map *rows;
	/* Key: struct tally_group.key; value: struct tally_group */
	struct map *groups;
	/* Names of the marked objects */
	struct map *marked;
};

struct supply_tally {
	struct context *c;
	struct tally_counts of[KINDS];
	/* True: all objects are marked, whether `marked` has them or not */
	bool all;
	struct loop_timer timer;
	/* The check in progress; arena NULL: none is in progress */
	struct arena *arena;
	struct sweep sweep;
	enum tally_kind checks;
	/* Number of corrections */
	size_t corrected;
};

static const enum object_kind_id kinds[KINDS] = {
	[MACHINES] = OBJECT_MACHINE, [CLAIMS] = OBJECT_NODE_CLAIM};

/* --- groups ----------------------------------------------------------------------------------- */

static void group_free(void *p)
{
	struct tally_group *g = p;

	arena_free(g->a);
	free(g);
}

/* Returns the key of the Machine's group, in the arena; *as: the properties of the group. */
static const char *machine_key(const struct context *c, const struct machine *m, struct arena *a,
			       struct tally_group *as)
{
	const enum machine_state state = machine_state_find(str_or(m->status.state, "known"));
	struct supply_machines *g = &as->machines;
	const struct virtual_cluster_charge *x = &g->like;

	if (state == MACHINE_STATE_NONE)
		return NULL;
	*g = (struct supply_machines){.provider = str_or(m->spec.provider_ref.name, ""),
				      .state = state};
	if (!bill_of_machine(c, m, state, a, &g->tenant, &g->like))
		return arena_printf(a, "%d/%s", (int)state, g->provider);
	return arena_printf(a, "%d/%s/%s/%s/%s/%lld/%s/%d/%lld", (int)state, g->provider, g->tenant,
			    str_or(x->pool, ""), str_or(x->instance_type, ""),
			    (long long)x->price_per_hour, str_or(x->currency, ""), x->phase,
			    (long long)x->gpus);
}

/* Returns the key of the claim's group, in the arena; NULL: the claim does not count. */
static const char *claim_key(const struct context *c, const struct node_claim *n, struct arena *a,
			     struct tally_group *as)
{
	const struct machine *m = machine_named_by(c, n);
	const struct provider_object *p = provider_of_claim(c, n);
	struct supply_claims *g = &as->claims;

	if (!claim_counts(n))
		return NULL;
	*g = (struct supply_claims){.pool = str_or(n->spec.node_pool_ref.name, ""),
				    .tenant = str_or(n->spec.virtual_cluster_ref.name, ""),
				    .provider = p ? p->meta.name : "",
				    .instance_type = str_or(claim_instance_type(n, m), "")};
	return arena_printf(a, "%s/%s/%s/%s", g->pool, g->tenant, g->provider, g->instance_type);
}

static const char *key_of(const struct supply_tally *t, enum tally_kind k, const char *name,
			  struct arena *a, struct tally_group *as)
{
	const struct kube_entry *en = kube_cache_get(t->c->cache[kinds[k]], "", name);

	*as = (struct tally_group){0};
	if (!en)
		return NULL;
	return k == MACHINES ? machine_key(t->c, en->object, a, as)
			     : claim_key(t->c, en->object, a, as);
}

static struct tally_group *group_new(struct tally_counts *l, const char *key,
				     const struct tally_group *as)
{
	struct tally_group *g = mem_new(struct tally_group);
	const struct supply_machines *m = &as->machines;
	const struct supply_claims *n = &as->claims;
	struct arena *a = arena_new();

	*g = (struct tally_group){
		.a = a,
		.key = arena_strdup(a, key),
		.machines = {.provider = arena_strdup(a, m->provider),
			     .state = m->state,
			     .tenant = arena_strdup(a, m->tenant),
			     .like = {.pool = arena_strdup(a, m->like.pool),
				      .provider = arena_strdup(a, m->like.provider),
				      .instance_type = arena_strdup(a, m->like.instance_type),
				      .phase = m->like.phase,
				      .price_per_hour = m->like.price_per_hour,
				      .currency = arena_strdup(a, m->like.currency),
				      .gpus = m->like.gpus}},
		.claims = {.pool = arena_strdup(a, n->pool),
			   .tenant = arena_strdup(a, n->tenant),
			   .provider = arena_strdup(a, n->provider),
			   .instance_type = arena_strdup(a, n->instance_type)},
	};
	map_put(l->groups, key, g);
	return g;
}

/* Moves the object to the group of its present properties. True: it was in another one. */
static bool put(struct supply_tally *t, enum tally_kind k, const char *name)
{
	OWN(arena) a = arena_new();
	struct tally_counts *l = &t->of[k];
	struct tally_group as, *was = map_get(l->rows, name), *is;
	const char *key = key_of(t, k, name, a, &as);

	if (str_eq(was ? was->key : NULL, key))
		return false;
	if (was && !--was->n)
		map_del(l->groups, was->key);
	if (!key) {
		map_del(l->rows, name);
		return true;
	}
	is = map_get(l->groups, key);
	if (!is)
		is = group_new(l, key, &as);
	is->n++;
	map_put(l->rows, name, is);
	return true;
}

/* --- marks ------------------------------------------------------------------------------------ */

static void mark(struct supply_tally *t, enum tally_kind k, const char *name)
{
	if (!t->all && !map_has(t->of[k].marked, name))
		map_put(t->of[k].marked, name, t);
}

void supply_tally_machine(struct supply_tally *t, const char *name)
{
	mark(t, MACHINES, name);
}

void supply_tally_claim(struct supply_tally *t, const char *name)
{
	mark(t, CLAIMS, name);
}

void supply_tally_all(struct supply_tally *t)
{
	t->all = true;
}

static bool mark_entry(const struct kube_entry *en, void *arg)
{
	map_put(arg, en->name, arg);
	return true;
}

/* Turns the mark of all objects into marks of each, including those that are gone. */
static void mark_each(struct supply_tally *t)
{
	struct map_iter it;

	t->all = false;
	for (enum tally_kind k = 0; k < KINDS; k++) {
		kube_cache_each(t->c->cache[kinds[k]], mark_entry, t->of[k].marked);
		map_for_each (it, t->of[k].rows)
			mark(t, k, it.key);
	}
}

bool supply_tally_step(struct supply_tally *t, size_t most)
{
	struct map_iter it;

	if (t->all)
		mark_each(t);
	for (enum tally_kind k = 0; k < KINDS; k++)
		map_for_each (it, t->of[k].marked) {
			if (!most--)
				return true;
			(void)put(t, k, it.key);
			map_del(t->of[k].marked, it.key);
		}
	return false;
}

/* --- queries ---------------------------------------------------------------------------------- */

void supply_tally_each_machines(const struct supply_tally *t,
				void (*fn)(const struct supply_machines *g, void *arg), void *arg)
{
	struct map_iter it;

	map_for_each (it, t->of[MACHINES].groups) {
		struct tally_group *g = it.value;

		g->machines.n = g->n;
		fn(&g->machines, arg);
	}
}

void supply_tally_each_claims(const struct supply_tally *t,
			      void (*fn)(const struct supply_claims *g, void *arg), void *arg)
{
	struct map_iter it;

	map_for_each (it, t->of[CLAIMS].groups) {
		struct tally_group *g = it.value;

		g->claims.n = g->n;
		fn(&g->claims, arg);
	}
}

/* --- check ------------------------------------------------------------------------------------ */

static void check_name(struct supply_tally *t, const char *name)
{
	if (map_has(t->of[t->checks].marked, name) || !put(t, t->checks, name))
		return;
	log_error("an object was counted wrongly; the count is corrected now (an error in drover)",
		  LOG_S("kind", object_kinds[kinds[t->checks]].kind), LOG_S("name", name));
	counters_corrected(t->c->counters, object_kinds[kinds[t->checks]].kind);
	t->corrected++;
}

static bool check_entry(const struct kube_entry *en, void *arg)
{
	check_name(arg, en->name);
	return true;
}

/* Checks the objects that are counted but no longer in the cache. */
static void check_gone(struct supply_tally *t)
{
	const struct kube_cache *cache = t->c->cache[kinds[t->checks]];
	OWN(arena) a = arena_new();
	struct map_iter it;

	/* The row is removed with its key, so the name has to be a copy. */
	map_for_each (it, t->of[t->checks].rows)
		if (!kube_cache_get(cache, "", it.key))
			check_name(t, arena_strdup(a, it.key));
}

static void check_begin(struct supply_tally *t)
{
	arena_free(t->arena);
	t->arena = arena_new();
	check_gone(t);
	sweep_begin(&t->sweep, t->c->cache[kinds[t->checks]], t->arena);
}

static void check_over(struct supply_tally *t)
{
	arena_free(t->arena);
	t->arena = NULL;
	t->checks = MACHINES;
	loop_timer_start(&t->timer, SUPPLY_TALLY_CHECK_MS);
}

static void check(void *arg)
{
	struct supply_tally *t = arg;

	/* Nothing is counted yet, or all will be counted anew. */
	if (t->all) {
		check_over(t);
		return;
	}
	if (!t->arena)
		check_begin(t);
	if (!sweep_go_on(&t->sweep, CHECKED_EACH_TURN, check_entry, t)) {
		if (++t->checks == KINDS) {
			check_over(t);
			return;
		}
		check_begin(t);
	}
	loop_timer_start(&t->timer, 0);
}

size_t supply_tally_check(struct supply_tally *t)
{
	const size_t before = t->corrected;

	if (t->all)
		return 0;
	for (t->checks = MACHINES; t->checks < KINDS; t->checks++) {
		check_gone(t);
		kube_cache_each(t->c->cache[kinds[t->checks]], check_entry, t);
	}
	check_over(t);
	return t->corrected - before;
}

/* --- start ------------------------------------------------------------------------------------ */

struct supply_tally *supply_tally_new(struct context *c)
{
	struct supply_tally *t = mem_new(struct supply_tally);

	t->c = c;
	t->all = true;
	for (enum tally_kind k = 0; k < KINDS; k++)
		t->of[k] = (struct tally_counts){map_new(NULL), map_new(group_free), map_new(NULL)};
	loop_timer_init(&t->timer, c->group, check, t);
	loop_timer_start(&t->timer, SUPPLY_TALLY_CHECK_MS);
	return t;
}

void supply_tally_free(struct supply_tally *t)
{
	if (!t)
		return;
	loop_timer_stop(&t->timer);
	arena_free(t->arena);
	for (enum tally_kind k = 0; k < KINDS; k++) {
		map_free(t->of[k].rows);
		map_free(t->of[k].groups);
		map_free(t->of[k].marked);
	}
	free(t);
}
