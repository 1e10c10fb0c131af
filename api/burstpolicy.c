#include "base/str.h"
#include "api/tables.h"

/*
 * burstpolicy: field table and checks of the kind BurstPolicy: when, where and for how much money to go to a cloud; how to come back.
 */
static const char *const mode_names[] = {"shadow", "recommend", "enforce", NULL};
static const char *const tier_names[] = {"OnPremFree", "OnPremRecycle", "Reserved",
					 "Spot",       "OnDemand",	NULL};
static const char *const scope_names[] = {"policy", "tenant", "provider", NULL};
static const char *const period_names[] = {"hour", "day", "week", "month", "total", NULL};
static const char *const exhausted_names[] = {"stopNew", "drainAtCheckpoint", "drainNow",
					      "requireApproval", NULL};
static const char *const price_names[] = {"static", "api", "file", NULL};
static const char *const return_names[] = {"never", "atCompletion", "atCheckpoint", "immediate",
					   NULL};

#define AS_FRACTION                                                                                \
	.max_len = 8, .pattern = "^(0([.][0-9]{1,4})?|1([.]0{1,4})?)$",                            \
	.want = "a fraction such as \"0.9\""
#define AS_TIMEZONE                                                                                \
	.max_len = 64, .pattern = "^[A-Za-z0-9_+/-]+$",                                            \
	.want = "a time zone such as Europe/Berlin", .def = "\"UTC\""

static const struct field range_fields[] = {
	FIELD(burst_range, min, "min", FIELD_I64, .min = -2147483648, .max = 2147483647,
	      .doc = "At least."),
	FIELD(burst_range, max, "max", FIELD_I64, .min = -2147483648, .max = 2147483647,
	      .doc = "At most; absent: any."),
	FIELDS_END,
};

static const struct field match_fields[] = {
	FIELD_PTR(burst_match, virtual_cluster_selector, "virtualClusterSelector",
		  object_selector_fields, .doc = "Which tenants; absent: all."),
	FIELD(burst_match, namespaces, "namespaces", FIELD_STRINGS, .max_len = 63, .max_items = 64,
	      .doc = "Which namespaces of theirs; absent: all."),
	FIELD(burst_match, gpu_products, "gpuProducts", FIELD_STRINGS, .max_len = 128,
	      .max_items = 32, .doc = "Which GPUs the work asks for; absent: any."),
	FIELD_PTR(burst_match, gang_size, "gangSize", range_fields, .doc = "Size of the gang."),
	FIELD_PTR(burst_match, priority, "priority", range_fields, .doc = "Priority of the pods."),
	FIELDS_END,
};

struct queue_wait {
	int64_t default_;
	struct labels by_priority;
};
_Static_assert(sizeof(struct queue_wait) == sizeof(((struct burst_trigger *)0)->max_queue_wait),
	       "the table below is for the member of struct burst_trigger");

static const struct field queue_wait_fields[] = {
	FIELD(queue_wait, default_, "default", FIELD_DURATION, .never = true, .min = MINUTE,
	      .def = "\"Never\"", .doc = "For classes that are not named."),
	FIELD(queue_wait, by_priority, "byPriority", FIELD_MAP, .max_items = 32,
	      .max_len = FIELDS_DURATION_MAX, .pattern = "^(([0-9]+(ms|s|m|h))+|Never)$",
	      .want = "a duration or Never", .doc = "By name of the PriorityClass."),
	FIELDS_END,
};

static const struct field guards_fields[] = {
	FIELD_IN(burst_trigger, guards, on_prem_utilisation_over, "onPremUtilisationOver",
		 FIELD_STR, AS_FRACTION,
		 .doc = "Only while more than this part of the owned GPUs is in use."),
	FIELD_IN(burst_trigger, guards, not_if_on_prem_frees_within, "notIfOnPremFreesWithin",
		 FIELD_DURATION, .doc = "Not when an owned machine is expected sooner."),
	FIELDS_END,
};

