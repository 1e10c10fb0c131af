#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/fit.h"
#include "planner/supply/overhead.h"
#include "planner/supply/stops.h"

/* Tests: tests/unit/planner/supply/test_supply.c */

static void label(struct labels *l, const char *key, const char *value)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i].key, key)) {
			l->v[i].value = value;
			return;
		}
	l->v[l->n++] = (struct label){key, value};
}

/* Returns the labels of a node: defaults, overridden by the type's labels, then the machine's, then
 * the pool's. */
struct labels supply_node_labels(struct arena *a, const struct labels *type, const char *type_name,
				 const struct labels *machine, const struct labels *pool,
				 const char *pool_name)
{
	const size_t n = (type ? type->n : 0) + (machine ? machine->n : 0) + pool->n;
	struct labels l = {.v = arena_calloc(a, n + 4, sizeof(*l.v))};

	label(&l, "kubernetes.io/os", "linux");
	label(&l, "kubernetes.io/arch", "amd64");
	label(&l, "drover.dev/nodepool", pool_name);
	if (type_name)
		label(&l, "node.kubernetes.io/instance-type", type_name);
	for (size_t i = 0; type && i < type->n; i++)
		label(&l, type->v[i].key, type->v[i].value);
	for (size_t i = 0; machine && i < machine->n; i++)
		label(&l, machine->v[i].key, machine->v[i].value);
	for (size_t i = 0; i < pool->n; i++)
		label(&l, pool->v[i].key, pool->v[i].value);
	labels_sort(&l);
	return l;
}

bool supply_wiped_enough(const struct world_machine *m, const struct world_pool *p)
{
	return (m->level_flash < 0 || m->level_flash >= p->minimum_level_flash) &&
	       (m->level_hdd < 0 || m->level_hdd >= p->minimum_level_hdd) &&
	       m->trust >= p->minimum_trust && !(p->must_cover & ~m->covered);
}

/* --- offers and options ----------------------------------------------------------------------- */

static int compare_amounts(const struct resources *a, const struct resources *b, const char *name)
{
	const struct quantity zero = {0}, *x = resources_get(a, name), *y = resources_get(b, name);

	return quantity_cmp(x ? *x : zero, y ? *y : zero);
}

static int by_labels(const struct labels *a, const struct labels *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		int c = strcmp(a->v[i].key, b->v[i].key);

		if (!c)
			c = strcmp(a->v[i].value, b->v[i].value);
		if (c)
			return c;
	}
	return a->n < b->n ? -1 : a->n > b->n;
}

/* Compares offers, cheapest first: by number of GPUs, then by cost of CPUs and memory, then by
 * order of Providers in the pool. So the first offer that fits wastes the fewest resources. */
static int by_cost(const void *x, const void *y)
{
	const struct supply_type_offer *a = x, *b = y;
	int c = compare_amounts(&a->type->capacity, &b->type->capacity, PLANNING_GPU);

	if (!c && a->cost != b->cost)
		c = a->cost < b->cost ? -1 : 1;
	if (!c && a->order != b->order)
		c = a->order < b->order ? -1 : 1;
	return c ? c : strcmp(a->type->name, b->type->name);
}

