#include "api/tables.h"
#include "base/money.h"

/*
 * burstpolicy: field table and checks of the kind BurstPolicy. What nothing decides by is refused
 * by name.
 * Tests: tests/unit/api/test_burstpolicy.c, tests/unit/api/test_kinds.c
 */
const char *const burst_policy_mode_names[] = {"Shadow", "Recommend", "Enforce", NULL};
const char *const burst_policy_market_names[] = {"Reserved", "Spot", "OnDemand", NULL};
const char *const burst_policy_scope_names[] = {"Policy",   "Tenant", "Workload",
						"Provider", "Global", NULL};
const char *const burst_policy_per_names[] = {"Hour",	 "Day",	  "Week", "Month",
					      "Quarter", "Total", NULL};
const char *const burst_policy_interconnect_names[] = {"None", "Infiniband", "Efa", NULL};

#define YEAR (366 * DAY)
#define ANY_COUNT .min = 1, .max = 1000000
#define AS_TEXT .max_len = 63

/* --- match, trigger --------------------------------------------------------------------------- */

static const struct field gang_size_fields[] = {
	FIELD(burst_policy_range, min, "min", FIELD_I64, ANY_COUNT, .doc = "Pods, at least."),
	FIELD(burst_policy_range, max, "max", FIELD_I64, ANY_COUNT, .doc = "Pods, at most."),
	FIELDS_END,
};
static const struct field priority_fields[] = {
	FIELD(burst_policy_range, min, "min", FIELD_I64, .min = INT32_MIN, .max = INT32_MAX,
	      .required = true, .doc = "The pod's priority, at least."),
	FIELD(burst_policy_range, max, "max", FIELD_I64, .min = INT32_MIN, .max = INT32_MAX,
	      .required = true, .doc = "The pod's priority, at most."),
	FIELDS_END,
};
static const struct field match_fields[] = {
	FIELD(burst_policy_match, tenants, "tenants", FIELD_STRINGS, .max_len = 253,
	      .doc = "Names of VirtualClusters; absent: all."),
	FIELD(burst_policy_match, gpu_products, "gpuProducts", FIELD_STRINGS, AS_TEXT,
	      .doc = "GPU products that the work asks for by name; absent: any, or none."),
	FIELD_OBJ(burst_policy_match, gang_size, "gangSize", gang_size_fields,
		  .doc = "How many pods start together; a pod alone is 1."),
	FIELD_PTR(burst_policy_match, priority, "priority", priority_fields,
		  .doc = "Priorities of the pods; absent: all."),
	FIELD_REFUSED("queues", .doc = "Queues."),
	FIELD_REFUSED("namespaces", .doc = "Namespaces."),
	FIELD_REFUSED("workloadSelector", .doc = "Labels of the work."),
	FIELDS_END,
};
static const struct field priority_wait_fields[] = {
	FIELD(burst_policy_priority_wait, at_least, "priorityAtLeast", FIELD_I64, .required = true,
	      .min = INT32_MIN, .max = INT32_MAX, .doc = "Counts for this priority and higher."),
	FIELD(burst_policy_priority_wait, wait, "wait", FIELD_DURATION, .required = true,
	      .never = true, .max = YEAR, .doc = "How long; Never: not by waiting."),
	FIELDS_END,
};
static const struct field queue_wait_fields[] = {
	FIELD(burst_policy_queue_wait, def, "default", FIELD_DURATION, .never = true, .max = YEAR,
	      .def = "\"Never\"", .doc = "How long where no row of byPriority counts."),
	FIELD_ITEMS(burst_policy_queue_wait, by_priority, "byPriority", priority_wait_fields,
		    .max_items = 32, .list_key = "priorityAtLeast",
		    .doc = "By priority: the row with the highest priorityAtLeast that counts."),
	FIELDS_END,
};
static const char *const approval_names[] = {"None", "Manual", NULL};
static const struct field guards_fields[] = {
	FIELD_IN(
		burst_policy_trigger, guards, on_prem_utilisation_over, "onPremUtilisationOver",
		FIELD_STR, AS_MONEY,
		.doc = "Only while more than this part of the owned GPUs is in use, such as \"0.9\"."),
	FIELD_IN(burst_policy_trigger, guards, not_if_on_prem_frees_within,
		 "notIfOnPremFreesWithin", FIELD_DURATION, .max = YEAR,
		 .doc = "Not where an owned machine is expected (p50) within this time."),
	FIELD_IN(burst_policy_trigger, guards, approval, "approval", FIELD_ENUM,
		 .enums = approval_names, .def = "\"None\"",
		 .doc = "Manual: only work that a person approved."),
	FIELDS_END,
};
static const struct field trigger_fields[] = {
	FIELD_PTR(burst_policy_trigger, max_queue_wait, "maxQueueWait", queue_wait_fields,
		  .doc = "It has waited so long."),
	FIELD(burst_policy_trigger, predicted_wait_over, "predictedWaitOver", FIELD_DURATION,
	      .min = SECOND, .max = YEAR,
	      .doc = "Its owned machine is expected (p90) later than in this time; what has no expected time does not count."),
	FIELD(burst_policy_trigger, deadline_slack_under, "deadlineSlackUnder", FIELD_DURATION,
	      .min = SECOND, .max = YEAR,
	      .doc = "From when its owned machine is expected (p90), or from now, to its latest start there is less time than this."),
	FIELD(burst_policy_trigger, queued_gpus_over, "queuedGPUsOver", FIELD_I64, .min = 1,
	      .max = 1000000, .doc = "All that waits and matches asks for more GPUs than this."),
	FIELD(burst_policy_trigger, on_prem_impossible, "onPremImpossible", FIELD_BOOL,
	      .doc = "No owned machine is of such a kind that it could run there."),
	FIELD_OBJ(burst_policy_trigger, guards, "guards", guards_fields, .def = "{}",
		  .doc = "What must hold besides, all of it."),
	FIELDS_END,
};

