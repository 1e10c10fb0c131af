#include "controller/burst/policy_objects.h"
#include "base/money.h"

_Static_assert(BURST_POLICY_DATASETS == BURST_DATASETS, "a policy may have as many data sets");

/* Returns the amount in millionths, or `otherwise` if text is not set. Ignores parse errors,
 * because the texts were validated before. */
static int64_t amount(const char *text, int64_t otherwise)
{
	struct err e;
	int64_t micro;

	return text && money_parse(text, &micro, &e) == 0 ? micro : otherwise;
}

static struct burst_names names(const struct strings *s)
{
	return (struct burst_names){s->v, s->n};
}

static void take_trigger(const struct burst_policy_spec *s, struct burst_policy_in *out,
			 struct arena *a)
{
	const struct burst_policy_trigger *t = &s->trigger;

	if (t->max_queue_wait) {
		const struct burst_policy_queue_wait *w = t->max_queue_wait;

		out->trigger.by_wait = true;
		out->trigger.wait_ms = w->def;
		out->trigger.nwaits = w->by_priority.n;
		out->trigger.waits =
			arena_calloc(a, w->by_priority.n + 1, sizeof(*out->trigger.waits));
		for (size_t i = 0; i < w->by_priority.n; i++)
			out->trigger.waits[i] = (struct burst_wait){w->by_priority.v[i].at_least,
								    w->by_priority.v[i].wait};
	}
	out->trigger.predicted_ms = t->predicted_wait_over;
	out->trigger.slack_ms = t->deadline_slack_under;
	out->trigger.queued_gpus = t->queued_gpus_over;
	out->trigger.impossible = t->on_prem_impossible;
	out->trigger.utilisation = t->guards.on_prem_utilisation_over;
	out->trigger.frees_ms = t->guards.not_if_on_prem_frees_within;
	out->trigger.approval = t->guards.approval != 0;
}

static void take_offers(const struct burst_policy_spec *s, struct burst_policy_in *out,
			struct arena *a)
{
	out->ntiers = s->tiers.n;
	out->tiers = arena_calloc(a, s->tiers.n + 1, sizeof(*out->tiers));
	for (size_t i = 0; i < s->tiers.n; i++)
		out->tiers[i] = (struct burst_tier){(enum market)s->tiers.v[i].market,
						    names(&s->tiers.v[i].offers)};
	out->nentries = s->offers.n;
	out->entries = arena_calloc(a, s->offers.n + 1, sizeof(*out->entries));
	for (size_t i = 0; i < s->offers.n; i++) {
		const struct burst_policy_offer *o = &s->offers.v[i];
		struct burst_entry *n = &out->entries[i];

		*n = (struct burst_entry){
			.name = o->name,
			.provider = o->provider,
			.jurisdiction = o->jurisdiction,
			.certifications = names(&o->certifications),
			.regions = names(&o->regions),
			.zones = names(&o->zones),
			.types = names(&o->instance_types),
			.nfactors = o->gpu_equivalence.n,
			.link = (enum burst_link)o->interconnect.required,
		};
		n->factors = arena_calloc(a, n->nfactors + 1, sizeof(*n->factors));
		for (size_t k = 0; k < n->nfactors; k++)
			n->factors[k] =
				(struct burst_factor){o->gpu_equivalence.v[k].key,
						      amount(o->gpu_equivalence.v[k].value, 1)};
	}
}

static void take_cost(const struct burst_policy_spec *s, struct burst_policy_in *out,
		      struct arena *a)
{
	const struct burst_policy_cost *c = &s->cost;

	out->cost.currency = c->currency;
	out->cost.max_age_ms = c->max_age;
	out->cost.max_gpu_hour = c->max_per_gpu_hour;
	out->cost.max_node_hour = c->max_per_node_hour;
	out->cost.premium = c->max_premium_over_on_prem >= 0;
	out->cost.max_premium = c->max_premium_over_on_prem;
	out->cost.increment_ms = c->minimum_billing.increment;
	out->cost.minimum_ms = c->minimum_billing.minimum;
	out->cost.boot_ms = c->boot_and_stage_time;
	out->cost.nprices = c->prices.n;
	out->cost.prices = arena_calloc(a, c->prices.n + 1, sizeof(*out->cost.prices));
	for (size_t i = 0; i < c->prices.n; i++) {
		const struct burst_policy_price *p = &c->prices.v[i];

		out->cost.prices[i] = (struct burst_price){p->offer,	p->instance_type,
							   p->region,	(enum market)p->market,
							   p->per_hour, p->as_of};
	}
}

/* Returns the zone of that name. A name that cannot be read is stored in out->unknown_zone. */
static const struct zone *zone_of(struct zones *zones, const char *name,
				  struct burst_policy_in *out)
{
	const struct zone *z = NULL;
	struct err e;

	if (zones_get(zones, name, &z, &e) < 0)
		out->unknown_zone = name;
	return z;
}