static const struct field trigger_fields[] = {
	FIELD_OBJ(burst_trigger, max_queue_wait, "maxQueueWait", queue_wait_fields,
		  .doc = "Waited longer than this."),
	FIELD(burst_trigger, predicted_wait_over, "predictedWaitOver", FIELD_DURATION,
	      .doc = "Expected to wait longer."),
	FIELD(burst_trigger, queued_gpus_over, "queuedGPUsOver", FIELD_I64, .min = 0,
	      .max = 1000000, .doc = "More GPUs than this are waited for; 0: no reason."),
	FIELD(burst_trigger, on_prem_impossible, "onPremImpossible", FIELD_BOOL,
	      .doc = "No owned machine could ever serve it."),
	FIELD_OBJ(burst_trigger, guards, "guards", guards_fields, .doc = "Brakes; all must allow."),
	FIELDS_END,
};

static const struct field tier_fields[] = {
	FIELD(burst_tier_spec, type, "type", FIELD_ENUM, .enums = tier_names, .required = true,
	      .doc = "Where to look."),
	FIELD(burst_tier_spec, offers, "offers", FIELD_STRINGS, .max_len = 63, .max_items = 16,
	      .doc = "Offers of a cloud tier; the cheapest in total is first."),
	FIELDS_END,
};
static const struct field_rule tier_rules[] = {
	{"self.all(t, (t.type in ['Reserved', 'Spot', 'OnDemand']) == (has(t.offers) && size(t.offers) > 0))",
	 "cloud tiers need offers, the others have none"},
	{NULL, NULL},
};

static const struct field offer_fields[] = {
	FIELD(burst_offer, name, "name", FIELD_STR, .required = true, AS_LABEL,
	      .doc = "Its name, for tiers and decisions."),
	FIELD_OBJ(burst_offer, provider_ref, "providerRef", object_name_ref_fields,
		  .required = true, .doc = "The Provider of the cloud."),
	FIELD(burst_offer, regions, "regions", FIELD_STRINGS, .max_len = 64, .max_items = 16,
	      .doc = "Regions, in order."),
	FIELD(burst_offer, zones, "zones", FIELD_STRINGS, .max_len = 64, .max_items = 32,
	      .doc = "Zones, in order."),
	FIELD(burst_offer, instance_types, "instanceTypes", FIELD_STRINGS, .required = true,
	      .max_len = 64, .max_items = 16, .doc = "Instance types, in order."),
	FIELD(burst_offer, reservation, "reservation", FIELD_STR, .max_len = 128,
	      .doc = "Capacity reservation to use."),
	FIELD(burst_offer, price_per_node_hour, "pricePerNodeHour", FIELD_STR, AS_MONEY,
	      .doc = "Price, where the source is static."),
	FIELD(burst_offer, gpu_equivalence, "gpuEquivalence", FIELD_MAP, .max_items = 32,
	      .max_len = 16, .pattern = "^[0-9]{1,4}([.][0-9]{1,4})?$",
	      .want = "a factor such as \"0.45\"",
	      .doc = "Throughput of one of its GPUs in those of another product."),
	FIELDS_END,
};

struct price_source {
	int type;
	int64_t max_age;
};
_Static_assert(sizeof(struct price_source) == sizeof(((struct burst_cost *)0)->price_source),
	       "the table below is for the member of struct burst_cost");

static const struct field price_source_fields[] = {
	FIELD(price_source, type, "type", FIELD_ENUM, .enums = price_names, .def = "\"static\"",
	      .doc = "Who says them."),
	FIELD(price_source, max_age, "maxAge", FIELD_DURATION, .def = "\"24h\"",
	      .doc = "Older ones are stale."),
	FIELDS_END,
};

static const struct field cost_fields[] = {
	FIELD(burst_cost, currency, "currency", FIELD_STR, .required = true, .max_len = 3,
	      .pattern = "^[A-Z]{3}$", .want = "a currency such as EUR",
	      .doc = "Currency of all amounts here; another one is refused."),
	FIELD_OBJ(burst_cost, price_source, "priceSource", price_source_fields, .def = "{}",
		  .doc = "Where prices come from; an unknown or stale one is refused."),
	FIELD(burst_cost, max_per_gpu_hour, "maxPerGPUHour", FIELD_STR, AS_MONEY,
	      .doc = "Most for one GPU and hour, all costs counted."),
	FIELD(burst_cost, max_per_node_hour, "maxPerNodeHour", FIELD_STR, AS_MONEY,
	      .doc = "Most for one node and hour."),
	FIELDS_END,
};

