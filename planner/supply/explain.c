/*
 * explain: explains why a class (set of equal pods) gets no machine. Writes one reason per
 * pool, derived from what excludes each of the pool's types; or a single reason if a volume's node
 * no longer exists or no pool selects the tenant.
 * Tests: tests/unit/planner/supply/test_supply.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "planner/fit.h"
#include "planner/supply/overhead.h"
#include "planner/supply/quota.h"
#include "planner/supply/stops.h"

#define KEY_SHOWN 200 /* Number of bytes to which a gang's key is truncated in reasons. */
/* Number of minor versions by which a kubelet may be older than its API server. */
#define KUBELET_SKEW 3

static bool minor_of(const char *version, int64_t *minor)
{
	return version && str_starts(version, "1.") && str_to_i64(version + 2, 0, 1000, minor);
}

/* Returns the newest image version of the pool that is not newer than the API server and at most
 * KUBELET_SKEW minor versions older; NULL: none. */
const char *supply_version(const struct world_pool *p, const char *server)
{
	int64_t want, have, best = -1;
	const char *found = NULL;

	if (!minor_of(server, &want))
		return NULL;
	for (size_t i = 0; i < p->nversions; i++)
		if (minor_of(p->versions[i], &have) && have <= want &&
		    want - have <= KUBELET_SKEW && have > best) {
			best = have;
			found = p->versions[i];
		}
	return found;
}

/* Counts suitable machines that are not free. v: number n of machines for each text `what` that
 * describes their state. machines: number of all suitable machines. below: number of machines that
 * are free but wiped less thoroughly than the pool requires. held: number of machines reserved for
 * gangs. */
struct doing {
	struct {
		const char *what;
		size_t n;
	} v[32];
	size_t n, machines, below, held;
	/* The gang for which the most recently counted machine is reserved; of_text: text about
	 * this gang. */
	const struct world_gang *of;
	const char *of_text;
};

static void count(struct doing *d, const char *what)
{
	size_t i = 0;

	while (i < d->n && !str_eq(d->v[i].what, what))
		i++;
	if (i == sizeof(d->v) / sizeof(d->v[0]))
		return;
	if (i == d->n) {
		d->v[i].what = what;
		d->v[d->n++].n = 0;
	}
	d->v[i].n++;
}

/* Counts a machine that is reserved for gang g. The text contains the gang's name only if g belongs
 * to tenant t, because other tenants must not learn it. */
static void count_held(const struct planning *p, const struct world_gang *g,
		       const struct plan_tenant *t, struct doing *d)
{
	if (d->of != g)
		d->of_text = str_eq(g->first->pod->tenant, t->it->name)
				     ? arena_printf(p->a, "reserved for gang %.*s", KEY_SHOWN,
						    gang_key(g))
				     : "reserved for a gang";
	d->of = g;
	d->held++;
	count(d, d->of_text);
}

static void count_group(const struct planning *p, const struct supply_pool *pool,
			const struct supply_group *g, const struct plan_tenant *t, struct doing *d)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct world_machine *m = &g->v[i]->m;

		d->machines++;
		if (!m->offered)
			count(d, str_or(m->not_offered, "not offered"));
		else if (g->v[i]->held == p->w->plan)
			count_held(p, g->v[i]->held_for, t, d);
		else if (g->v[i]->used == p->w->plan)
			count(d, "claimed");
		else if (!supply_wiped_enough(m, pool->it))
			d->below++;
	}
}