static void take_budgets(const struct burst_policy_spec *s, struct zones *zones,
			 struct burst_policy_in *out, struct arena *a)
{
	out->nbudgets = s->budget.n;
	out->budgets = arena_calloc(a, s->budget.n + 1, sizeof(*out->budgets));
	for (size_t i = 0; i < s->budget.n; i++) {
		const struct burst_policy_budget *b = &s->budget.v[i];
		int64_t *alerts = arena_calloc(a, b->alert_at.n + 1, sizeof(*alerts));

		for (size_t k = 0; k < b->alert_at.n; k++)
			alerts[k] = amount(b->alert_at.v[k], MONEY_UNIT);
		out->budgets[i] = (struct burst_budget){
			.scope = (enum burst_scope)b->scope,
			.per = (enum burst_period)b->per,
			.amount = b->amount,
			.soft = b->mode != 0,
			.reserve = b->reserve_for_running,
			.alerts = alerts,
			.nalerts = b->alert_at.n,
			.asks = b->on_exhausted != 0,
			.carry = b->carry_over,
			.zone = zone_of(zones, b->timezone, out),
		};
	}
}

static struct burst_window *windows(const struct burst_policy_window *v, size_t n,
				    struct zones *zones, struct burst_policy_in *p, struct arena *a)
{
	struct burst_window *out = arena_calloc(a, n + 1, sizeof(*out));

	for (size_t i = 0; i < n; i++)
		out[i] = (struct burst_window){.cron = v[i].cron,
					       .duration_ms = v[i].duration,
					       .zone = zone_of(zones, v[i].timezone, p)};
	return out;
}

static void take_windows(const struct burst_policy_windows *w, struct zones *zones,
			 struct burst_policy_in *out, struct arena *a)
{
	out->windows.nallow = w->allow.n;
	out->windows.allow = windows(w->allow.v, w->allow.n, zones, out, a);
	out->windows.ndeny = w->deny.n;
	out->windows.deny = windows(w->deny.v, w->deny.n, zones, out, a);
	out->windows.freeze = names(&w->freeze_dates);
	out->windows.freeze_zone = zone_of(zones, w->freeze_timezone, out);
}

static void take_data(const struct burst_policy_data *d, struct burst_policy_in *out,
		      struct arena *a)
{
	out->data.ninputs = d->inputs.n;
	out->data.inputs = arena_calloc(a, d->inputs.n + 1, sizeof(*out->data.inputs));
	for (size_t i = 0; i < d->inputs.n; i++) {
		const struct burst_policy_dataset *s = &d->inputs.v[i];
		struct burst_copy *copies = arena_calloc(a, s->copies.n + 1, sizeof(*copies));

		for (size_t k = 0; k < s->copies.n; k++)
			copies[k] =
				(struct burst_copy){s->copies.v[k].provider, s->copies.v[k].region};
		out->data.inputs[i] = (struct burst_dataset){s->name, quantity_ceil(s->size),
							     copies, s->copies.n};
	}
	out->data.per_gb = d->egress_per_gb;
	out->data.per_second = quantity_floor(d->bytes_per_second);
	out->data.max_ms = d->max_stage_time;
	out->data.max_egress = d->max_egress_cost;
}

static void take_rest(const struct burst_policy_spec *s, struct burst_policy_in *out)
{
	out->compliance.allowed = names(&s->compliance.jurisdictions_allowed);
	out->compliance.denied = names(&s->compliance.jurisdictions_denied);
	out->compliance.certifications = names(&s->compliance.certifications);
	out->compliance.classes = names(&s->compliance.data_classes_allowed);
	out->runtime.min_ms = s->runtime.min_expected_runtime;
	out->runtime.max_ms = s->runtime.max_runtime;
	out->runtime.overhead = s->runtime.max_overhead_fraction;
	out->runtime.restarts = s->runtime.max_restarts;
	out->runtime.spot_saves = s->runtime.spot_needs.checkpointable;
	out->runtime.lost_ms = s->runtime.spot_needs.max_lost_work;
	out->limits.nodes = s->limits.nodes;
	out->limits.gpus = s->limits.gpus;
	out->limits.per_minute = s->limits.launches_per_minute;
	out->limits.at_once = s->limits.concurrent_launches;
	out->limits.share = s->limits.per_tenant_share;
	out->cooldown.zone_ms = s->failover.capacity_cooldown.zone;
	out->cooldown.region_ms = s->failover.capacity_cooldown.region;
	out->cooldown.quota_ms = s->failover.quota_cooldown;
}

struct burst_match burst_object_match(const struct burst_policy_match *m, struct arena *a)
{
	struct burst_match out = {.tenants = names(&m->tenants),
				  .namespaces = names(&m->namespaces),
				  .queues = names(&m->queues),
				  .products = names(&m->gpu_products),
				  .pods = object_selector(&m->workload_selector, a),
				  .gang_min = m->gang_size.min,
				  .gang_max = m->gang_size.max};

	if (m->priority) {
		out.priorities = true;
		out.priority_min = m->priority->min;
		out.priority_max = m->priority->max;
	}
	return out;
}

struct burst_policy_in burst_object_policy(const struct burst_policy *p, struct zones *zones,
					   struct arena *a)
{
	const struct burst_policy_spec *s = &p->spec;
	struct burst_policy_in out = {.name = p->meta.name,
				      .created = p->meta.creation_timestamp,
				      .mode = s->paused ? BURST_SHADOW : (enum burst_mode)s->mode};

	out.match = burst_object_match(&s->match, a);
	take_trigger(s, &out, a);
	take_offers(s, &out, a);
	take_cost(s, &out, a);
	take_budgets(s, zones, &out, a);
	take_windows(&s->windows, zones, &out, a);
	if (s->data)
		take_data(s->data, &out, a);
	take_rest(s, &out);
	return out;
}