static const struct field budget_fields[] = {
	FIELD(burst_budget, scope, "scope", FIELD_ENUM, .enums = scope_names, .required = true,
	      .doc = "What is counted together."),
	FIELD(burst_budget, amount, "amount", FIELD_STR, .required = true, AS_MONEY,
	      .doc = "How much."),
	FIELD(burst_budget, per, "per", FIELD_ENUM, .enums = period_names, .required = true,
	      .doc = "In which time."),
	FIELD(burst_budget, timezone, "timezone", FIELD_STR, AS_TIMEZONE,
	      .doc = "When its days begin."),
	FIELD(burst_budget, reserve_for_running, "reserveForRunning", FIELD_BOOL, .def = "true",
	      .doc = "What runs is paid to its expected end before anything new is started."),
	FIELD(burst_budget, on_exhausted, "onExhausted", FIELD_ENUM, .enums = exhausted_names,
	      .def = "\"stopNew\"", .doc = "What then."),
	FIELDS_END,
};

static const struct field window_fields[] = {
	FIELD(burst_window, cron, "cron", FIELD_STR, .required = true, AS_CRON,
	      .doc = "When it opens."),
	FIELD(burst_window, duration, "duration", FIELD_DURATION, .required = true, .min = MINUTE,
	      .max = 31 * DAY, .doc = "How long it stays open."),
	FIELD(burst_window, timezone, "timezone", FIELD_STR, AS_TIMEZONE,
	      .doc = "Where the clock stands."),
	FIELDS_END,
};

struct windows {
	struct burst_windows allow, deny;
};
_Static_assert(sizeof(struct windows) == sizeof(((struct burst_policy_spec *)0)->windows),
	       "the table below is for the member of struct burst_policy_spec");

static const struct field windows_fields[] = {
	FIELD_ITEMS(windows, allow, "allow", window_fields, .max_items = 32,
		    .doc = "Only then; none: always."),
	FIELD_ITEMS(windows, deny, "deny", window_fields, .max_items = 32, .doc = "Never then."),
	FIELDS_END,
};

static const struct field compliance_fields[] = {
	FIELD_IN(burst_policy_spec, compliance, jurisdictions_allowed, "jurisdictionsAllowed",
		 FIELD_STRINGS, .max_len = 64, .max_items = 64,
		 .doc = "Where the work may run; a hard filter; none: anywhere."),
	FIELDS_END,
};

static const struct field runtime_fields[] = {
	FIELD_IN(burst_policy_spec, runtime, min_expected_runtime, "minExpectedRuntime",
		 FIELD_DURATION, .doc = "Shorter work does not go."),
	FIELD_IN(burst_policy_spec, runtime, max_runtime, "maxRuntime", FIELD_DURATION,
		 .doc = "Longest stay; 0: any."),
	FIELD_IN(burst_policy_spec, runtime, max_restarts, "maxRestarts", FIELD_I64, .min = 0,
		 .max = 1000, .doc = "How often it may be started again there."),
	FIELDS_END,
};

static const struct field scale_back_fields[] = {
	FIELD_IN(burst_policy_spec, scale_back, to_on_prem, "toOnPrem", FIELD_ENUM,
		 .enums = return_names, .def = "\"atCompletion\"",
		 .doc = "When work comes back to owned machines."),
	FIELD_IN(burst_policy_spec, scale_back, idle_timeout, "idleTimeout", FIELD_DURATION,
		 .def = "\"10m\"", .doc = "Empty longer than this: given back."),
	FIELD_IN(burst_policy_spec, scale_back, min_node_lifetime, "minNodeLifetime",
		 FIELD_DURATION, .def = "\"30m\"", .doc = "Kept at least so long."),
	FIELD_IN(burst_policy_spec, scale_back, hysteresis, "hysteresis", FIELD_DURATION,
		 .def = "\"15m\"", .doc = "Quiet time before anything comes back."),
	FIELDS_END,
};