static int by_what(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char *taken_text(struct doing *d, struct arena *a)
{
	const char *text = "";

	qsort(d->v, d->n, sizeof(d->v[0]), by_what);
	for (size_t i = 0; i < d->n; i++)
		text = arena_printf(a, "%s%s%zu %s", text, i ? ", " : "", d->v[i].n, d->v[i].what);
	return arena_printf(a, "%zu machine%s, all taken (%s)", d->machines,
			    d->machines == 1 ? " fits" : "s fit", text);
}

/* Returns text that names the suitable types, if none of them has a machine: "there is no machine
 * of type small, big or gpu", or for more than three types "there is no machine of the 5 types that
 * fit". */
static const char *none_text(const struct plan_class *c, const struct fit_pool *fp, struct arena *a)
{
	const struct supply_pool *pool = fp->pool;
	const char *text = "", *named[3];
	size_t n = 0;

	for (size_t i = 0; i < pool->noffers; i++)
		if (supply_has(fp->suits.offers, i) && supply_fits(c, &pool->offers[i])) {
			if (n < 3)
				named[n] = pool->offers[i].type->name;
			n++;
		}
	if (n > 3)
		return arena_printf(a, "there is no machine of the %zu types that fit", n);
	for (size_t i = 0; i < n; i++)
		text = arena_printf(a, "%s%s%s", text,
				    !i		 ? ""
				    : i + 1 == n ? " or "
						 : ", ",
				    named[i]);
	return arena_printf(a, "there is no machine of type %s", text);
}

static struct plan_reason reason(struct planning *p, const struct world_pool *pool,
				 enum plan_reason_code code, const char *text)
{
	return (struct plan_reason){pool->name, code,
				    arena_printf(p->a, "pool %s: %s", pool->name, text)};
}

static void count_line(struct planning *p, const struct plan_class *c, const struct fit_pool *fp,
		       const struct supply_type_offer *l, struct doing *d)
{
	for (size_t k = l->first; k < l->first + l->noptions; k++) {
		const struct supply_group *g = fp->pool->options[k].group;

		if (!supply_has(fp->suits.options, k) || !g)
			continue;
		planning_charge(p, c->tenant, 2 * g->n);
		count_group(p, fp->pool, g, c->tenant, d);
	}
}

static const char *amount(const struct resources *r, const char *name, struct arena *a)
{
	const struct quantity zero = {0}, *q = resources_get(r, name);
	char text[QUANTITY_TEXT];

	return arena_strdup(a, quantity_format(q ? *q : zero, text));
}

/* Returns text about a reached limit: "64 of 64 used, a machine of type gpu would add 8". */
static const char *used_text(const struct planning *p, const struct tally *t,
			     const struct resources *bounds, const char *name,
			     const struct supply_type_offer *l)
{
	if (str_eq(name, "nodes"))
		return arena_printf(p->a, "%lld of %s used", (long long)t->nodes,
				    amount(bounds, name, p->a));
	return arena_printf(p->a, "%s of %s used, a machine of type %s would add %s",
			    amount(&t->held, name, p->a), amount(bounds, name, p->a), l->type->name,
			    amount(&l->type->capacity, name, p->a));
}

/* Returns the largest of the offers in `suits` if all of them are too small for the class; NULL:
 * one of them is large enough. */
static const struct supply_type_offer *too_small(const struct plan_class *c,
						 const struct fit_pool *fp,
						 const struct suits *suits)
{
	const struct supply_type_offer *largest = NULL;

	for (size_t i = 0; i < fp->pool->noffers; i++) {
		if (!supply_has(suits->offers, i))
			continue;
		if (supply_fits(c, &fp->pool->offers[i]))
			return NULL;
		largest = &fp->pool->offers[i];
	}
	return largest;
}

/* True if stops alone exclude the class: an offer that is large enough is stopped, and no other
 * offer is large enough. */
static bool stops_only(const struct plan_class *c, const struct fit_pool *fp)
{
	return fp->stop && !too_small(c, fp, &fp->stopped) &&
	       (!fp->n || too_small(c, fp, &fp->suits));
}

/* Returns the offers whose size a reason refers to: those that suit or, if none suits, those that
 * are stopped. */
static const struct suits *judged(const struct fit_pool *fp)
{
	return fp->n ? &fp->suits : &fp->stopped;
}

/* Returns `text`. If an offer that is stopped would be large enough, appends the reason of the
 * stop. */
static const char *with_stop(struct planning *p, const struct plan_class *c,
			     const struct fit_pool *fp, const char *text)
{
	if (!fp->stop || too_small(c, fp, &fp->stopped))
		return text;
	return arena_printf(p->a, "%s; %s: %s", text, plan_reason_names[stops_code(fp->stop)],
			    fp->stop->text);
}

/* Returns the reason of a pool that has types that fit: the pool's limit is reached, the tenant's
 * quota is used up, or no machine is free. */
static struct plan_reason short_of(struct planning *p, const struct plan_class *c,
				   const struct fit_pool *fp)
{
	const struct world_pool *it = fp->pool->it;
	const char *quota = NULL, *limit = NULL, *name;
	const struct supply_type_offer *of_quota = NULL, *of_limit = NULL;
	struct doing d = {0};
	bool may = false;

	for (size_t i = 0; i < fp->pool->noffers; i++) {
		const struct supply_type_offer *l = &fp->pool->offers[i];

		if (!supply_has(fp->suits.offers, i) || !supply_fits(c, l))
			continue;
		if ((name = quota_passes(c->tenant, &l->type->capacity))) {
			quota = quota ? quota : name;
			of_quota = of_quota ? of_quota : l;
		} else if ((name = tally_passes(&fp->pool->tally, &it->limits,
						&l->type->capacity))) {
			limit = limit ? limit : name;
			of_limit = of_limit ? of_limit : l;
		} else {
			may = true;
			count_line(p, c, fp, l, &d);
		}
	}
	if (!may && limit)
		return reason(
			p, it, PLAN_POOL_LIMIT,
			arena_printf(p->a, "the pool's limit of %s is reached: %s", limit,
				     used_text(p, &fp->pool->tally, &it->limits, limit, of_limit)));
	if (!may)
		return reason(p, it, PLAN_QUOTA, quota_text(p, c->tenant, quota, of_quota));
	if (d.below)
		return reason(
			p, it, PLAN_ERASE_BELOW_POLICY,
			arena_printf(p->a,
				     "%zu free machine%s wiped less thoroughly than the pool's "
				     "spec.wipe requires",
				     d.below, d.below == 1 ? " was" : "s were"));
	return reason(
		p, it, d.held ? PLAN_HELD : PLAN_NO_MACHINE,
		with_stop(p, c, fp, d.machines ? taken_text(&d, p->a) : none_text(c, fp, p->a)));
}

static const char *too_many_volumes(struct planning *p, const struct plan_class *c,
				    const char *name)
{
	const struct quantity *less = resources_get(&c->fit->overhead->of, name);
	const int64_t may = PLANNING_ATTACHMENTS - (less ? quantity_ceil(*less) : 0),
		      wants = quantity_ceil(*resources_get(&c->pod->requests, name));

	return arena_printf(p->a,
			    "the pod has %lld volumes of CSI driver %s, a new node can attach %lld",
			    (long long)wants, name + 1, (long long)may);
}

/* Returns, as text, the largest amount of the resource that a suitable type has. */
static const char *most_of(const struct fit_pool *fp, const char *name, struct arena *a)
{
	const struct resources *most = NULL;

	for (size_t i = 0; i < fp->pool->noffers; i++) {
		const struct resources *r = &fp->pool->offers[i].type->capacity;
		const struct quantity *q = resources_get(r, name),
				      *best = most ? resources_get(most, name) : NULL;

		if (supply_has(judged(fp)->offers, i) && q &&
		    (!best || quantity_cmp(*q, *best) > 0))
			most = r;
	}
	return most ? amount(most, name, a) : "0";
}

static const char *too_little(struct planning *p, const struct plan_class *c,
			      const struct fit_pool *fp, const struct supply_type_offer *l)
{
	const struct resources *taken = &overhead_of_offer(c->fit, l)->of;
	const char *name =
		str_or(fit_resources(&c->pod->requests, &l->type->capacity, taken), "pods");

	if (planning_is_attachment(name))
		return too_many_volumes(p, c, name);
	if (planning_is_port(name))
		return arena_printf(p->a, "a DaemonSet uses host port %s on every node", name + 1);
	/* No request has this name, so the name is that of column 0 ("pods"): the machine has no
	 * room for one more pod. */
	if (!resources_get(&c->pod->requests, name))
		return arena_printf(p->a, "type %s has too little %s", l->type->name, name);
	planning_charge(p, c->tenant, fp->pool->noffers);
	return arena_printf(
		p->a,
		"type %s has too little %s: the pod requests %s, %s%s%sthe largest type has %s",
		l->type->name, name, amount(&c->pod->requests, name, p->a),
		resources_get(taken, name) ? "DaemonSets use " : "",
		resources_get(taken, name) ? amount(taken, name, p->a) : "",
		resources_get(taken, name) ? ", " : "", most_of(fp, name, p->a));
}

static const char *no_provider(struct planning *p, const struct world_pool *it)
{
	for (size_t i = 0; i < it->nproviders; i++) {
		const struct world_provider *pr = world_find(p->w->providers, it->providers[i]);

		if (!pr || pr->paused)
			return arena_printf(p->a, "provider %s: %s", it->providers[i],
					    pr ? str_or(pr->paused_reason, "paused") : "not found");
		if (pr->elastic && it->permits_only)
			return arena_printf(
				p->a,
				"the pool has no limits.nodes, so provider %s launches instances "
				"for it only when a BurstPolicy decides so",
				it->providers[i]);
	}
	return "none of its providers has instance types";
}

/* Returns text about the label that does not match, for the option fp->missed. */
static const char *missed_text(struct planning *p, const struct plan_class *c,
			       const struct fit_pool *fp)
{
	const struct labels *has = &fp->missed->labels;
	const char *key = NULL,
		   *what = fp->missed_own
				   ? fit_selector_miss(&fp->pool->it->requirements, has, &key, p->a)
				   : fit_labels_miss(c->pod, has, &key, p->a);
	const char *text = arena_printf(p->a, "no instance type fits %s%s",
					fp->missed_own ? "the pool's own requirement " : "", what);

	planning_charge(p, c->tenant, c->fit->cost);
	return !key ? text
		    : arena_printf(p->a, "%s: type %s has %s", text, fp->missed_type->name,
				   str_or(labels_get(has, key), "none"));
}

static const char *unproved_text(struct planning *p, const struct world_tenant *t,
				 const struct world_provider *pr)
{
	static const char *const names[] = {"None", "Weak", "Strong"};

	return arena_printf(
		p->a,
		"tenant %s requires network proof %s, the network of provider %s proves only "
		"%s%s%s",
		t->name, names[t->proof], pr->name, names[pr->proof],
		pr->proof == WORLD_PROOF_NONE ? ""
		: t->probed
			? ": for a proof by packets, set spec.network.probe.provisioning of the "
			  "provider"
			: ": for a proof by packets, set spec.network.probe of the tenant",
		pr->proof == WORLD_PROOF_NONE || t->probed || pr->probed
			? ""
			: " and spec.network.probe.provisioning of the provider");
}

static struct plan_reason why_not(struct planning *p, const struct plan_class *c,
				  const struct fit_pool *fp)
{
	const struct world_pool *it = fp->pool->it;
	const struct supply_type_offer *small;

	if (it->paused)
		return reason(p, it, PLAN_POOL_PAUSED, str_or(it->paused_reason, "paused"));
	if (c->tenant->it->no_nodes)
		return reason(p, it, PLAN_NOT_TAKEN,
			      arena_printf(p->a, "virtual cluster %s does not accept nodes: %s",
					   c->tenant->it->name, c->tenant->it->no_nodes));
	if (c->tenant->it->on_host ? !it->host : it->not_private)
		return reason(p, it, PLAN_NOT_TAKEN,
			      arena_printf(p->a,
					   "its spec.template.spec.nodes does not allow %s nodes",
					   c->tenant->it->on_host ? "Host" : "Private"));
	if (!supply_version(it, c->tenant->it->version))
		return reason(
			p, it, PLAN_NO_IMAGE,
			arena_printf(p->a, "no image for Kubernetes %s", c->tenant->it->version));
	if (!fp->pool->noffers)
		return reason(p, it, PLAN_NO_MACHINE, no_provider(p, it));
	if (stops_only(c, fp))
		return reason(p, it, stops_code(fp->stop), fp->stop->text);
	if (!fp->n && !fp->stop)
		return reason(p, it, fp->code,
			      fp->code == PLAN_REQUIREMENTS ? missed_text(p, c, fp)
			      : fp->code == PLAN_PROOF
				      ? unproved_text(p, c->tenant->it, fp->unproved)
				      : fp->text);
	planning_charge(p, c->tenant, fp->pool->noffers);
	small = too_small(c, fp, judged(fp));
	return small ? reason(p, it, PLAN_TOO_BIG, too_little(p, c, fp, small))
		     : short_of(p, c, fp);
}

/* Returns how near a pod with this reason is to getting a machine; a greater number is nearer. */
static int nearness(enum plan_reason_code code)
{
	static const int near[PLAN_REASONS] = {
		[PLAN_REQUIREMENTS] = 1, [PLAN_TAINT] = 2,	 [PLAN_RUNTIME_CLASS] = 3,
		[PLAN_TOO_BIG] = 4,	 [PLAN_NOT_TAKEN] = 5,	 [PLAN_NO_IMAGE] = 6,
		[PLAN_PROOF] = 7,	 [PLAN_POOL_PAUSED] = 8, [PLAN_ERASE_BELOW_POLICY] = 9,
		[PLAN_QUOTA] = 10,	 [PLAN_POOL_LIMIT] = 11, [PLAN_PROVIDER] = 12,
		[PLAN_STOPPED] = 12,	 [PLAN_BACK_OFF] = 12,	 [PLAN_NO_OFFER] = 12,
		[PLAN_NO_MACHINE] = 13,	 [PLAN_HELD] = 14,	 [PLAN_TOPOLOGY] = 15,
		[PLAN_BY_POLICY] = 8,	 [PLAN_DENIED] = 13,
	};

	return near[code];
}

static int by_nearness(const void *x, const void *y)
{
	const struct plan_reason *a = x, *b = y;

	if (nearness(a->code) != nearness(b->code))
		return nearness(b->code) - nearness(a->code);
	return strcmp(a->pool, b->pool);
}

static bool has_node(struct planning *p, const struct plan_class *c, const struct world_volume *v)
{
	const struct world_list *nodes = world_nodes(p->w);

	planning_charge(p, c->tenant, nodes->n);
	for (size_t i = 0; i < nodes->n; i++) {
		const struct world_node *n = nodes->v[i];

		if (str_eq(n->tenant, c->tenant->it->name) && fit_volume(v, &n->labels))
			return true;
	}
	return false;
}

/* Returns the first volume of the pods whose only possible node does not exist; NULL: none. */
static const struct world_volume *lost_volume(struct planning *p, const struct plan_class *c)
{
	for (size_t i = 0; i < c->pod->volumes.n; i++)
		if (c->pod->volumes.v[i].node && !has_node(p, c, &c->pod->volumes.v[i]))
			return &c->pod->volumes.v[i];
	return NULL;
}

void supply_explain(struct planning *p, struct plan_class *c)
{
	const struct world_volume *lost = lost_volume(p, c);

	if (lost) {
		c->reasons = arena_new_obj(p->a, struct plan_reason);
		*c->reasons = (struct plan_reason){
			"", PLAN_VOLUME,
			arena_printf(p->a, "%s is on Node %s, which no longer exists", lost->name,
				     lost->node)};
		c->nreasons = 1;
		return;
	}
	planning_charge(p, c->tenant, 50 * c->fit->npools);
	c->reasons = arena_calloc(p->a, c->fit->npools + 1, sizeof(*c->reasons));
	c->nreasons = 0;
	for (size_t i = 0; i < c->fit->npools; i++)
		c->reasons[c->nreasons++] = why_not(p, c, &c->fit->pools[i]);
	qsort(c->reasons, c->nreasons, sizeof(*c->reasons), by_nearness);
	if (!c->nreasons)
		c->reasons[c->nreasons++] = (struct plan_reason){
			"", PLAN_NO_POOL,
			arena_printf(p->a, "no pool selects tenant %s", c->tenant->it->name)};
}

/* Returns the topology keys of the pods' constraints as text: "topology.kubernetes.io/zone,
 * kubernetes.io/hostname". */
static const char *keys_text(const struct plan_cell *c, struct arena *a)
{
	const struct world_pod *p = c->profile->pod;
	const char *text = "";

	for (size_t i = 0; i < p->topology.n; i++) {
		size_t k = 0;

		while (!str_eq(p->topology.v[k].key, p->topology.v[i].key))
			k++;
		if (k == i)
			text = arena_printf(a, "%s%s%.100s", text, i ? ", " : "",
					    p->topology.v[i].key);
	}
	return *text ? text : "anti-affinity of other pods";
}

struct plan_reason *supply_explain_blocked(struct planning *p, const struct plan_cell *cell,
					   size_t *n)
{
	const struct plan_class *c = cell->class_;
	struct plan_reason *v = arena_calloc(p->a, c->nreasons + 1, sizeof(*v));

	planning_charge(p, c->tenant, 50 * c->fit->npools);
	*n = c->nreasons;
	for (size_t i = 0; i < c->nreasons; i++) {
		v[i] = c->reasons[i];
		for (size_t k = 0; k < c->fit->npools; k++)
			if (c->fit->pools[k].blocked &&
			    str_eq(c->fit->pools[k].pool->it->name, v[i].pool))
				v[i] = reason(
					p, c->fit->pools[k].pool->it, PLAN_TOPOLOGY,
					arena_printf(
						p->a,
						"machines are free, but topology spread or pod "
						"affinity excludes them (%s)",
						keys_text(cell, p->a)));
	}
	qsort(v, *n, sizeof(*v), by_nearness);
	return v;
}