/* --- tiers, offers ---------------------------------------------------------------------------- */

static const struct field tier_fields[] = {
	FIELD(burst_policy_tier, market, "market", FIELD_ENUM, .required = true,
	      .enums = burst_policy_market_names, .doc = "How the capacity is paid for."),
	FIELD(burst_policy_tier, offers, "offers", FIELD_STRINGS, .max_items = 64, AS_TEXT,
	      .doc = "Names among spec.offers; absent: all."),
	FIELDS_END,
};
static const struct field interconnect_fields[] = {
	FIELD_IN(burst_policy_offer, interconnect, required, "required", FIELD_ENUM,
		 .enums = burst_policy_interconnect_names, .def = "\"None\"",
		 .doc = "What the instances of one launch must be joined by."),
	FIELDS_END,
};
static const char *const gang_modes[] = {"AllOrNothing", "AtLeast", NULL};
static const char *const gang_acted_upon[] = {"AllOrNothing", NULL};
static const struct field gang_fields[] = {
	FIELD_UNKEPT("mode", FIELD_ENUM, .enums = gang_modes, .only = gang_acted_upon,
		     .def = "\"AllOrNothing\"", .doc = "A gang is launched whole in one zone."),
	FIELDS_END,
};
static const struct field offer_fields[] = {
	FIELD(burst_policy_offer, name, "name", FIELD_STR, .required = true, AS_LABEL,
	      .doc = "Its name in this policy."),
	FIELD(burst_policy_offer, provider, "provider", FIELD_STR, .required = true, AS_NAME,
	      .doc = "A Provider's name."),
	FIELD(burst_policy_offer, regions, "regions", FIELD_STRINGS, .required = true, AS_TEXT,
	      .max_items = 64, .doc = "Regions."),
	FIELD(burst_policy_offer, zones, "zones", FIELD_STRINGS, .max_items = 64, AS_TEXT,
	      .doc = "Zones; absent: all of the regions."),
	FIELD(burst_policy_offer, instance_types, "instanceTypes", FIELD_STRINGS, .required = true,
	      .max_items = 64, AS_TEXT, .doc = "Instance types, as the cloud names them."),
	FIELD(burst_policy_offer, jurisdiction, "jurisdiction", FIELD_STR, AS_TEXT,
	      .doc = "Under whose law the regions are, such as EU; absent: not known."),
	FIELD(burst_policy_offer, gpu_equivalence, "gpuEquivalence", FIELD_MAP, .max_items = 64,
	      .max_len = 63,
	      .doc = "Throughput of a GPU product as a factor, for comparing costs; absent: \"1\"."),
	FIELD_OBJ(burst_policy_offer, interconnect, "interconnect", interconnect_fields,
		  .def = "{}", .doc = "Network among the instances."),
	FIELD_UNKEPT("gang", FIELD_OBJECT, .sub = gang_fields, .def = "{}", .doc = "Gangs."),
	FIELD_REFUSED("account", .doc = "The cloud's account."),
	FIELD_REFUSED("placementGroup", .doc = "Placement."),
	FIELD_REFUSED("confidential", .doc = "Confidential computing."),
	FIELD_REFUSED("network", .doc = "How it is joined to the site."),
	FIELDS_END,
};