static const struct field limits_fields[] = {
	FIELD_IN(burst_policy_spec, limits, nodes, "nodes", FIELD_I64, .min = 0, .max = 100000,
		 .def = "0", .doc = "Most nodes at once; 0: none."),
	FIELD_IN(burst_policy_spec, limits, gpus, "gpus", FIELD_I64, .min = 0, .max = 1000000,
		 .doc = "Most GPUs at once; 0: no limit of its own."),
	FIELD_IN(burst_policy_spec, limits, launches_per_minute, "launchesPerMinute", FIELD_I64,
		 .min = 1, .max = 1000, .def = "4", .doc = "Launches in a minute."),
	FIELD_IN(burst_policy_spec, limits, concurrent_launches, "concurrentLaunches", FIELD_I64,
		 .min = 1, .max = 1000, .def = "8", .doc = "Launches under way at once."),
	FIELDS_END,
};

struct cooldown {
	int64_t zone, region;
};
static const struct field cooldown_fields[] = {
	FIELD(cooldown, zone, "zone", FIELD_DURATION, .def = "\"3m\"",
	      .doc = "After a zone had none."),
	FIELD(cooldown, region, "region", FIELD_DURATION, .def = "\"15m\"",
	      .doc = "After a region had none."),
	FIELDS_END,
};

struct failover {
	int64_t attempts_per_offer;
	struct cooldown capacity_cooldown;
	int64_t quota_cooldown, orphan_reap_after;
};
_Static_assert(sizeof(struct failover) == sizeof(((struct burst_policy_spec *)0)->failover),
	       "the table below is for the member of struct burst_policy_spec");

static const struct field failover_fields[] = {
	FIELD(failover, attempts_per_offer, "attemptsPerOffer", FIELD_I64, .min = 1, .max = 100,
	      .def = "2", .doc = "Tries before the next offer."),
	FIELD_OBJ(failover, capacity_cooldown, "capacityCooldown", cooldown_fields, .def = "{}",
		  .doc = "How long no capacity is remembered."),
	FIELD(failover, quota_cooldown, "quotaCooldown", FIELD_DURATION, .def = "\"6h\"",
	      .doc = "How long an account's quota is taken as used up."),
	FIELD(failover, orphan_reap_after, "orphanReapAfter", FIELD_DURATION, .min = MINUTE,
	      .max = DAY, .def = "\"15m\"",
	      .doc = "An instance of ours without a claim is ended after this."),
	FIELDS_END,
};

static const struct field spec_fields[] = {
	FIELD(burst_policy_spec, mode, "mode", FIELD_ENUM, .enums = mode_names, .def = "\"shadow\"",
	      .doc = "shadow decides and records, recommend also tells, enforce launches."),
	FIELD(burst_policy_spec, paused, "paused", FIELD_BOOL, .doc = "No new launches."),
	FIELD_OBJ(burst_policy_spec, match, "match", match_fields, .doc = "Which work it governs."),
	FIELD_OBJ(burst_policy_spec, trigger, "trigger", trigger_fields,
		  .doc = "When; any of these."),
	FIELD_ITEMS(burst_policy_spec, tiers, "tiers", tier_fields, .required = true,
		    .max_items = 16, .rules = tier_rules, .doc = "Where to look, in strict order."),
	FIELD_ITEMS(burst_policy_spec, offers, "offers", offer_fields, .max_items = 32,
		    .list_key = "name", .doc = "What clouds offer."),
	FIELD_OBJ(burst_policy_spec, cost, "cost", cost_fields, .required = true,
		  .doc = "What it may cost."),
	FIELD_ITEMS(burst_policy_spec, budget, "budget", budget_fields, .max_items = 16,
		    .doc = "How much in all."),
	FIELD_OBJ(burst_policy_spec, windows, "windows", windows_fields, .doc = "At what times."),
	FIELD_OBJ(burst_policy_spec, compliance, "compliance", compliance_fields,
		  .doc = "Where it may not go."),
	FIELD_OBJ(burst_policy_spec, runtime, "runtime", runtime_fields,
		  .doc = "How long it runs."),
	FIELD_OBJ(burst_policy_spec, scale_back, "scaleBack", scale_back_fields, .def = "{}",
		  .doc = "How it comes back."),
	FIELD_OBJ(burst_policy_spec, limits, "limits", limits_fields, .def = "{}",
		  .doc = "How many and how fast."),
	FIELD_OBJ(burst_policy_spec, failover, "failover", failover_fields, .def = "{}",
		  .doc = "What is tried when a cloud has none."),
	FIELDS_END,
};
static const struct field_rule spec_rules[] = {
	{"self.tiers.all(t, !has(t.offers) || t.offers.all(n, has(self.offers) && self.offers.exists(o, o.name == n)))",
	 "tiers may name only offers that are in spec.offers"},
	{NULL, NULL},
};

