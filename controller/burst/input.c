/* input: builds the lists of struct burst_input, with one function for each list. */
#include "controller/burst/input.h"

#include "api/annotations.h"
#include "base/map.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/burst/policy_objects.h"
#include "controller/burst/permits.h"
#include "controller/core/sending.h"
#include "controller/burst/settle.h"
#include "controller/hardware/fleet.h"
#include "controller/core/lookup.h"
#include "controller/rules/claim.h"
#include "controller/rules/ledger.h"
#include "controller/rules/provider.h"

#define PRODUCT "nvidia.com/gpu.product"
/* Elapsed time is rounded up to steps of this length when running costs are calculated */
#define STEP_MS (10 * 60 * 1000)

/* The lists of struct burst_input while they are being built. They grow in the arena. */
struct taking {
	struct context *c;
	struct fleet *f;
	struct arena *a;
	struct burst_policy_in *policies;
	struct burst_offer *offers;
	struct burst_failure *failures;
	struct burst_launch *launches;
	struct burst_rate *rates;
	size_t npolicies, noffers, nfailures, nlaunches, nrates;
	/* Names of the Providers whose offers were added */
	struct map *providers;
	/* UIDs of the existing claims with spec.burst */
	struct map *there;
	/* UIDs of the gangs of the claims with spec.burst */
	struct map *gangs;
	/* Cost of the launches by month. Key: "tenant/provider/currency/month"; value: int64_t */
	struct map *known;
	int64_t used, owned;
	/* True: the offers of some Provider have not been read yet */
	bool reading;
};