/* --- money ------------------------------------------------------------------------------------ */

static const struct field price_fields[] = {
	FIELD(burst_policy_price, offer, "offer", FIELD_STR, .required = true, AS_LABEL,
	      .doc = "A name among spec.offers."),
	FIELD(burst_policy_price, instance_type, "instanceType", FIELD_STR, .required = true,
	      AS_TEXT, .doc = "The instance type."),
	FIELD(burst_policy_price, region, "region", FIELD_STR, AS_TEXT,
	      .doc = "The region; absent: all of the offer."),
	FIELD(burst_policy_price, market, "market", FIELD_ENUM, .required = true,
	      .enums = burst_policy_market_names, .doc = "How it is paid for."),
	FIELD(burst_policy_price, per_hour, "perHour", FIELD_STR, .required = true, AS_MONEY,
	      .doc = "For one instance and hour, in spec.cost.currency."),
	FIELD(burst_policy_price, as_of, "asOf", FIELD_TIME, .required = true,
	      .doc = "When a person looked it up; maxAge counts from then."),
	FIELDS_END,
};
static const struct field billing_fields[] = {
	FIELD_IN(burst_policy_cost, minimum_billing, increment, "increment", FIELD_DURATION,
		 .min = SECOND, .max = 31 * DAY, .def = "\"1s\"",
		 .doc = "Time is billed in steps of this."),
	FIELD_IN(burst_policy_cost, minimum_billing, minimum, "minimum", FIELD_DURATION,
		 .max = 31 * DAY, .def = "\"1m\"", .doc = "Billed at least for each instance."),
	FIELDS_END,
};
static const struct field cost_fields[] = {
	FIELD(burst_policy_cost, currency, "currency", FIELD_STR, .required = true, .max_len = 3,
	      .pattern = "^[A-Z]{3}$", .valid = money_is_currency, .want = "a code of ISO 4217",
	      .doc = "Of all amounts here; an offer in another one is refused."),
	FIELD_ITEMS(
		burst_policy_cost, prices, "prices", price_fields, .max_items = 256,
		.doc = "Prices that a person wrote; they come before those that a Provider tells."),
	FIELD(burst_policy_cost, max_age, "maxAge", FIELD_DURATION, .min = MINUTE, .max = YEAR,
	      .def = "\"24h\"", .doc = "An older price is refused."),
	FIELD(burst_policy_cost, max_per_gpu_hour, "maxPerGPUHour", FIELD_STR, AS_MONEY,
	      .doc = "Highest price of one GPU and hour."),
	FIELD(burst_policy_cost, max_per_node_hour, "maxPerNodeHour", FIELD_STR, AS_MONEY,
	      .doc = "Highest price of one instance and hour."),
	FIELD_OBJ(burst_policy_cost, minimum_billing, "minimumBilling", billing_fields, .def = "{}",
		  .doc = "How the cloud bills."),
	FIELD(burst_policy_cost, boot_and_stage_time, "bootAndStageTime", FIELD_DURATION,
	      .max = DAY, .def = "\"10m\"",
	      .doc = "From the launch until the work runs; paid for, too."),
	FIELD_REFUSED("maxPremiumOverOnPrem", .doc = "Premium over owned machines."),
	FIELD_REFUSED("include", .doc = "Egress, storage and licences."),
	FIELDS_END,
};
static const char *const budget_modes[] = {"Hard", "Soft", NULL};
static const char *const exhausted_names[] = {"StopNew", "DrainAtCheckpoint", "DrainNow",
					      "RequireApproval", NULL};
static const char *const exhausted_acted_upon[] = {"StopNew", NULL};
static const char *const zones_acted_upon[] = {"UTC", NULL};
#define TIMEZONE_ROW                                                                               \
	FIELD_UNKEPT("timezone", FIELD_STR, .max_len = 63, .only = zones_acted_upon,               \
		     .def = "\"UTC\"", .doc = "Time zone.")