int supply_by_worth(const struct world_machine *a, const struct world_machine *b)
{
	if (a->warm != b->warm)
		return a->warm ? -1 : 1;
	if (a->failures != b->failures)
		return a->failures < b->failures ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_worth(const void *x, const void *y)
{
	return supply_by_worth(&(*(struct world_stock *const *)x)->m,
			       &(*(struct world_stock *const *)y)->m);
}

/* A machine whose expected time (p90) has passed is late: its free time counts as unknown. */
int64_t supply_time_of(const struct planning *p, const struct world_machine *m)
{
	if (m->offered)
		return 0;
	if (m->free_p50_ms > 0 && m->free_p90_ms > p->now_ms)
		return m->free_p50_ms;
	return m->returns ? SUPPLY_SOMETIME : SUPPLY_NEVER;
}

bool supply_is_assigned(const struct planning *p, const struct world_stock *m)
{
	const uint64_t plan = p->w->plan;

	return m->m.offered ? m->used == plan : m->promised == plan || m->hoped == plan;
}

int64_t supply_free_at(const struct planning *p, const struct world_stock *m)
{
	const int64_t at = supply_time_of(p, &m->m);

	return at < SUPPLY_SOMETIME && supply_is_assigned(p, m) ? SUPPLY_SOMETIME : at;
}

struct by_free_at {
	int64_t at;
	struct world_stock *m;
};

static int by_free_at(const void *x, const void *y)
{
	const struct by_free_at *a = x, *b = y;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return supply_by_worth(&a->m->m, &b->m->m);
}

void supply_forecast(struct planning *p, struct supply_group *g)
{
	struct by_free_at *v;

	if (g->ahead)
		return;
	v = arena_calloc(p->a, g->n + 1, sizeof(*v));
	for (size_t i = 0; i < g->n; i++) {
		v[g->nahead] = (struct by_free_at){supply_time_of(p, &g->v[i]->m), g->v[i]};
		g->nahead += v[g->nahead].at != SUPPLY_NEVER;
	}
	qsort(v, g->nahead, sizeof(*v), by_free_at);
	g->ahead = arena_calloc(p->a, g->nahead + 1, sizeof(struct world_stock *));
	for (size_t i = 0; i < g->nahead; i++)
		g->ahead[i] = v[i].m;
	p->work += 4 * g->n;
}

static struct supply_group *group_of(struct planning *p, struct world_group *g)
{
	if (g->plan != p->w->plan) {
		g->plan = p->w->plan;
		g->supply = arena_new_obj(p->a, struct supply_group);
		g->supply->n = g->n;
		g->supply->v = arena_calloc(p->a, g->n, sizeof(struct world_stock *));
		memcpy(g->supply->v, g->v, g->n * sizeof(struct world_stock *));
		qsort(g->supply->v, g->n, sizeof(struct world_stock *), by_worth);
	}
	return g->supply;
}

struct world_stock *supply_free_machine(const struct planning *p, const struct supply_pool *pool,
					struct supply_option *o)
{
	for (; o->group && o->next < o->group->n; o->next++) {
		struct world_stock *m = o->group->v[o->next];

		if (m->m.offered && m->used != p->w->plan && supply_wiped_enough(&m->m, pool->it))
			return m;
	}
	return NULL;
}

static bool is_before(const struct supply_option *a, const struct supply_option *b)
{
	return supply_by_worth(a->head, b->head) < 0;
}

static void sink(struct supply_type_offer *l, size_t at)
{
	struct supply_option *const sinks = l->heap[at];
	size_t child;

	while ((child = 2 * at + 1) < l->nheap) {
		if (child + 1 < l->nheap && is_before(l->heap[child + 1], l->heap[child]))
			child++;
		if (!is_before(l->heap[child], sinks))
			break;
		l->heap[at] = l->heap[child];
		at = child;
	}
	l->heap[at] = sinks;
}

/* Corrects the heap before returning its first option. During a plan machines are only taken, so
 * the best machine of an option only becomes worse, and the option can only move down in the
 * heap. */
struct supply_option *supply_best(const struct planning *p, const struct supply_pool *pool,
				  struct supply_type_offer *l)
{
	while (l->nheap) {
		struct supply_option *o = l->heap[0];
		const struct world_stock *m = supply_free_machine(p, pool, o);

		if (m && o->head == &m->m)
			return o;
		if (m)
			o->head = &m->m;
		else
			l->heap[0] = l->heap[--l->nheap];
		if (l->nheap)
			sink(l, 0);
	}
	return NULL;
}

static int by_head(const void *x, const void *y)
{
	const struct supply_option *a = x, *b = y;
	const int c =
		a->group && b->group ? supply_by_worth(&a->group->v[0]->m, &b->group->v[0]->m) : 0;

	return c ? c : by_labels(&a->labels, &b->labels);
}

static size_t groups_of_provider(struct planning *p, const struct world_provider *pr)
{
	size_t n = 0;

	for (size_t i = 0; i < pr->types.n; i++) {
		const struct world_kind *k = world_kind(p->w, pr->name, pr->types.v[i].name);

		n += k ? k->n : 1;
	}
	return n;
}

static void add_option(struct planning *p, struct supply_pool *pool,
		       const struct supply_type_offer *l, struct world_group *g)
{
	struct supply_option *o = &pool->options[pool->noptions++];

	*o = (struct supply_option){
		.labels = supply_node_labels(p->a, &l->type->labels, l->type->name,
					     g ? &g->labels : NULL, &pool->it->labels,
					     pool->it->name),
		.permit = g ? g->permit : NULL,
		.domain = g ? g->domain : NULL,
		.group = g ? group_of(p, g) : NULL,
	};
	if (p->groups)
		o->domains = groups_domains_of(p->groups, &o->labels);
}

/* Adds the options of offer l to the pool, sorted by their best machines. For offers with many
 * options, look_at_each() in supply.c relies on this order. */
static void add_options(struct planning *p, struct supply_pool *pool, struct supply_type_offer *l)
{
	const struct world_kind *kind = world_kind(p->w, l->provider->name, l->type->name);

	l->first = pool->noptions;
	for (size_t g = 0; kind && g < kind->n; g++)
		add_option(p, pool, l, kind->v[g]);
	if (!kind)
		add_option(p, pool, l, NULL);
	l->noptions = pool->noptions - l->first;
	qsort(pool->options + l->first, l->noptions, sizeof(*pool->options), by_head);
	l->heap = arena_calloc(p->a, l->noptions, sizeof(struct supply_option *));
	for (size_t i = 0; i < l->noptions; i++) {
		struct supply_option *o = &pool->options[l->first + i];
		const struct world_stock *m = supply_free_machine(p, pool, o);

		if (!m)
			continue;
		o->head = &m->m;
		l->heap[l->nheap++] = o;
	}
	for (size_t i = l->nheap / 2; i-- > 0;)
		sink(l, i);
}

static void add_lines(struct supply_pool *pool, size_t order, const struct world_provider *pr)
{
	for (size_t i = 0; i < pr->types.n; i++)
		pool->offers[pool->noffers++] =
			(struct supply_type_offer){.provider = pr,
						   .type = &pr->types.v[i],
						   .order = order,
						   .cost = supply_cost(&pr->types.v[i].capacity),
						   .gpus = supply_gpus(&pr->types.v[i].capacity)};
}

/* Fills the table pool->capacity_table with the capacities of the offers. Not called for
 * plan_stock(), which has no columns and does not need the table. */
static void measure_lines(struct planning *p, struct supply_pool *pool)
{
	pool->capacity_table = capacity_table_new(p->a, p->ncolumns);
	capacity_table_expect(pool->capacity_table, pool->noffers);
	for (size_t i = 0; i < pool->noffers; i++) {
		struct supply_type_offer *l = &pool->offers[i];
		int64_t *row = arena_calloc(p->a, p->ncolumns, sizeof(*row));

		planning_room(p, &l->type->capacity, row);
		l->row = row;
		(void)capacity_table_add(pool->capacity_table, row);
		if (!l->nheap)
			capacity_table_close(pool->capacity_table, i);
	}
}

void supply_type_offers(struct planning *p, struct supply_pool *pool)
{
	const struct world_pool *it = pool->it;
	size_t offers = 0, options = 0;

	pool->least_nodes = it->expander != WORLD_EXPANDER_LEAST_COST;
	for (size_t i = 0; i < it->nproviders; i++) {
		const struct world_provider *pr = world_find(p->w->providers, it->providers[i]);

		pool->least_nodes &=
			it->expander == WORLD_EXPANDER_LEAST_NODES || !pr || !pr->elastic;
		offers += pr ? pr->types.n : 0;
		options += pr ? groups_of_provider(p, pr) : 0;
	}
	pool->offers = arena_calloc(p->a, offers + 1, sizeof(*pool->offers));
	pool->options = arena_calloc(p->a, options + 1, sizeof(*pool->options));
	for (size_t i = 0; i < it->nproviders; i++) {
		const struct world_provider *pr = world_find(p->w->providers, it->providers[i]);

		if (pr && !pr->paused)
			add_lines(pool, i, pr);
	}
	qsort(pool->offers, pool->noffers, sizeof(*pool->offers), by_cost);
	for (size_t i = 0; i < pool->noffers; i++)
		add_options(p, pool, &pool->offers[i]);
	if (p->ncolumns)
		measure_lines(p, pool);
	for (size_t i = 0; i < it->taints.n; i++)
		pool->soft |= fit_is_soft(&it->taints.v[i]);
}

/* --- which options suit a fit (pods that differ only in their requests) ----------------------- */

/* Records a reason why an option does not suit, unless the reason recorded before is nearer to
 * suiting. Of equally near reasons the later one is kept, because options are checked in order of
 * size and so the later one is about the larger type. */
static void miss(struct fit_pool *fp, enum plan_reason_code code, const char *text)
{
	static const int nearness[PLAN_REASONS] = {[PLAN_REQUIREMENTS] = 1,
						   [PLAN_TAINT] = 2,
						   [PLAN_RUNTIME_CLASS] = 3,
						   [PLAN_PROOF] = 4,
						   [PLAN_DENIED] = 5};

	if (!fp->text || nearness[code] >= nearness[fp->code]) {
		fp->code = code;
		fp->text = text;
	}
}

/* Records that the labels of option o do not suit. Writes no text: the text is costly and only
 * needed if this reason is reported. */
static void miss_label(struct fit_pool *fp, const struct supply_type_offer *l,
		       const struct supply_option *o)
{
	miss(fp, PLAN_REQUIREMENTS, "");
	fp->missed = o;
	fp->missed_type = l->type;
}

static void miss_proof(struct fit_pool *fp, const struct world_provider *p)
{
	miss(fp, PLAN_PROOF, "");
	fp->unproved = p;
}

static void miss_bought(struct planning *p, const struct plan_fit *f, struct fit_pool *fp,
			const struct world_provider *pr)
{
	if (f->pod->owned_only)
		miss(fp, PLAN_BY_POLICY,
		     arena_printf(p->a,
				  "provider %s launches instances for the pod only when a "
				  "BurstPolicy decides so",
				  pr->name));
	else
		miss(fp, PLAN_NO_MACHINE,
		     arena_printf(p->a,
				  "the pool has no limits.nodes, so provider %s launches "
				  "no instances for it",
				  pr->name));
}

static struct suits suits_new(struct planning *p, const struct supply_pool *pool)
{
	return (struct suits){
		arena_calloc(p->a, pool->noptions / 64 + 1, sizeof(uint64_t)),
		arena_calloc(p->a, pool->noffers / 64 + 1, sizeof(uint64_t)),
	};
}

static void suit(struct suits *s, size_t offer, size_t option)
{
	s->options[option / 64] |= (uint64_t)1 << option % 64;
	s->offers[offer / 64] |= (uint64_t)1 << offer % 64;
}

/* Returns the sets of suitable options and offers with that preference score, created if missing.
 * The list of choices is sorted, highest score first. */
static struct suits *choice_of(struct planning *p, struct fit_pool *fp, int64_t score)
{
	struct fit_choice *v;
	size_t at = 0;

	while (at < fp->nchoices && fp->choices[at].score > score)
		at++;
	if (at < fp->nchoices && fp->choices[at].score == score)
		return &fp->choices[at].suits;
	v = arena_calloc(p->a, fp->nchoices + 1, sizeof(*v));
	if (fp->nchoices) {
		memcpy(v, fp->choices, at * sizeof(*v));
		memcpy(v + at + 1, fp->choices + at, (fp->nchoices - at) * sizeof(*v));
	}
	v[at] = (struct fit_choice){score, suits_new(p, fp->pool)};
	fp->choices = v;
	fp->nchoices++;
	return &v[at].suits;
}

/* True if option o (machines of offer l with equal labels) suits the fit by labels, taints,
 * RuntimeClass and proof of port location; amounts are not compared. Otherwise records the reason.
 * taint: taint of the pool that the pods do not tolerate; NULL: none. */
static bool suits(struct planning *p, const struct plan_fit *f, struct fit_pool *fp,
		  const struct supply_type_offer *l, const struct supply_option *o,
		  const struct world_taint *taint)
{
	if (!f->any_label && !fit_labels(f->pod, &o->labels))
		miss_label(fp, l, o);
	else if (taint)
		miss(fp, PLAN_TAINT,
		     arena_printf(p->a, "the pod does not tolerate taint %s", taint->key));
	else if (!fit_runtime(f->pod, fp->pool->it))
		miss(fp, PLAN_RUNTIME_CLASS,
		     arena_printf(p->a, "its images do not support RuntimeClass %s",
				  f->pod->runtime_class));
	else if (!fit_proof(f->tenant->it, l->provider))
		miss_proof(fp, l->provider);
	else if (/* mutant: denied-claimed-anew */ f->pod->denied)
		/* Seen only by pods of a gang that are not denied themselves: plan.c
		 * replaces the text for each denied pod. */
		miss(fp, PLAN_DENIED, "the claim of another pod of its gang was denied");
	else
		return true;
	return false;
}

/* True if permits (decisions of a BurstPolicy) allow the pods to use the option. A cloud instance
 * that was launched for a permit is only for pods with an equal permit. An elastic Provider's offer
 * without a permit is refused if the pods or the pool require permits. */
static bool permits(const struct plan_fit *f, const struct supply_pool *pool,
		    const struct supply_type_offer *l, const struct supply_option *o)
{
	if (o->permit)
		/* mutant: burst-for-anybody */
		return str_eq(o->permit, f->pod->permit);
	return !l->provider->elastic || (!f->pod->owned_only && !pool->it->permits_only);
}

/* True if a stop (stops.h) excludes the option, which suits otherwise. Then records the stop and
 * the option in *fp. */
static bool is_stopped(struct planning *p, const struct plan_fit *f, struct fit_pool *fp,
		       size_t offer, size_t option)
{
	const struct supply_pool *pool = fp->pool;
	const struct world_stop *s =
		stops_of(p, f->tenant->it, fp, &pool->offers[offer], &pool->options[option]);

	planning_charge(p, f->tenant, p->w->nstops);
	if (!s)
		return false;
	if (!fp->stop)
		fp->stopped = suits_new(p, pool);
	fp->stop = s;
	suit(&fp->stopped, offer, option);
	return true;
}

void supply_narrow(struct planning *p, const struct plan_fit *f, struct fit_pool *fp)
{
	const struct supply_pool *pool = fp->pool;
	const struct world_pool *it = pool->it;
	const struct world_taint *taint = fit_taints(f->pod, &it->taints);
	const bool picky = f->pod->preferences.n || p->soft;
	bool own = false;

	fp->suits = suits_new(p, pool);
	for (size_t i = 0; i < pool->noffers; i++) {
		const struct supply_type_offer *l = &pool->offers[i];

		for (size_t k = l->first; k < l->first + l->noptions; k++) {
			const struct supply_option *o = &pool->options[k];

			if (!permits(f, pool, l, o)) {
				miss_bought(p, f, fp, l->provider);
				own = true;
				continue;
			}
			if (!selector_matches(&it->requirements, &o->labels)) {
				if (!own)
					miss_label(fp, l, o);
				continue;
			}
			own = true;
			if (!suits(p, f, fp, l, o, taint) ||
			    /* mutant: stopped-pool-chosen */ is_stopped(p, f, fp, i, k))
				continue;
			fp->n++;
			suit(&fp->suits, i, k);
			if (picky)
				suit(choice_of(p, fp, fit_score(f->pod, &o->labels, &it->taints)),
				     i, k);
		}
	}
	fp->missed_own = !own;
}

bool supply_fits(const struct plan_class *c, const struct supply_type_offer *l)
{
	const int64_t *row = overhead_row(c->fit, l);

	for (size_t i = 0; i < c->of_new.n; i++)
		if (c->of_new.v[i].amount > row[c->of_new.v[i].column])
			return false;
	return !c->impossible;
}