#define ADD(t, list)                                                                               \
	((t)->list = arena_grow((t)->a, (t)->list, (t)->n##list, sizeof(*(t)->list)),              \
	 &(t)->list[(t)->n##list++])

/* --- offers ----------------------------------------------------------------------------------- */

static void take_offer(struct taking *t, const struct provider_object *p, const struct offer *o,
		       int64_t at)
{
	const struct provider_object_instance_type *type = provider_instance_type(p, o->type);

	if (!type) /* No pod can be planned on an unknown type, so skip the offer. */
		return;
	*ADD(t, offers) = (struct burst_offer){
		.provider = arena_strdup(t->a, p->meta.name),
		.kind = offer_copy(o, t->a),
		.priced_at = at,
		.gpus = provider_type_gpus(type),
		.link = (enum burst_link)provider_type_interconnect(type),
		.product = arena_strdup(t->a, str_or(labels_get(&type->labels, PRODUCT), "")),
	};
}

static void take_refusal(const char *provider, const struct provider_object_refusal *x, void *arg)
{
	struct taking *t = arg;

	*ADD(t, failures) = (struct burst_failure){.provider = arena_strdup(t->a, provider),
						   .region = arena_strdup(t->a, x->region),
						   .zone = arena_strdup(t->a, x->zone),
						   .type = arena_strdup(t->a, x->instance_type),
						   .quota = x->quota,
						   .at = x->at};
}

static void take_provider(struct taking *t, const char *name)
{
	const struct provider_object *p = CTX_GET(t->c, OBJECT_PROVIDER, provider_object, name);
	const struct offer *v;
	size_t n;
	int64_t at;
	bool answered;

	if (map_has(t->providers, name) || !provider_is_elastic(p) || p->spec.paused ||
	    p->meta.deletion_timestamp)
		return;
	map_put(t->providers, name, t);
	v = fleet_offers(t->f, name, &n, &at, &answered);
	t->reading |= !answered;
	for (size_t i = 0; i < n; i++)
		take_offer(t, p, &v[i], at);
	offer_refusals_each(fleet_refusals(t->f), name, take_refusal, t);
}

static bool take_policy(const struct kube_entry *en, void *arg)
{
	const struct burst_policy *p = en->object;
	struct taking *t = arg;

	if (p->meta.deletion_timestamp)
		return true;
	*ADD(t, policies) = burst_object_policy(p, t->c->zones, t->a);
	for (size_t i = 0; i < p->spec.offers.n; i++)
		take_provider(t, p->spec.offers.v[i].provider);
	return true;
}

/* --- money ------------------------------------------------------------------------------------ */

static int64_t *known_of(struct taking *t, const struct burst_launch *l, const char *month)
{
	const char *key = arena_printf(t->a, "%s/%s/%s/%s", l->tenant, l->provider,
				       str_or(l->currency, ""), month);
	int64_t *sum = map_get(t->known, key);

	if (!sum) {
		sum = arena_new_obj(t->a, int64_t);
		*sum = 0;
		map_put(t->known, key, sum);
	}
	return sum;
}

static int64_t gpus_of(const struct taking *t, const char *provider, const char *name)
{
	const struct provider_object *p =
		CTX_GET(t->c, OBJECT_PROVIDER, provider_object, str_or(provider, ""));

	return provider_type_gpus(p ? provider_instance_type(p, name) : NULL);
}

/* Adds an overrun (cost beyond the committed amount) to the known cost of each month in which it
 * arises, so that the tenant's bill does not count it again. */
static void know_over(struct taking *t, const struct burst_launch *l)
{
	char month[LEDGER_MONTH_SIZE];
	int64_t from = l->over.from, begin, end, cost;

	while (from < l->over.until) {
		ledger_month(from, month);
		if (!ledger_month_times(month, &begin, &end))
			return;
		if (end > l->over.until)
			end = l->over.until;
		if (!money_for_ms(l->over.per_hour, end - from, &cost))
			cost = INT64_MAX;
		money_add_cost(known_of(t, l, month), cost);
		from = end;
	}
}

static int64_t to_step(int64_t ms)
{
	return (ms + STEP_MS - 1) / STEP_MS * STEP_MS;
}

static bool is_unapproved(const struct node_claim *n)
{
	const struct condition *c = condition_get(&n->status.conditions, APPROVED_CONDITION);

	return c && c->status != CONDITION_TRUE;
}

/* Adds a claim with spec.burst as a launch that costs its committed amount. Cost beyond the
 * committed amount (an overrun) is added for the time in which it arises. What moving data costs is
 * no part of the known cost, because no bill of a tenant contains it. */
static void take_burst(const struct node_claim *n, void *arg)
{
	const struct node_claim_burst *b = n->spec.burst;
	struct taking *t = arg;
	/* A claim that waits for its approval reserves its committed amount, and runs no time. */
	const bool waits = is_unapproved(n);
	const int64_t now = loop_wall(t->c->loop), began = b ? settle_paid_from(n, now) : 0,
		      ran = now > began && !waits ? now - began : 0,
		      moved = b && !waits ? settle_egress(b) : 0;
	char month[LEDGER_MONTH_SIZE];
	struct burst_launch *l;
	int64_t until;

	if (!b || !n->spec.provider_ref || str_eq(n->status.phase, CLAIM_PHASE_DENIED))
		return;
	l = ADD(t, launches);
	*l = (struct burst_launch){
		.policy = b->policy_ref.name,
		.tenant = n->spec.virtual_cluster_ref.name,
		.workload = b->work,
		.owner = b->workload,
		.provider = n->spec.provider_ref->name,
		.currency = b->currency,
		.at = began,
		.nodes = 1,
		.gpus = gpus_of(t, n->spec.provider_ref->name,
				claim_instance_type(n, machine_named_by(t->c, n))),
		.starting = !claim_is_ready(n) && !waits,
		.part = n->spec.gang && map_has(t->gangs, n->spec.gang->uid)};
	if (n->spec.gang && !l->part)
		map_put(t->gangs, n->spec.gang->uid, t);
	if (!money_for_ms(b->price, to_step(ran), &l->spent) || !money_add(&l->spent, moved))
		l->spent = INT64_MAX;
	l->committed = b->committed > l->spent ? b->committed - l->spent : 0;
	until = settle_paid_until(n, now);
	if (now > until) {
		l->spent = b->committed;
		l->over.from = until;
		l->over.until = until + to_step(now - until);
		l->over.per_hour = b->price;
		know_over(t, l);
	}
	ledger_month(began, month);
	/* mutant: burst-egress-billed */
	money_add_cost(known_of(t, l, month), l->spent - moved);
}

static void take_permit(const struct permit *p, void *arg)
{
	struct taking *t = arg;

	for (int64_t i = 0; i < p->nodes; i++)
		*ADD(t, launches) = (struct burst_launch){
			.policy = arena_strdup(t->a, p->burst.policy_ref.name),
			.tenant = arena_strdup(t->a, p->tenant),
			.workload = arena_strdup(t->a, p->work),
			.owner = arena_strdup(t->a, p->burst.workload),
			.provider = arena_strdup(t->a, p->provider),
			.currency = arena_strdup(t->a, p->burst.currency),
			.at = p->burst.decided_time,
			.committed = p->burst.committed,
			.nodes = 1,
			.gpus = p->gpus,
			.starting = true,
			.part = i > 0};
}

static bool take_claim(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct taking *t = arg;
	const int64_t now = loop_wall(t->c->loop), began = n->meta.creation_timestamp,
		      ran = now > began ? now - began : 0;
	const struct machine *m = CTX_GET(t->c, OBJECT_MACHINE, machine, en->name);
	const struct machine_instance *i = m ? m->status.instance : NULL;
	char month[LEDGER_MONTH_SIZE];
	struct burst_launch *l;

	if (n->spec.burst) {
		map_put(t->there, n->meta.uid, t);
		/* mutant: burst-claim-uncharged */
		take_burst(n, t);
	}
	if (n->spec.burst || !n->spec.provider_ref || !i || str_empty(i->token))
		return true;
	l = ADD(t, launches);
	*l = (struct burst_launch){.policy = "",
				   .tenant = n->spec.virtual_cluster_ref.name,
				   .workload = en->name,
				   .provider = n->spec.provider_ref->name,
				   .currency = i->currency,
				   .at = began,
				   .nodes = 1,
				   .starting = !claim_is_ready(n)};
	if (!money_for_ms(i->micros_per_hour, to_step(ran), &l->spent))
		l->spent = INT64_MAX;
	ledger_month(began, month);
	money_add_cost(known_of(t, l, month), l->spent);
	return true;
}

/* Adds the rows of a BurstLedger whose claims are deleted. The row of a claim that still exists is
 * skipped: the claim itself was counted, with a larger amount. */
static bool take_settled(const struct kube_entry *en, void *arg)
{
	const struct burst_ledger *led = en->object;
	struct taking *t = arg;

	/* mutant: burst-settled-lost */
	for (size_t i = 0; i < led->status.rows.n; i++) {
		const struct burst_ledger_row *x = &led->status.rows.v[i];
		char month[LEDGER_MONTH_SIZE];
		struct burst_launch *l;

		if (x->claim && map_has(t->there, x->claim))
			continue;
		l = ADD(t, launches);
		*l = (struct burst_launch){.policy = led->meta.name,
					   .tenant = x->tenant,
					   .workload = str_or(x->work, ""),
					   .provider = x->provider,
					   .currency = x->currency,
					   .at = x->time,
					   .spent = x->amount};
		ledger_month(x->time, month);
		money_add_cost(known_of(t, l, month), x->egress > 0 && x->egress <= x->amount
							      ? x->amount - x->egress
							      : x->amount);
	}
	return true;
}

/* Adds the amount, by month, by which a tenant's bill for elastic Providers exceeds the cost of the
 * known launches. */
static bool take_bill(const struct kube_entry *en, void *arg)
{
	const struct virtual_cluster *vc = en->object;
	struct taking *t = arg;
	const struct virtual_cluster_cost c =
		ledger_at(vc->status.cost, loop_wall(t->c->loop), t->a);
	OWN(map) sums = map_new(NULL);
	struct map_iter it;

	for (size_t i = 0; i < c.charges.n; i++) {
		const struct virtual_cluster_charge *x = &c.charges.v[i];
		struct burst_launch *l;
		int64_t begin, end, micro;
		const char *key;

		if (!x->provider ||
		    !provider_is_elastic(
			    CTX_GET(t->c, OBJECT_PROVIDER, provider_object, x->provider)) ||
		    !ledger_month_times(x->month, &begin, &end) || !ledger_amount(x, &micro))
			continue;
		key = arena_printf(t->a, "%s/%s/%s", x->provider, x->currency, x->month);
		l = map_get(sums, key);
		if (!l) {
			l = arena_new_obj(t->a, struct burst_launch);
			*l = (struct burst_launch){.policy = "",
						   .tenant = vc->meta.name,
						   .workload = "",
						   .provider = x->provider,
						   .currency = x->currency,
						   .at = begin,
						   .of_month = true};
			map_put(sums, key, l);
		}
		money_add_cost(&l->spent, micro);
	}
	map_for_each (it, sums) {
		struct burst_launch *l = it.value;
		char month[LEDGER_MONTH_SIZE];

		ledger_month(l->at, month);
		l->spent -= *known_of(t, l, month);
		if (l->spent > 0)
			*ADD(t, launches) = *l;
	}
	return true;
}

/* Adds the rate of an owned machine. Of equal product and currency only the lowest is kept. */
static void take_rate(struct taking *t, const struct machine *m)
{
	const struct provider_object *p =
		CTX_GET(t->c, OBJECT_PROVIDER, provider_object, m->spec.provider_ref.name);
	const struct provider_object_instance_type *type =
		p ? provider_instance_type(p, m->spec.instance_type) : NULL;
	const int64_t gpus = provider_type_gpus(type);
	const char *product;
	size_t i = 0;

	if (!type || gpus <= 0 || type->price_per_hour < 0 || !type->currency)
		return;
	product = str_or(labels_get(&type->labels, PRODUCT), "");
	while (i < t->nrates && (!str_eq(t->rates[i].product, product) ||
				 !str_eq(t->rates[i].currency, type->currency)))
		i++;
	if (i == t->nrates)
		*ADD(t, rates) = (struct burst_rate){arena_strdup(t->a, product),
						     arena_strdup(t->a, type->currency), INT64_MAX};
	if (type->price_per_hour / gpus < t->rates[i].gpu_hour)
		t->rates[i].gpu_hour = type->price_per_hour / gpus;
}

static bool count_gpus(const struct kube_entry *en, void *arg)
{
	const struct machine *m = en->object;
	struct taking *t = arg;
	const int64_t gpus = gpus_of(t, m->spec.provider_ref.name, m->spec.instance_type);

	if (m->spec.elastic)
		return true;
	t->owned += gpus;
	t->used += m->status.claim_ref ? gpus : 0;
	take_rate(t, m);
	return true;
}

struct burst_input burst_input_of(const struct burst_input_spec *spec, struct arena *a,
				  bool *reading)
{
	struct context *c = spec->c;
	OWN(map) providers = map_new(NULL);
	OWN(map) known = map_new(NULL);
	OWN(map) there = map_new(NULL);
	OWN(map) gangs = map_new(NULL);
	struct taking t = {.c = c,
			   .f = spec->fleet,
			   .a = a,
			   .providers = providers,
			   .there = there,
			   .gangs = gangs,
			   .known = known};

	kube_cache_each(c->cache[OBJECT_BURST_POLICY], take_policy, &t);
	kube_cache_each(c->cache[OBJECT_NODE_CLAIM], take_claim, &t);
	/* mutant: burst-forgotten */
	kube_cache_each(c->cache[OBJECT_BURST_LEDGER], take_settled, &t);
	sending_each(spec->sending, take_burst, &t);
	permits_each(spec->permits, take_permit, &t);
	kube_cache_each(c->cache[OBJECT_VIRTUAL_CLUSTER], take_bill, &t);
	kube_cache_each(c->cache[OBJECT_MACHINE], count_gpus, &t);
	*reading = t.reading;
	return (struct burst_input){.now = loop_wall(c->loop),
				    .policies = t.policies,
				    .npolicies = t.npolicies,
				    .offers = t.offers,
				    .noffers = t.noffers,
				    .failures = t.failures,
				    .nfailures = t.nfailures,
				    .launches = t.launches,
				    .nlaunches = t.nlaunches,
				    .gpus_used = t.used,
				    .gpus_owned = t.owned,
				    .rates = t.rates,
				    .nrates = t.nrates};
}