static const struct field burst_budget_fields[] = {
	FIELD(burst_policy_budget, scope, "scope", FIELD_ENUM, .required = true,
	      .enums = burst_policy_scope_names,
	      .doc = "Whose money. Tenant, Provider and Global count launches by any policy and bind them all."),
	FIELD(burst_policy_budget, amount, "amount", FIELD_STR, .required = true, AS_MONEY,
	      .doc = "In spec.cost.currency."),
	FIELD(burst_policy_budget, per, "per", FIELD_ENUM, .required = true,
	      .enums = burst_policy_per_names,
	      .doc = "Period, by the calendar; weeks begin on Monday. Total: for ever."),
	TIMEZONE_ROW,
	FIELD(burst_policy_budget, mode, "mode", FIELD_ENUM, .enums = budget_modes,
	      .def = "\"Hard\"", .doc = "Hard refuses what goes beyond; Soft tells of it alone."),
	FIELD(burst_policy_budget, reserve_for_running, "reserveForRunning", FIELD_BOOL,
	      .def = "true", .doc = "What running instances may still cost counts as spent."),
	FIELD(burst_policy_budget, alert_at, "alertAt", FIELD_STRINGS, .max_items = 16, AS_MONEY,
	      .doc = "Parts of the amount at which to tell, such as \"0.8\"."),
	FIELD_UNKEPT("onExhausted", FIELD_ENUM, .enums = exhausted_names,
		     .only = exhausted_acted_upon, .def = "\"StopNew\"",
		     .doc = "What happens when it is spent."),
	FIELD_REFUSED("forecastHorizon", .doc = "Forecast."),
	FIELD_REFUSED("carryOver", .doc = "What is left goes to the next period."),
	FIELDS_END,
};

/* --- windows, filters, limits ----------------------------------------------------------------- */

static const struct field window_fields[] = {
	FIELD(burst_policy_window, cron, "cron", FIELD_STR, .required = true, AS_CRON,
	      .doc = "When it begins."),
	FIELD(burst_policy_window, duration, "duration", FIELD_DURATION, .required = true,
	      .min = MINUTE, .max = 31 * DAY, .doc = "How long it lasts."),
	TIMEZONE_ROW,
	FIELDS_END,
};
#define DATE_PATTERN                                                                               \
	"^[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|"                                    \
	"(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))$"