static const struct field why_not_fields[] = {
	FIELD(burst_why_not, name, "name", FIELD_STR, .max_len = 63, .doc = "The offer."),
	FIELD(burst_why_not, why_not, "whyNot", FIELD_STR, .doc = "Why it was not taken."),
	FIELDS_END,
};

static const struct field decision_fields[] = {
	FIELD(burst_decision, time, "time", FIELD_TIME, .doc = "When."),
	FIELD(burst_decision, workload, "workload", FIELD_STR, .doc = "For which work."),
	FIELD(burst_decision, chosen, "chosen", FIELD_STR, .max_len = 63,
	      .doc = "The offer that was taken; absent: none."),
	FIELD(burst_decision, cost_estimate, "costEstimate", FIELD_STR, .max_len = 32,
	      .doc = "What it will cost."),
	FIELD_ITEMS(burst_decision, offers, "offers", why_not_fields, .max_items = 32,
		    .doc = "The others, and why not."),
	FIELDS_END,
};

static const struct field spend_fields[] = {
	FIELD(burst_spend, scope, "scope", FIELD_ENUM, .enums = scope_names,
	      .doc = "What is counted."),
	FIELD(burst_spend, name, "name", FIELD_STR, .max_len = 253,
	      .doc = "The tenant or provider."),
	FIELD(burst_spend, committed, "committed", FIELD_STR, .max_len = 32,
	      .doc = "Charged at launch, not settled yet."),
	FIELD(burst_spend, settled, "settled", FIELD_STR, .max_len = 32,
	      .doc = "Known to have been spent."),
	FIELD(burst_spend, currency, "currency", FIELD_STR, .max_len = 3, .doc = "Currency."),
	FIELD(burst_spend, period_start, "periodStart", FIELD_TIME,
	      .doc = "When the budget's time began."),
	FIELDS_END,
};

static const struct field status_fields[] = {
	FIELD_ITEMS(burst_policy_status, decisions, "decisions", decision_fields, .max_items = 20,
		    .doc = "The newest 20."),
	FIELD_ITEMS(burst_policy_status, spend, "spend", spend_fields, .max_items = 256,
		    .doc = "Money, by scope."),
	CONDITIONS_ROW(burst_policy_status, "Ready, BudgetLeft."),
	FIELDS_END,
};

const struct field burst_policy_fields[] = {
	META_ROW(burst_policy),
	FIELD_OBJ(burst_policy, spec, "spec", spec_fields, .required = true, .rules = spec_rules,
		  .doc = "What is wanted."),
	FIELD_OBJ(burst_policy, status, "status", status_fields, .doc = "What is."),
	FIELDS_END,
};

const struct object_column burst_policy_columns[] = {
	{"Mode", "string", ".spec.mode", 0},
	{"Nodes", "integer", ".spec.limits.nodes", 0},
	{"Paused", "boolean", ".spec.paused", 0},
	{"Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status", 0},
	{NULL, NULL, NULL, 0},
};

static bool has_offer(const struct burst_policy_spec *s, const char *name)
{
	for (size_t i = 0; i < s->offers.n; i++)
		if (str_eq(s->offers.v[i].name, name))
			return true;
	return false;
}

int burst_policy_check(const void *object, const void *old, struct err *e)
{
	const struct burst_policy_spec *s = &((const struct burst_policy *)object)->spec;

	(void)old;
	for (size_t i = 0; i < s->tiers.n; i++) {
		const struct burst_tier_spec *t = &s->tiers.v[i];
		bool cloud = t->type >= BURST_RESERVED;

		if (cloud != (t->offers.n > 0))
			return err_set(e, ERR_INVALID, 0, "spec.tiers[%zu].offers: %s", i,
				       cloud ? "required by a cloud tier" : "only for cloud tiers");
		for (size_t k = 0; k < t->offers.n; k++)
			if (!has_offer(s, t->offers.v[k]))
				return err_set(e, ERR_INVALID, 0,
					       "spec.tiers[%zu].offers[%zu]: no such offer \"%s\"",
					       i, k, t->offers.v[k]);
	}
	return 0;
}