static const struct field windows_fields[] = {
	FIELD_ITEMS(burst_policy_windows, allow, "allow", window_fields, .max_items = 32,
		    .doc = "Launches only in one of these; absent: always."),
	FIELD_ITEMS(burst_policy_windows, deny, "deny", window_fields, .max_items = 32,
		    .doc = "No launch in any of these."),
	FIELD(burst_policy_windows, freeze_dates, "freezeDates", FIELD_STRINGS, .max_items = 256,
	      .max_len = 10, .pattern = DATE_PATTERN, .want = "a date such as 2026-12-24",
	      .doc = "No launch on these days, in UTC."),
	FIELDS_END,
};
static const struct field compliance_fields[] = {
	FIELD_IN(burst_policy_spec, compliance, jurisdictions_allowed, "jurisdictionsAllowed",
		 FIELD_STRINGS, .max_items = 64, AS_TEXT,
		 .doc = "Only offers with one of these; one that names none is refused."),
	FIELD_IN(burst_policy_spec, compliance, jurisdictions_denied, "jurisdictionsDenied",
		 FIELD_STRINGS, .max_items = 64, AS_TEXT, .doc = "No offers with one of these."),
	FIELD_IN(
		burst_policy_spec, compliance, data_classes_allowed, "dataClassesAllowed",
		FIELD_STRINGS, .max_items = 64, AS_TEXT,
		.doc = "Only work whose data is of one of these classes; work that names none is refused."),
	FIELD_REFUSED("certifications", .doc = "Certificates of the place."),
	FIELD_REFUSED("encryptionAtRest", .doc = "Encrypted volumes."),
	FIELD_REFUSED("tenantConsentRef", .doc = "The tenant's consent."),
	FIELD_REFUSED("singleTenantHost", .doc = "Hosts of one's own."),
	FIELD_REFUSED("remoteAttestation", .doc = "Attestation."),
	FIELD_REFUSED("eraseOnReturn", .doc = "Erasure."),
	FIELDS_END,
};
static const struct field spot_needs_fields[] = {
	FIELD_IN(burst_policy_spec, runtime.spot_needs, checkpointable, "checkpointable",
		 FIELD_BOOL, .def = "true", .doc = "Spot only for work that saves itself."),
	FIELD_REFUSED("maxLostWork", .doc = "Work that may be lost."),
	FIELDS_END,
};
static const struct field runtime_fields[] = {
	FIELD_IN(burst_policy_spec, runtime, min_expected_runtime, "minExpectedRuntime",
		 FIELD_DURATION, .max = YEAR,
		 .doc = "No shorter work, nor any that does not say how long it runs."),
	FIELD_IN(burst_policy_spec, runtime, max_overhead_fraction, "maxOverheadFraction",
		 FIELD_STR, AS_MONEY,
		 .doc = "Most of cost.bootAndStageTime as a part of the expected run time."),
	FIELD_IN(burst_policy_spec, runtime, max_runtime, "maxRuntime", FIELD_DURATION,
		 .min = MINUTE, .max = YEAR,
		 .doc = "No longer work; what does not say how long it runs is charged for this."),
	FIELD_IN(burst_policy_spec, runtime, spot_needs, "spotNeeds", FIELD_OBJECT,
		 .sub = spot_needs_fields,
		 .size = sizeof(((struct burst_policy_spec *)0)->runtime.spot_needs), .def = "{}",
		 .doc = "What spot capacity asks of the work."),
	FIELD_IN(burst_policy_spec, runtime, max_restarts, "maxRestarts", FIELD_I64, .min = -1,
		 .max = 1000, .def = "-1",
		 .doc = "No spot for work that was interrupted more often; -1: no bound."),
	FIELDS_END,
};
static const struct field burst_limits_fields[] = {
	FIELD_IN(burst_policy_spec, limits, nodes, "nodes", FIELD_I64, ANY_COUNT,
		 .doc = "Most instances of the policy at once."),
	FIELD_IN(burst_policy_spec, limits, gpus, "gpus", FIELD_I64, ANY_COUNT,
		 .doc = "Most GPUs of the policy at once."),
	FIELD_IN(burst_policy_spec, limits, launches_per_minute, "launchesPerMinute", FIELD_I64,
		 ANY_COUNT, .doc = "Most launches in 60 s; a gang is one."),
	FIELD_IN(burst_policy_spec, limits, concurrent_launches, "concurrentLaunches", FIELD_I64,
		 ANY_COUNT, .doc = "Most launches that have not come up yet."),
	FIELD_IN(burst_policy_spec, limits, per_tenant_share, "perTenantShare", FIELD_STR, AS_MONEY,
		 .doc = "Most of limits.nodes that one tenant has, as a part."),
	FIELD_REFUSED("spareNodes", .doc = "Instances kept without work."),
	FIELDS_END,
};
static const struct field capacity_cooldown_fields[] = {
	FIELD_IN(burst_policy_spec, failover.capacity_cooldown, zone, "zone", FIELD_DURATION,
		 .max = DAY, .def = "\"3m\"",
		 .doc = "How long a zone without capacity for a type is left alone."),
	FIELD_IN(burst_policy_spec, failover.capacity_cooldown, region, "region", FIELD_DURATION,
		 .max = DAY, .def = "\"15m\"", .doc = "The same of a region."),
	FIELDS_END,
};
static const struct field failover_fields[] = {
	FIELD_IN(burst_policy_spec, failover, capacity_cooldown, "capacityCooldown", FIELD_OBJECT,
		 .sub = capacity_cooldown_fields,
		 .size = sizeof(((struct burst_policy_spec *)0)->failover.capacity_cooldown),
		 .def = "{}", .doc = "After an error for want of capacity."),
	FIELD_IN(burst_policy_spec, failover, quota_cooldown, "quotaCooldown", FIELD_DURATION,
		 .max = 31 * DAY, .def = "\"6h\"",
		 .doc = "How long a Provider is left alone for a type whose quota is used up."),
	FIELD_REFUSED("attemptsPerOffer", .doc = "Attempts."),
	FIELD_REFUSED("order", .doc = "Order of attempts."),
	FIELD_REFUSED("orphanReapAfter", .doc = "Instances without a claim."),
	FIELDS_END,
};

/* Work is moved by nobody yet: it stays until it has ended, or runtime.maxRuntime ends it. */
static const char *const home_names[] = {"Never", "AtCompletion", "AtCheckpoint", "Immediate",
					 NULL};
static const char *const home_acted_upon[] = {"AtCompletion", NULL};
static const struct field scale_back_fields[] = {
	FIELD_UNKEPT("toOnPrem", FIELD_ENUM, .enums = home_names, .only = home_acted_upon,
		     .def = "\"AtCompletion\"",
		     .doc = "AtCompletion: an instance goes when its work has ended."),
	FIELD(burst_policy_scale_back, idle_timeout, "idleTimeout", FIELD_DURATION, .min = SECOND,
	      .max = YEAR,
	      .doc = "How long it is without pods first; absent: as the NodePool's consolidateAfter."),
	FIELD(burst_policy_scale_back, min_node_lifetime, "minNodeLifetime", FIELD_DURATION,
	      .max = YEAR,
	      .doc = "Without pods it goes no earlier, counted from its NodeClaim's creation."),
	FIELD(burst_policy_scale_back, align_to_billing, "alignToBilling", FIELD_BOOL,
	      .doc = "Without pods it goes in the last five minutes of a step of cost.minimumBilling.increment, counted from its launch."),
	FIELD_REFUSED("migrateGainOver", .doc = "What moving work must gain."),
	FIELD_REFUSED("maxMigrationsPerJob", .doc = "How often work is moved."),
	FIELD_REFUSED("hysteresis", .doc = "How long owned machines have been free."),
	FIELD_REFUSED("drain", .doc = "How work is moved."),
	FIELDS_END,
};

/* --- the kind --------------------------------------------------------------------------------- */

static const struct field spec_fields[] = {
	FIELD(burst_policy_spec, mode, "mode", FIELD_ENUM, .enums = burst_policy_mode_names,
	      .def = "\"Shadow\"",
	      .doc = "Enforce launches what it decides. Shadow and Recommend launch nothing: the controller writes to status.decisions what it would launch."),
	FIELD_OBJ(burst_policy_spec, match, "match", match_fields, .def = "{}",
		  .doc = "Which work it governs. Where two policies match, neither bursts."),
	FIELD_OBJ(burst_policy_spec, trigger, "trigger", trigger_fields, .required = true,
		  .doc = "When; any of these will do."),
	FIELD_ITEMS(burst_policy_spec, tiers, "tiers", tier_fields, .required = true,
		    .max_items = 16,
		    .doc = "Where to look, in strict order; inside one the cheapest in all."),
	FIELD_ITEMS(burst_policy_spec, offers, "offers", offer_fields, .required = true,
		    .max_items = 64, .list_key = "name", .doc = "What may be launched."),
	FIELD_OBJ(burst_policy_spec, cost, "cost", cost_fields, .required = true,
		  .doc = "What it may cost. An unknown price is refused."),
	FIELD_ITEMS(burst_policy_spec, budget, "budget", burst_budget_fields, .required = true,
		    .max_items = 32,
		    .doc = "Money; charged at launch by what it may cost at most."),
	FIELD_OBJ(burst_policy_spec, windows, "windows", windows_fields,
		  .doc = "When launches are allowed."),
	FIELD_OBJ(burst_policy_spec, compliance, "compliance", compliance_fields,
		  .doc = "Hard filters; no price outweighs them."),
	FIELD_OBJ(burst_policy_spec, runtime, "runtime", runtime_fields, .def = "{}",
		  .doc = "How long work must or may run."),
	FIELD_OBJ(burst_policy_spec, limits, "limits", burst_limits_fields,
		  .doc = "How much and how fast."),
	FIELD_OBJ(burst_policy_spec, failover, "failover", failover_fields, .def = "{}",
		  .doc = "How long to leave alone what failed, by the error's scope."),
	FIELD_REFUSED("data", .doc = "Where the data is."),
	FIELD_PTR(
		burst_policy_spec, scale_back, "scaleBack", scale_back_fields,
		.doc = "When its instances go. What is billed for longer than cost.bootAndStageTime and runtime.maxRuntime goes in any case."),
	FIELD_REFUSED("gate", .doc = "Checks before a node counts."),
	FIELD_REFUSED("chargeback", .doc = "Who pays."),
	FIELDS_END,
};

static const struct field decision_fields[] = {
	FIELD(burst_policy_decision, time, "time", FIELD_TIME, .doc = "Since when it is so."),
	FIELD(burst_policy_decision, tenant, "tenant", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Whose work."),
	FIELD(burst_policy_decision, work, "work", FIELD_STR, .required = true, .max_len = 512,
	      .doc = "NAMESPACE/NAME of a pod, or the gang."),
	FIELD(burst_policy_decision, reason, "reason", FIELD_STR, .max_len = 64,
	      .doc = "Chosen, or why nothing is launched."),
	FIELD(burst_policy_decision, message, "message", FIELD_STR, .doc = "The same in words."),
	FIELD(burst_policy_decision, provider, "provider", FIELD_STR, .max_len = 253,
	      .doc = "Chosen: the Provider."),
	FIELD(burst_policy_decision, region, "region", FIELD_STR, .max_len = 128, .doc = "Where."),
	FIELD(burst_policy_decision, zone, "zone", FIELD_STR, .max_len = 128,
	      .doc = "Where in it; empty: the Provider has no zones."),
	FIELD(burst_policy_decision, instance_type, "instanceType", FIELD_STR, .max_len = 128,
	      .doc = "As the cloud names it."),
	FIELD(burst_policy_decision, market, "market", FIELD_STR, .max_len = 16,
	      .doc = "OnDemand, Spot or Reserved."),
	FIELD(burst_policy_decision, nodes, "nodes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "How many instances."),
	FIELD(burst_policy_decision, cost, "cost", FIELD_STR, .max_len = 24,
	      .doc = "What they may cost at most, in spec.cost.currency."),
	FIELDS_END,
};
static const struct field spend_fields[] = {
	FIELD(burst_policy_spend, scope, "scope", FIELD_ENUM, .required = true,
	      .enums = burst_policy_scope_names, .doc = "As spec.budget has it."),
	FIELD(burst_policy_spend, per, "per", FIELD_ENUM, .required = true,
	      .enums = burst_policy_per_names, .doc = "As spec.budget has it; the period of now."),
	FIELD(burst_policy_spend, of, "of", FIELD_STR, .max_len = 768,
	      .doc = "The tenant, workload or Provider; empty: all."),
	FIELD(burst_policy_spend, amount, "amount", FIELD_STR, .max_len = 24,
	      .doc = "The budget, in spec.cost.currency."),
	FIELD(burst_policy_spend, spent, "spent", FIELD_STR, .max_len = 24,
	      .doc = "Spent, and with reserveForRunning what running instances may still cost."),
	FIELD(burst_policy_spend, alert, "alert", FIELD_STR, .max_len = 24,
	      .doc = "The highest of its alertAt that is reached."),
	FIELDS_END,
};

static const struct field status_fields[] = {
	FIELD_ITEMS(
		burst_policy_status, decisions, "decisions", decision_fields,
		.max_items = BURST_POLICY_DECISIONS,
		.doc = "What it last decided on which work, newest first; what goes on unchanged is said once."),
	FIELD_ITEMS(burst_policy_status, spend, "spend", spend_fields,
		    .max_items = BURST_POLICY_SPENDS,
		    .doc = "What counts against its budgets now."),
	CONDITIONS_ROW(burst_policy_status, "Valid, Active."),
	FIELDS_END,
};

const struct field burst_policy_fields[] = {
	META_ROW(burst_policy),
	FIELD_OBJ(burst_policy, spec, "spec", spec_fields, .required = true,
		  .doc = "What is wanted."),
	FIELD_OBJ(burst_policy, status, "status", status_fields, .doc = "What is."),
	FIELDS_END,
};

const struct object_column burst_policy_columns[] = {
	{"Mode", "string", ".spec.mode", 0},
	{"Active", "string", ".status.conditions[?(@.type==\"Active\")].reason", 0},
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{NULL, NULL, NULL, 0},
};

/* --- checks ----------------------------------------------------------------------------------- */

static bool has_offer(const struct burst_policy *p, const char *name)
{
	for (size_t i = 0; i < p->spec.offers.n; i++)
		if (str_eq(p->spec.offers.v[i].name, name))
			return true;
	return false;
}

static int check_part(const char *text, const char *path, struct err *e)
{
	int64_t micro;

	if (!text)
		return 0;
	if (money_parse(text, &micro, e) < 0)
		return err_wrap(e, "%s", path);
	if (micro > MONEY_UNIT)
		return err_set(e, ERR_INVALID, 0, "%s: want a part from 0 to 1, got \"%s\"", path,
			       text);
	return 0;
}

static int check_names(const struct burst_policy *p, struct err *e)
{
	for (size_t i = 0; i < p->spec.tiers.n; i++) {
		const struct burst_policy_tier *t = &p->spec.tiers.v[i];

		for (size_t k = 0; k < t->offers.n; k++)
			if (!has_offer(p, t->offers.v[k]))
				return err_set(
					e, ERR_INVALID, 0,
					"spec.tiers[%zu].offers[%zu]: want a name among spec.offers, got \"%s\"",
					i, k, t->offers.v[k]);
	}
	for (size_t i = 0; i < p->spec.cost.prices.n; i++)
		if (!has_offer(p, p->spec.cost.prices.v[i].offer))
			return err_set(
				e, ERR_INVALID, 0,
				"spec.cost.prices[%zu].offer: want a name among spec.offers, got \"%s\"",
				i, p->spec.cost.prices.v[i].offer);
	return 0;
}

static int check_factors(const struct burst_policy *p, struct err *e)
{
	for (size_t i = 0; i < p->spec.offers.n; i++) {
		const struct labels *l = &p->spec.offers.v[i].gpu_equivalence;

		for (size_t k = 0; k < l->n; k++) {
			int64_t micro;

			if (money_parse(l->v[k].value, &micro, e) < 0)
				return err_wrap(e, "spec.offers[%zu].gpuEquivalence.%s", i,
						l->v[k].key);
			if (micro <= 0 || micro > 1000 * MONEY_UNIT)
				return err_set(
					e, ERR_INVALID, 0,
					"spec.offers[%zu].gpuEquivalence.%s: want more than 0 and at most 1000, got \"%s\"",
					i, l->v[k].key, l->v[k].value);
		}
	}
	return 0;
}

static int check_parts(const struct burst_policy *p, struct err *e)
{
	if (check_part(p->spec.trigger.guards.on_prem_utilisation_over,
		       "spec.trigger.guards.onPremUtilisationOver", e) < 0 ||
	    check_part(p->spec.limits.per_tenant_share, "spec.limits.perTenantShare", e) < 0 ||
	    check_part(p->spec.runtime.max_overhead_fraction, "spec.runtime.maxOverheadFraction",
		       e) < 0)
		return -1;
	for (size_t i = 0; i < p->spec.budget.n; i++)
		for (size_t k = 0; k < p->spec.budget.v[i].alert_at.n; k++) {
			char path[64];

			str_format(path, sizeof(path), "spec.budget[%zu].alertAt[%zu]", i, k);
			if (check_part(p->spec.budget.v[i].alert_at.v[k], path, e) < 0)
				return -1;
		}
	return 0;
}

int burst_policy_check(const void *object, const void *old, struct err *e)
{
	const struct burst_policy *p = object;
	const struct burst_policy_trigger *t = &p->spec.trigger;
	const struct burst_policy_range *gang = &p->spec.match.gang_size,
					*prio = p->spec.match.priority;

	(void)old;
	if (!t->max_queue_wait && !t->predicted_wait_over && !t->deadline_slack_under &&
	    !t->queued_gpus_over && !t->on_prem_impossible)
		return err_set(
			e, ERR_INVALID, 0,
			"spec.trigger: want maxQueueWait, predictedWaitOver, deadlineSlackUnder, queuedGPUsOver or onPremImpossible");
	if (gang->max && gang->min > gang->max)
		return err_set(e, ERR_INVALID, 0, "spec.match.gangSize: want min up to max");
	if (prio && prio->min > prio->max)
		return err_set(e, ERR_INVALID, 0, "spec.match.priority: want min up to max");
	if (p->spec.limits.per_tenant_share && !p->spec.limits.nodes)
		return err_set(e, ERR_INVALID, 0,
			       "spec.limits.perTenantShare: want limits.nodes, too");
	if (check_names(p, e) < 0 || check_factors(p, e) < 0)
		return -1;
	return check_parts(p, e);
}
