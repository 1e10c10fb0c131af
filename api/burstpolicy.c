#include "api/tables.h"
#include "base/market.h"
#include "base/money.h"
#include "base/zone.h"

/*
 * burstpolicy: field table of the kind BurstPolicy. A field that drover does not implement is
 * refused with an error that names it. The checks are in burstpolicy_check.c.
 * Tests: tests/unit/api/test_burstpolicy.c, tests/unit/api/test_kinds.c
 */
const char *const burst_policy_mode_names[] = {"Shadow", "Recommend", "Enforce", NULL};
const char *const burst_policy_scope_names[] = {"Policy",   "Tenant", "Workload",
						"Provider", "Global", NULL};
const char *const burst_policy_per_names[] = {"Hour",	 "Day",	  "Week", "Month",
					      "Quarter", "Total", NULL};

#define YEAR (366 * DAY)
#define ANY_COUNT .min = 1, .max = 1000000
#define AS_TEXT .max_len = 63

/* --- match, trigger --------------------------------------------------------------------------- */

static const struct field gang_size_fields[] = {
	FIELD(burst_policy_range, min, "min", FIELD_I64, ANY_COUNT,
	      .doc = "Lowest number of pods in a gang that matches. If not set, no lower "
		     "limit."),
	FIELD(burst_policy_range, max, "max", FIELD_I64, ANY_COUNT,
	      .doc = "Highest number of pods in a gang that matches. If not set, no upper "
		     "limit."),
	FIELDS_END,
};
static const struct field priority_fields[] = {
	FIELD(burst_policy_range, min, "min", FIELD_I64, .min = INT32_MIN, .max = INT32_MAX,
	      .required = true, .doc = "Lowest pod priority that matches."),
	FIELD(burst_policy_range, max, "max", FIELD_I64, .min = INT32_MIN, .max = INT32_MAX,
	      .required = true, .doc = "Highest pod priority that matches."),
	FIELDS_END,
};
static const struct field match_fields[] = {
	FIELD(burst_policy_match, tenants, "tenants", FIELD_STRINGS, .max_len = 253,
	      .doc = "Names of VirtualClusters whose work matches. If not set, all "
		     "VirtualClusters match."),
	FIELD(burst_policy_match, namespaces, "namespaces", FIELD_STRINGS, .max_len = 63,
	      .doc = "Namespaces of the pods that match. If not set, all namespaces match. All "
		     "pods of a gang must match."),
	FIELD_OBJ(burst_policy_match, workload_selector, "workloadSelector", object_selector_fields,
		  .doc = "Label selector for the pods that match. If not set, all pods match. All "
			 "pods of a gang must match."),
	FIELD(burst_policy_match, queues, "queues", FIELD_STRINGS, AS_TEXT,
	      .doc = "Kueue queues (label kueue.x-k8s.io/queue-name of the pods) that match. If "
		     "not set, all pods match. All pods of a gang must match."),
	FIELD(burst_policy_match, gpu_products, "gpuProducts", FIELD_STRINGS, AS_TEXT,
	      .doc = "GPU products, as in the label nvidia.com/gpu.product. Work matches "
		     "if its pods require exactly one product, by node selector or node "
		     "affinity on this label, and the product is in this list. If not "
		     "set, all work matches. No instance is launched for work that "
		     "requests no GPU."),
	FIELD_OBJ(burst_policy_match, gang_size, "gangSize", gang_size_fields,
		  .doc = "Range of gang sizes that match. The size is the number of pods that "
			 "start together. A single pod has size 1."),
	FIELD_PTR(burst_policy_match, priority, "priority", priority_fields,
		  .doc = "Range of pod priorities that match. If not set, all priorities match."),
	FIELDS_END,
};
static const struct field priority_wait_fields[] = {
	FIELD(burst_policy_priority_wait, at_least, "priorityAtLeast", FIELD_I64, .required = true,
	      .min = INT32_MIN, .max = INT32_MAX,
	      .doc = "Lowest pod priority for which this entry applies."),
	FIELD(burst_policy_priority_wait, wait, "wait", FIELD_DURATION, .required = true,
	      .never = true, .max = YEAR,
	      .doc = "Waiting time after which the trigger fires. Never: waiting alone does not "
		     "trigger."),
	FIELDS_END,
};
static const struct field queue_wait_fields[] = {
	FIELD(burst_policy_queue_wait, def, "default", FIELD_DURATION, .never = true, .max = YEAR,
	      .def = "\"Never\"",
	      .doc = "Waiting time after which the trigger fires, for priorities to which no entry "
		     "of byPriority applies. Never: waiting alone does not trigger."),
	FIELD_ITEMS(
		burst_policy_queue_wait, by_priority, "byPriority", priority_wait_fields,
		.max_items = 32, .list_key = "priorityAtLeast",
		.doc = "Waiting times by pod priority. The entry with the highest priorityAtLeast "
		       "that is not above the pod's priority applies."),
	FIELDS_END,
};
static const char *const approval_names[] = {"None", "Manual", NULL};
static const struct field guards_fields[] = {
	FIELD_IN(burst_policy_trigger, guards, on_prem_utilisation_over, "onPremUtilisationOver",
		 FIELD_DECIMAL, AS_FRACTION,
		 .doc = "Fraction of owned GPUs, from 0 to 1 such as \"0.9\". Instances are "
			"launched only while more than this fraction is in use. Always met if "
			"there are no owned GPUs."),
	FIELD_IN(
		burst_policy_trigger, guards, not_if_on_prem_frees_within, "notIfOnPremFreesWithin",
		FIELD_DURATION, .max = YEAR,
		.doc = "No instance is launched for work if the forecast (median) expects an owned "
		       "machine for it within this time."),
	FIELD_IN(burst_policy_trigger, guards, approval, "approval", FIELD_ENUM,
		 .enums = approval_names, .def = "\"None\"",
		 .doc = "Approval that work needs. None: no approval, unless spec.mode is "
			"Recommend. Manual: an administrator must approve the work (drover approve "
			"burst/POLICY/WORK, docs/burst.md)."),
	FIELDS_END,
};
static const struct field trigger_fields[] = {
	FIELD_PTR(burst_policy_trigger, max_queue_wait, "maxQueueWait", queue_wait_fields,
		  .doc = "Triggers if the work has waited for longer than a set time, which can "
			 "depend on the priority of the work's pods."),
	FIELD(burst_policy_trigger, predicted_wait_over, "predictedWaitOver", FIELD_DURATION,
	      .min = SECOND, .max = YEAR,
	      .doc = "Triggers if the forecast (90th percentile) expects no owned machine for the "
		     "work within this time. Work without a forecast does not trigger."),
	FIELD(burst_policy_trigger, deadline_slack_under, "deadlineSlackUnder", FIELD_DURATION,
	      .min = SECOND, .max = YEAR,
	      .doc = "Triggers if less than this time lies between the expected arrival of an "
		     "owned machine (90th percentile; now, if unknown or past) and the latest time "
		     "at which the work must start. Pods declare it by the annotation "
		     "drover.dev/latest-start."),
	FIELD(burst_policy_trigger, queued_gpus_over, "queuedGPUsOver", FIELD_I64, .min = 1,
	      .max = 1000000,
	      .doc = "Triggers if the waiting work that this policy matches requests, in total, "
		     "more GPUs than this."),
	FIELD(burst_policy_trigger, on_prem_impossible, "onPremImpossible", FIELD_BOOL,
	      .doc = "Triggers if no owned machine can serve the work even when one becomes free: "
		     "the work, its tenant, the NodePools or the instance types must be changed "
		     "first, or the NodePools have only cloud instances, which drover launches by "
		     "decision of a BurstPolicy."),
	FIELD_OBJ(burst_policy_trigger, guards, "guards", guards_fields, .def = "{}",
		  .doc = "Further conditions. All of them must hold, in addition to a trigger."),
	FIELDS_END,
};

/* --- tiers, offers ---------------------------------------------------------------------------- */

static const struct field tier_fields[] = {
	FIELD(burst_policy_tier, market, "market", FIELD_ENUM, .required = true,
	      .enums = market_names, .doc = "Market in which the capacity is bought."),
	FIELD(burst_policy_tier, offers, "offers", FIELD_STRINGS, .max_items = 64, AS_TEXT,
	      .doc = "Names of entries of spec.offers to use in this tier. If not set, all "
		     "offers."),
	FIELDS_END,
};
static const struct field interconnect_fields[] = {
	FIELD_IN(burst_policy_offer, interconnect, required, "required", FIELD_ENUM,
		 .enums = object_interconnect_names, .def = "\"None\"",
		 .doc = "Interconnect that the instances must have. None: any network will do. "
			"Infiniband, Efa: only instance types with this interconnect are launched "
			"(spec.instanceTypes[].interconnect of the Provider)."),
	FIELDS_END,
};
static const char *const gang_modes[] = {"AllOrNothing", "AtLeast", NULL};
static const char *const gang_acted_upon[] = {"AllOrNothing", NULL};
static const struct field gang_fields[] = {
	FIELD_UNKEPT(
		"mode", FIELD_ENUM, .enums = gang_modes, .only = gang_acted_upon,
		.def = "\"AllOrNothing\"",
		.doc = "Whether a gang may be launched in part. AllOrNothing: all its instances "
		       "are launched in one zone, or none. AtLeast is refused: a gang that is "
		       "launched in part costs money and does not run."),
	FIELDS_END,
};
static const struct field offer_fields[] = {
	FIELD(burst_policy_offer, name, "name", FIELD_STR, .required = true, AS_LABEL,
	      .doc = "Name of the offer, unique in this policy."),
	FIELD(burst_policy_offer, provider, "provider", FIELD_STR, .required = true, AS_NAME,
	      .doc = "Name of the Provider that launches the instances."),
	FIELD(burst_policy_offer, regions, "regions", FIELD_STRINGS, .required = true, AS_TEXT,
	      .max_items = 64, .doc = "Regions in which instances may be launched."),
	FIELD(burst_policy_offer, zones, "zones", FIELD_STRINGS, .max_items = 64, AS_TEXT,
	      .doc = "Zones in which instances may be launched. If not set, all zones of the "
		     "regions."),
	FIELD(burst_policy_offer, instance_types, "instanceTypes", FIELD_STRINGS, .required = true,
	      .max_items = 64, AS_TEXT,
	      .doc = "Instance types that may be launched, as the cloud names them."),
	FIELD(burst_policy_offer, jurisdiction, "jurisdiction", FIELD_STR, AS_TEXT,
	      .doc = "Jurisdiction of the regions, such as EU. If not set, the jurisdiction is "
		     "unknown."),
	FIELD(burst_policy_offer, certifications, "certifications", FIELD_STRINGS, .max_items = 64,
	      AS_TEXT,
	      .doc = "What you vouch for of this capacity, in words of your own, such as ISO27001 "
		     "or SingleTenantHost. spec.compliance.certifications can require it; drover "
		     "does not check it."),
	FIELD(burst_policy_offer, gpu_equivalence, "gpuEquivalence", FIELD_MAP, .max_items = 64,
	      .max_len = 63,
	      .doc = "Relative throughput of each GPU product. When offers are compared, the cost "
		     "of an offer is divided by this factor. Products that are not listed have the "
		     "factor \"1\"."),
	FIELD_OBJ(burst_policy_offer, interconnect, "interconnect", interconnect_fields,
		  .def = "{}", .doc = "Network between the instances of one launch."),
	FIELD_UNKEPT("gang", FIELD_OBJECT, .sub = gang_fields, .def = "{}",
		     .doc = "How instances for a gang are launched."),
	FIELD_REFUSED(
		"account",
		.doc = "Refused: an account at a cloud is a Provider; name that in provider."),
	FIELD_REFUSED("placementGroup",
		      .doc = "Refused: a Provider has one placement group, in "
			     "ec2.placementGroup; use a Provider for each group."),
	FIELD_REFUSED("confidential",
		      .doc = "Refused: name instance types with confidential computing in "
			     "instanceTypes; drover does not check it."),
	FIELD_REFUSED("network", .doc = "Refused: network and start script of the Provider connect "
					"its instances to the site."),
	FIELDS_END,
};

/* --- money ------------------------------------------------------------------------------------ */

static const struct field price_fields[] = {
	FIELD(burst_policy_price, offer, "offer", FIELD_STR, .required = true, AS_LABEL,
	      .doc = "Name of an entry of spec.offers."),
	FIELD(burst_policy_price, instance_type, "instanceType", FIELD_STR, .required = true,
	      AS_TEXT, .doc = "Instance type, as the cloud names it."),
	FIELD(burst_policy_price, region, "region", FIELD_STR, AS_TEXT,
	      .doc = "Region to which the price applies. If not set, all regions of the offer."),
	FIELD(burst_policy_price, market, "market", FIELD_ENUM, .required = true,
	      .enums = market_names, .doc = "Market to which the price applies."),
	FIELD(burst_policy_price, per_hour, "perHour", FIELD_DECIMAL, .required = true, AS_MONEY,
	      .doc = "Price of one instance for one hour, in spec.cost.currency."),
	FIELD(burst_policy_price, as_of, "asOf", FIELD_TIME, .required = true,
	      .doc = "Time at which an operator looked up the price. The price expires "
		     "spec.cost.maxAge later."),
	FIELDS_END,
};
static const struct field billing_fields[] = {
	FIELD_IN(burst_policy_cost, minimum_billing, increment, "increment", FIELD_DURATION,
		 .min = SECOND, .max = 31 * DAY, .def = "\"1s\"",
		 .doc = "Billing increment of the cloud. The cloud rounds the billed time up to a "
			"multiple of the increment."),
	FIELD_IN(burst_policy_cost, minimum_billing, minimum, "minimum", FIELD_DURATION,
		 .max = 31 * DAY, .def = "\"1m\"",
		 .doc = "Minimum time that the cloud bills for each instance."),
	FIELDS_END,
};
static const struct field cost_fields[] = {
	FIELD(burst_policy_cost, currency, "currency", FIELD_STR, .required = true, .max_len = 3,
	      .pattern = "^[A-Z]{3}$", .valid = money_is_currency,
	      .want = "an ISO 4217 currency code",
	      .doc = "Currency of all amounts in this policy, an ISO 4217 code. Offers in "
		     "another currency are refused."),
	FIELD_ITEMS(burst_policy_cost, prices, "prices", price_fields, .max_items = 256,
		    .doc = "Prices entered by an operator. These prices take precedence over "
			   "prices reported by a Provider."),
	FIELD(burst_policy_cost, max_age, "maxAge", FIELD_DURATION, .min = MINUTE, .max = YEAR,
	      .def = "\"24h\"",
	      .doc = "Highest age of a price. An offer whose price is older is refused."),
	FIELD(burst_policy_cost, max_per_gpu_hour, "maxPerGPUHour", FIELD_DECIMAL, AS_MONEY,
	      .doc = "Highest price of one GPU for one hour, in spec.cost.currency. If not set, "
		     "no limit."),
	FIELD(burst_policy_cost, max_per_node_hour, "maxPerNodeHour", FIELD_DECIMAL, AS_MONEY,
	      .doc = "Highest price of one instance for one hour, in spec.cost.currency. If not "
		     "set, no limit."),
	FIELD_OBJ(burst_policy_cost, minimum_billing, "minimumBilling", billing_fields, .def = "{}",
		  .doc = "Billing rules of the cloud."),
	FIELD(burst_policy_cost, boot_and_stage_time, "bootAndStageTime", FIELD_DURATION,
	      .max = DAY, .def = "\"10m\"",
	      .doc = "Expected time from the launch of an instance until the work runs. This "
		     "time is paid for as well."),
	FIELD(burst_policy_cost, max_premium_over_on_prem, "maxPremiumOverOnPrem", FIELD_DECIMAL,
	      .max = 1000 * MONEY_UNIT, .want = "a fraction from 0 to 1000 such as \"0.5\"",
	      .doc = "Highest premium of a GPU hour over the rate of owned machines, as a fraction "
		     "of that rate: \"0.5\" allows half as much again. The rate is pricePerHour of "
		     "the instance type (spec.instanceTypes of the Provider) of owned Machines "
		     "with the GPU product of the offer, divided by its GPUs, in "
		     "spec.cost.currency; the lowest counts. Offers without such a rate are "
		     "refused. If not set, no limit."),
	FIELD_REFUSED(
		"include",
		.doc = "Refused: the price of moving data is spec.data.egressPerGB. What else "
		       "an instance costs belongs to its price (spec.cost.prices)."),
	FIELDS_END,
};
static const char *const budget_modes[] = {"Hard", "Soft", NULL};
const char *const burst_policy_exhausted_names[] = {"StopNew", "DrainAtCheckpoint", "DrainNow",
						    "RequireApproval", NULL};
static const char *const exhausted_acted_upon[] = {"StopNew", "RequireApproval", NULL};
#define AS_TIMEZONE                                                                                \
	.max_len = ZONE_NAME_MAX, .pattern = "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$",               \
	.want = "an IANA time zone such as Europe/Berlin", .def = "\"UTC\""
static const struct field burst_budget_fields[] = {
	FIELD(burst_policy_budget, scope, "scope", FIELD_ENUM, .required = true,
	      .enums = burst_policy_scope_names,
	      .doc = "Launches that count against the budget. Policy: launches by this policy. "
		     "Workload: launches by this policy for one workload. Tenant: all launches for "
		     "one tenant. Provider: all launches at one Provider. Global: all launches. "
		     "Budgets of scope Tenant, Provider and Global count and limit the launches of "
		     "all policies."),
	FIELD(burst_policy_budget, amount, "amount", FIELD_DECIMAL, .required = true, AS_MONEY,
	      .doc = "Amount that may be spent in each period (spec.budget[].per), in "
		     "spec.cost.currency."),
	FIELD(burst_policy_budget, per, "per", FIELD_ENUM, .required = true,
	      .enums = burst_policy_per_names,
	      .doc = "Calendar period of the budget, in the time zone spec.budget[].timezone. "
		     "Weeks begin on Monday. Total: one period without end."),
	FIELD(burst_policy_budget, timezone, "timezone", FIELD_STR, AS_TIMEZONE,
	      .doc = "IANA name of the time zone in which the periods begin, such as "
		     "Europe/Berlin."),
	FIELD(burst_policy_budget, mode, "mode", FIELD_ENUM, .enums = budget_modes,
	      .def = "\"Hard\"",
	      .doc = "What drover does with a launch that would exceed the amount. Hard: "
		     "drover refuses the launch. Soft: drover launches all the same and "
		     "only reports the excess."),
	FIELD(burst_policy_budget, reserve_for_running, "reserveForRunning", FIELD_BOOL,
	      .def = "true",
	      .doc = "Whether the highest further cost of a running instance counts in every "
		     "period until the instance ends. If false, this cost counts only in the "
		     "period in which the instance was launched."),
	FIELD(burst_policy_budget, alert_at, "alertAt", FIELD_STRINGS, .max_items = 16,
	      AS_FRACTION_TEXT,
	      .doc = "Fractions of the amount, from 0 to 1 such as \"0.8\". The highest one that "
		     "has been reached is reported in status.spend[].alert."),
	FIELD(burst_policy_budget, on_exhausted, "onExhausted", FIELD_ENUM,
	      .enums = burst_policy_exhausted_names, .only = exhausted_acted_upon,
	      .def = "\"StopNew\"",
	      .doc = "What happens when the amount is spent. StopNew: no further launches. "
		     "RequireApproval: launches beyond the amount only for work that an "
		     "administrator approved (drover approve burst/POLICY/WORK); requires mode "
		     "Hard. DrainAtCheckpoint and DrainNow are refused: the highest cost of a "
		     "launch counts from its beginning, so running work never exceeds the "
		     "amount."),
	FIELD_REFUSED("forecastHorizon",
		      .doc = "Refused: status.spend[].forecast is always for the "
			     "end of the period."),
	FIELD(burst_policy_budget, carry_over, "carryOver", FIELD_DECIMAL, AS_FRACTION,
	      .doc = "Most that the unspent money of the last period adds to the amount of this "
		     "one, as a fraction of the amount, from 0 to 1. What the last period had "
		     "from the period before it is not carried over again. If not set, nothing. "
		     "Not for scope Workload and not per Total."),
	FIELDS_END,
};

/* --- windows, filters, limits ----------------------------------------------------------------- */

static const struct field window_fields[] = {
	FIELD(burst_policy_window, cron, "cron", FIELD_STR, .required = true, AS_CRON,
	      .doc = "Start of the window, in cron syntax (minute hour day month weekday), in "
		     "the time zone of this window."),
	FIELD(burst_policy_window, duration, "duration", FIELD_DURATION, .required = true,
	      .min = MINUTE, .max = 31 * DAY, .doc = "Length of the window."),
	FIELD(burst_policy_window, timezone, "timezone", FIELD_STR, AS_TIMEZONE,
	      .doc = "IANA name of the time zone of cron, such as Europe/Berlin. A start at a "
		     "local time that the clock skips does not occur; one at a local time that "
		     "the clock shows twice occurs twice."),
	FIELDS_END,
};
#define DATE_PATTERN                                                                               \
	"^[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|"                                    \
	"(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))$"
static const struct field windows_fields[] = {
	FIELD_ITEMS(burst_policy_windows, allow, "allow", window_fields, .max_items = 32,
		    .doc = "Time windows in which launches are allowed. If not set, launches are "
			   "always allowed."),
	FIELD_ITEMS(burst_policy_windows, deny, "deny", window_fields, .max_items = 32,
		    .doc = "Time windows in which launches are not allowed. These windows take "
			   "precedence over spec.windows.allow."),
	FIELD(burst_policy_windows, freeze_dates, "freezeDates", FIELD_STRINGS, .max_items = 256,
	      .max_len = 10, .pattern = DATE_PATTERN, .want = "a date such as 2026-12-24",
	      .doc = "Days on which launches are not allowed, in the time zone "
		     "spec.windows.freezeTimezone."),
	FIELD(burst_policy_windows, freeze_timezone, "freezeTimezone", FIELD_STR, AS_TIMEZONE,
	      .doc = "IANA name of the time zone in which the days of freezeDates begin and end, "
		     "such as Europe/Berlin."),
	FIELDS_END,
};
/* drover cannot check these facts about a cloud. */
#define IN_CERTIFICATIONS(what)                                                                    \
	.doc = "Refused: drover cannot check " what                                                \
	       ". Write it as one of spec.offers[].certifications and require it."
static const struct field compliance_fields[] = {
	FIELD_IN(burst_policy_spec, compliance, jurisdictions_allowed, "jurisdictionsAllowed",
		 FIELD_STRINGS, .max_items = 64, AS_TEXT,
		 .doc = "Jurisdictions in which instances may run. Offers with another "
			"or an unknown jurisdiction are refused. If not set, all are allowed."),
	FIELD_IN(burst_policy_spec, compliance, jurisdictions_denied, "jurisdictionsDenied",
		 FIELD_STRINGS, .max_items = 64, AS_TEXT,
		 .doc = "Jurisdictions in which instances must not run. Offers with one of these "
			"jurisdictions are refused, and offers whose jurisdiction is unknown too."),
	FIELD_IN(burst_policy_spec, compliance, data_classes_allowed, "dataClassesAllowed",
		 FIELD_STRINGS, .max_items = 64, AS_TEXT,
		 .doc = "Data classes of work for which instances may be launched. Pods "
			"declare theirs by the annotation drover.dev/data-class. Work with another "
			"data class, or with none, is refused. If not set, all work is allowed."),
	FIELD_IN(burst_policy_spec, compliance, certifications, "certifications", FIELD_STRINGS,
		 .max_items = 64, AS_TEXT,
		 .doc = "Certifications that an offer must have: spec.offers[].certifications must "
			"list each of them."),
	FIELD_REFUSED("encryptionAtRest", IN_CERTIFICATIONS("encryption of volumes")),
	FIELD_REFUSED(
		"tenantConsentRef",
		.doc = "Refused: use spec.trigger.guards.approval, which records who agreed."),
	FIELD_REFUSED("singleTenantHost", IN_CERTIFICATIONS("dedicated hosts")),
	FIELD_REFUSED("remoteAttestation", IN_CERTIFICATIONS("attestation of instances")),
	FIELD_REFUSED("eraseOnReturn", IN_CERTIFICATIONS("erasure when an instance ends")),
	FIELDS_END,
};
static const struct field spot_needs_fields[] = {
	FIELD_IN(burst_policy_spec, runtime.spot_needs, checkpointable, "checkpointable",
		 FIELD_BOOL, .def = "true",
		 .doc = "Whether spot capacity is used only for work that saves its state, as its "
			"pods declare by the annotation drover.dev/checkpoint."),
	FIELD_IN(burst_policy_spec, runtime.spot_needs, max_lost_work, "maxLostWork",
		 FIELD_DURATION, .min = SECOND, .max = YEAR,
		 .doc = "Longest run time that work may lose when its spot instance ends. Spot "
			"capacity is used only for work that saves its state at least this often, "
			"as its pods declare by the annotation drover.dev/checkpoint-interval. If "
			"not set, no limit."),
	FIELDS_END,
};
static const struct field runtime_fields[] = {
	FIELD_IN(burst_policy_spec, runtime, min_expected_runtime, "minExpectedRuntime",
		 FIELD_DURATION, .max = YEAR,
		 .doc = "Shortest expected run time of work for which instances may be launched. "
			"Pods declare it by the annotation drover.dev/expected-runtime. Work that "
			"declares no run time is refused."),
	FIELD_IN(burst_policy_spec, runtime, max_overhead_fraction, "maxOverheadFraction",
		 FIELD_DECIMAL, AS_FRACTION,
		 .doc = "Highest fraction of the expected run time, from 0 to 1, that "
			"spec.cost.bootAndStageTime may take. Pods declare it by the "
			"annotation drover.dev/expected-runtime. Work that declares no run time "
			"is refused."),
	FIELD_IN(
		burst_policy_spec, runtime, max_runtime, "maxRuntime", FIELD_DURATION,
		.min = MINUTE, .max = YEAR,
		.doc = "Longest run time of work for which instances may be launched. Every launch "
		       "is charged for this time, whatever run time its pods declare. If not set, "
		       "work is charged for the run time that its pods declare by the annotation "
		       "drover.dev/expected-runtime, and refused if they declare none. Each "
		       "instance is ended no later than spec.cost.bootAndStageTime plus that time "
		       "after drover decided to launch it."),
	FIELD_IN(burst_policy_spec, runtime, spot_needs, "spotNeeds", FIELD_OBJECT,
		 .sub = spot_needs_fields,
		 .size = sizeof(((struct burst_policy_spec *)0)->runtime.spot_needs), .def = "{}",
		 .doc = "Requirements that work must meet to run on spot capacity."),
	FIELD_IN(burst_policy_spec, runtime, max_restarts, "maxRestarts", FIELD_I64, .min = -1,
		 .max = 1000, .def = "-1",
		 .doc = "Work that was interrupted more often than this gets no more spot "
			"capacity (docs/burst.md). -1: no limit."),
	FIELDS_END,
};
static const struct field burst_limits_fields[] = {
	FIELD_IN(burst_policy_spec, limits, nodes, "nodes", FIELD_I64, ANY_COUNT,
		 .doc = "Highest number of instances launched by this policy that exist at one "
			"time. If not set, no limit."),
	FIELD_IN(burst_policy_spec, limits, gpus, "gpus", FIELD_I64, ANY_COUNT,
		 .doc = "Highest number of GPUs in all instances launched by this policy that "
			"exist at one time. If not set, no limit."),
	FIELD_IN(burst_policy_spec, limits, launches_per_minute, "launchesPerMinute", FIELD_I64,
		 ANY_COUNT,
		 .doc = "Highest number of launches by this policy in 60 seconds. A gang counts "
			"as one launch. If not set, no limit."),
	FIELD_IN(burst_policy_spec, limits, concurrent_launches, "concurrentLaunches", FIELD_I64,
		 ANY_COUNT,
		 .doc = "Highest number of launches by this policy that are in progress at "
			"one time. A launch is in progress until its Nodes are Ready; a gang "
			"counts as one launch. If not set, no limit."),
	FIELD_IN(burst_policy_spec, limits, per_tenant_share, "perTenantShare", FIELD_DECIMAL,
		 AS_FRACTION,
		 .doc = "Highest fraction of spec.limits.nodes, from 0 to 1, that the "
			"instances for one tenant may use. If not set, no limit. Needs "
			"spec.limits.nodes."),
	FIELD_REFUSED("spareNodes", .doc = "Refused: an idle instance costs as much as a busy one. "
					   "spec.warm of a NodePool keeps owned machines ready."),
	FIELDS_END,
};
static const struct field capacity_cooldown_fields[] = {
	FIELD_IN(burst_policy_spec, failover.capacity_cooldown, zone, "zone", FIELD_DURATION,
		 .max = DAY, .def = "\"3m\"",
		 .doc = "Time for which a zone is not tried for an instance type after the "
			"cloud reported that the zone has no capacity for this type."),
	FIELD_IN(burst_policy_spec, failover.capacity_cooldown, region, "region", FIELD_DURATION,
		 .max = DAY, .def = "\"15m\"",
		 .doc = "Time for which a region is not tried for an instance type after the cloud "
			"reported that the whole region (no zone was named) has no capacity for "
			"this type."),
	FIELDS_END,
};
static const struct field failover_fields[] = {
	FIELD_IN(burst_policy_spec, failover, capacity_cooldown, "capacityCooldown", FIELD_OBJECT,
		 .sub = capacity_cooldown_fields,
		 .size = sizeof(((struct burst_policy_spec *)0)->failover.capacity_cooldown),
		 .def = "{}", .doc = "Back-off after the cloud reports that it has no capacity."),
	FIELD_IN(
		burst_policy_spec, failover, quota_cooldown, "quotaCooldown", FIELD_DURATION,
		.max = 31 * DAY, .def = "\"6h\"",
		.doc = "Time for which a Provider is not tried for an instance type whose quota at "
		       "the cloud is used up."),
	FIELD_REFUSED(
		"attemptsPerOffer",
		.doc = "Refused: an offer that was refused is tried again after its cooldown, "
		       "and the next one meanwhile."),
	FIELD_REFUSED("order",
		      .doc = "Refused: tiers have an order, and within one the lowest cost "
			     "decides."),
	FIELD_REFUSED("orphanReapAfter",
		      .doc = "Refused: an instance without a NodeClaim is ended after a minute."),
	FIELDS_END,
};

/* In the order of enum burst_home (planner/burst/moves.h). */
static const char *const home_names[] = {"Never", "AtCompletion", "AtCheckpoint", "Immediate",
					 NULL};
static const struct field gain_fields[] = {
	FIELD_IN(burst_policy_scale_back, gain, money, "money", FIELD_DECIMAL, AS_MONEY,
		 .doc = "Amount in spec.cost.currency that a move must gain more than."),
	FIELD_IN(burst_policy_scale_back, gain, time, "time", FIELD_DURATION, .max = YEAR,
		 .doc = "Time that a move must gain more than: the time for which the instance "
			"is no longer paid, less the run time that is lost."),
	FIELDS_END,
};
static const struct field home_drain_fields[] = {
	FIELD_IN(burst_policy_scale_back, drain, max_wait, "maxWait", FIELD_DURATION, .min = SECOND,
		 .max = DAY,
		 .doc = "Longest time from the start of a move until the pods have left the "
			"instance. Then the move ends, and the instance serves on. If not set, "
			"spec.terminationGracePeriod of the NodeClaim."),
	FIELD_REFUSED("checkpointGrace", .doc = "Refused: each pod sets its own time (annotation "
						"drover.dev/checkpoint)."),
	FIELD_REFUSED("respectPDB", .doc = "Refused: a move always respects PodDisruptionBudgets."),
	FIELDS_END,
};
static const struct field scale_back_fields[] = {
	FIELD(burst_policy_scale_back, to_on_prem, "toOnPrem", FIELD_ENUM, .enums = home_names,
	      .def = "\"AtCompletion\"",
	      .doc = "When work returns from an instance to owned machines (docs/burst.md). "
		     "AtCompletion: running work is not moved; the instance ends after its work. "
		     "AtCheckpoint: work that saves its state on request "
		     "(annotation drover.dev/checkpoint of all pods) is moved after it has saved "
		     "its state. Immediate: work is moved without a checkpoint. Never: as "
		     "AtCompletion, but an instance without pods is kept, for further work, until "
		     "its time is over."),
	FIELD(burst_policy_scale_back, idle_timeout, "idleTimeout", FIELD_DURATION, .min = SECOND,
	      .max = YEAR,
	      .doc = "Time without pods after which an instance ends. If not set, "
		     "spec.disruption.consolidateAfter of the NodePool applies."),
	FIELD(burst_policy_scale_back, min_node_lifetime, "minNodeLifetime", FIELD_DURATION,
	      .max = YEAR,
	      .doc = "Shortest time from the creation of an instance's NodeClaim until "
		     "the instance may end because it has no pods. If not set, no minimum."),
	FIELD(burst_policy_scale_back, align_to_billing, "alignToBilling", FIELD_BOOL,
	      .doc = "Whether an instance without pods ends only in the last five minutes of a "
		     "billing increment (spec.cost.minimumBilling.increment), counted from its "
		     "launch. Has no effect for increments of at most ten minutes."),
	FIELD_OBJ(burst_policy_scale_back, gain, "migrateGainOver", gain_fields, .def = "{}",
		  .doc = "Lowest gain for which running work is moved. A move must gain more than "
			 "nothing in any case."),
	FIELD(burst_policy_scale_back, moves, "maxMigrationsPerJob", FIELD_I64, .min = -1,
	      .max = BURST_LEDGER_RESTARTS, .def = "1",
	      .doc = "Highest number of moves of one workload within 30 days. -1: no limit."),
	FIELD(burst_policy_scale_back, hysteresis, "hysteresis", FIELD_DURATION, .max = DAY,
	      .def = "\"15m\"",
	      .doc = "Time for which an owned machine must have been free for the work, without "
		     "interruption, before the work is moved. After a move no instance is launched "
		     "for the workload for as long."),
	FIELD_OBJ(burst_policy_scale_back, drain, "drain", home_drain_fields, .def = "{}",
		  .doc = "How work is moved off an instance."),
	FIELDS_END,
};

/* --- data ------------------------------------------------------------------------------------- */

static const struct field copy_fields[] = {
	FIELD(burst_policy_copy, provider, "provider", FIELD_STR, .required = true, AS_NAME,
	      .doc = "Name of the Provider at whose cloud the copy lies."),
	FIELD(burst_policy_copy, region, "region", FIELD_STR, AS_TEXT,
	      .doc = "Region in which the copy lies. If not set, all regions of the Provider."),
	FIELDS_END,
};
static const struct field dataset_fields[] = {
	FIELD(burst_policy_dataset, name, "name", FIELD_STR, .required = true, AS_TEXT,
	      .pattern = "^[A-Za-z0-9_.-]+$", .want = "letters, digits, '-', '_' and '.'",
	      .doc = "Name of the data set, by which pods name it in the annotation "
		     "drover.dev/data."),
	FIELD(burst_policy_dataset, size, "size", FIELD_QUANTITY, .required = true,
	      .doc = "Number of bytes that an instance reads of the data set, such as 150Gi."),
	FIELD_ITEMS(burst_policy_dataset, copies, "copies", copy_fields, .max_items = 64,
		    .doc = "Places where a copy of the data set lies. To instances there the data "
			   "set is moved at no cost and in no time."),
	FIELDS_END,
};
static const struct field data_fields[] = {
	FIELD_ITEMS(burst_policy_data, inputs, "inputs", dataset_fields, .required = true,
		    .max_items = BURST_POLICY_DATASETS, .list_key = "name",
		    .doc = "Data sets that work of this policy may read."),
	FIELD(burst_policy_data, egress_per_gb, "egressPerGB", FIELD_DECIMAL, .required = true,
	      AS_MONEY,
	      .doc = "Price of moving 10^9 bytes to an instance, in spec.cost.currency. Each "
		     "instance of a launch moves the data of its work for itself."),
	FIELD(burst_policy_data, bytes_per_second, "bytesPerSecond", FIELD_QUANTITY,
	      .doc = "Number of bytes that are moved to an instance in a second, such as 1Gi. The "
		     "time that follows is paid for in addition to spec.cost.bootAndStageTime. If "
		     "not set, spec.cost.bootAndStageTime must contain the time."),
	FIELD(burst_policy_data, max_stage_time, "maxStageTime", FIELD_DURATION, .min = SECOND,
	      .max = YEAR,
	      .doc = "Longest time that moving the data may take. Offers to which it takes longer "
		     "are refused. Needs spec.data.bytesPerSecond. If not set, no limit."),
	FIELD(burst_policy_data, max_egress_cost, "maxEgressCost", FIELD_DECIMAL, AS_MONEY,
	      .doc = "Highest price of moving the data of one launch, with all of its instances, "
		     "in spec.cost.currency. Offers to which it costs more are refused. If not "
		     "set, no limit."),
	FIELD_REFUSED("maxEgressGB", .doc = "Refused: spec.data.maxEgressCost is the limit."),
	FIELD_REFUSED(
		"cacheAffinity",
		.doc = "Refused: a copy makes an offer cheaper; spec.data.maxEgressCost \"0\" "
		       "requires one."),
	FIELD_REFUSED("outputsReturnTo", .doc = "Refused: drover moves no data; the work does."),
	FIELDS_END,
};

/* --- the kind --------------------------------------------------------------------------------- */

static const struct field spec_fields[] = {
	FIELD(burst_policy_spec, paused, "paused", FIELD_BOOL,
	      .doc = "Whether the policy is paused. A paused policy launches nothing, "
		     "whatever spec.mode is, and only records what it would launch. "
		     "Instances that it launched earlier still end on time."),
	FIELD(burst_policy_spec, mode, "mode", FIELD_ENUM, .enums = burst_policy_mode_names,
	      .def = "\"Shadow\"",
	      .doc = "What the controller does with its decisions. Enforce: it launches what the "
		     "policy decides. Recommend: it proposes launches in status.decisions, and "
		     "launches those that an administrator approves (drover approve "
		     "burst/POLICY/WORK). Shadow: it launches nothing and only records its "
		     "decisions in status.decisions."),
	FIELD_OBJ(burst_policy_spec, match, "match", match_fields, .def = "{}",
		  .doc = "Selection of the work (pods and gangs) for which this policy decides. If "
			 "two policies match the same work, no instance is launched for it."),
	FIELD_OBJ(
		burst_policy_spec, trigger, "trigger", trigger_fields, .required = true,
		.doc = "Conditions for launching instances for work. At least one trigger and all "
		       "guards must hold."),
	FIELD_ITEMS(
		burst_policy_spec, tiers, "tiers", tier_fields, .required = true, .max_items = 16,
		.doc = "Tiers of offers in order of preference. An offer of a later tier is used "
		       "only if no offer of an earlier tier is allowed. Within a tier the offer "
		       "with the lowest total cost is used."),
	FIELD_ITEMS(burst_policy_spec, offers, "offers", offer_fields, .required = true,
		    .max_items = 64, .list_key = "name",
		    .doc = "Cloud capacity that may be launched."),
	FIELD_OBJ(burst_policy_spec, cost, "cost", cost_fields, .required = true,
		  .doc = "Prices, price limits and billing rules. Offers with an unknown price are "
			 "refused."),
	FIELD_ITEMS(burst_policy_spec, budget, "budget", burst_budget_fields, .required = true,
		    .max_items = 32,
		    .doc = "Limits on spending. A launch counts with its highest possible cost "
			   "until its instance has ended, and then with its actual cost."),
	FIELD_OBJ(burst_policy_spec, windows, "windows", windows_fields,
		  .doc = "Times at which launches are allowed."),
	FIELD_OBJ(burst_policy_spec, compliance, "compliance", compliance_fields,
		  .doc = "Filters for offers and work. An offer that fails a filter is never used, "
			 "whatever its price."),
	FIELD_OBJ(burst_policy_spec, runtime, "runtime", runtime_fields, .def = "{}",
		  .doc = "Run time limits of the work."),
	FIELD_OBJ(burst_policy_spec, limits, "limits", burst_limits_fields,
		  .doc = "Limits on the number and rate of instances."),
	FIELD_OBJ(burst_policy_spec, failover, "failover", failover_fields, .def = "{}",
		  .doc = "Times for which drover does not try an offer again after the cloud "
			 "refused a launch."),
	FIELD_PTR(
		burst_policy_spec, data, "data", data_fields,
		.doc = "Data sets that the work reads, and what it costs and takes to move them to "
		       "a cloud (docs/burst.md). Work whose pods name a data set that is not "
		       "listed is refused."),
	FIELD_PTR(burst_policy_spec, scale_back, "scaleBack", scale_back_fields,
		  .doc = "When instances end. An instance always ends once its time "
			 "(spec.cost.bootAndStageTime plus spec.runtime.maxRuntime) is over."),
	FIELD_REFUSED("gate",
		      .doc = "Refused: the Node of an instance must be Ready and report its "
			     "GPUs, as for owned machines, before its claim is Ready."),
	FIELD_REFUSED("chargeback",
		      .doc = "Refused: each tenant is billed (status.cost of its "
			     "VirtualCluster), and instances carry tags for the cloud's "
			     "own bill (docs/burst.md)."),
	FIELDS_END,
};

static const struct field judged_fields[] = {
	FIELD(burst_policy_judged, provider, "provider", FIELD_STR, .max_len = 253,
	      .doc = "Name of the Provider of the offer."),
	FIELD(burst_policy_judged, region, "region", FIELD_STR, .max_len = 128,
	      .doc = "Region of the offer."),
	FIELD(burst_policy_judged, zone, "zone", FIELD_STR, .max_len = 128,
	      .doc = "Zone of the offer. Empty if the Provider has no zones."),
	FIELD(burst_policy_judged, instance_type, "instanceType", FIELD_STR, .max_len = 128,
	      .doc = "Instance type of the offer, as the cloud names it."),
	FIELD(burst_policy_judged, market, "market", FIELD_STR, .max_len = 16,
	      .doc = "Market of the offer: OnDemand, Spot or Reserved."),
	FIELD(burst_policy_judged, cost, "cost", FIELD_STR, .max_len = 24,
	      .doc = "Highest possible cost of a launch of this offer, in spec.cost.currency. Not "
		     "set if the cost is unknown."),
	FIELD(burst_policy_judged, reason, "reason", FIELD_STR, .max_len = 64,
	      .doc = "Chosen, or the reason for which the offer was not chosen."),
	FIELD(burst_policy_judged, message, "message", FIELD_STR, .max_len = 512,
	      .doc = "Human-readable details of the field reason."),
	FIELDS_END,
};
static const struct field decision_fields[] = {
	FIELD(burst_policy_decision, time, "time", FIELD_TIME, .doc = "Time of the decision."),
	FIELD(burst_policy_decision, tenant, "tenant", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Name of the VirtualCluster of the work."),
	FIELD(burst_policy_decision, work, "work", FIELD_STR, .required = true, .max_len = 512,
	      .doc = "Work for which the policy decided: NAMESPACE/NAME of a pod, or name of a "
		     "gang."),
	FIELD(burst_policy_decision, reason, "reason", FIELD_STR, .max_len = 64,
	      .doc = "Chosen, or the reason for which nothing is launched."),
	FIELD(burst_policy_decision, message, "message", FIELD_STR,
	      .doc = "Human-readable details of the field reason."),
	FIELD(burst_policy_decision, provider, "provider", FIELD_STR, .max_len = 253,
	      .doc = "Name of the Provider of the chosen offer; with reason ApprovalNeeded, of "
		     "the offer that would be chosen. Not set if there is none."),
	FIELD(burst_policy_decision, region, "region", FIELD_STR, .max_len = 128,
	      .doc = "Region of the chosen offer."),
	FIELD(burst_policy_decision, zone, "zone", FIELD_STR, .max_len = 128,
	      .doc = "Zone of the chosen offer. Empty if the Provider has no zones."),
	FIELD(burst_policy_decision, instance_type, "instanceType", FIELD_STR, .max_len = 128,
	      .doc = "Instance type of the chosen offer, as the cloud names it."),
	FIELD(burst_policy_decision, market, "market", FIELD_STR, .max_len = 16,
	      .doc = "Market of the chosen offer: OnDemand, Spot or Reserved."),
	FIELD(burst_policy_decision, nodes, "nodes", FIELD_I64, .min = 0, .max = INT64_MAX,
	      .doc = "Number of instances that the policy launches by this decision, or "
		     "would launch if spec.mode were Enforce or the work were approved. 0: "
		     "none."),
	FIELD(burst_policy_decision, cost, "cost", FIELD_STR, .max_len = 24,
	      .doc = "Highest possible cost of all instances of the decision, in "
		     "spec.cost.currency."),
	FIELD_ITEMS(burst_policy_decision, offers, "offers", judged_fields,
		    .max_items = BURST_POLICY_JUDGED,
		    .doc = "Offers that drover compared for the decision, the chosen one first. "
			   "Offers that spec.offers does not list are left out."),
	FIELDS_END,
};
static const struct field spend_fields[] = {
	FIELD(burst_policy_spend, scope, "scope", FIELD_ENUM, .required = true,
	      .enums = burst_policy_scope_names,
	      .doc = "Scope of the budget (spec.budget[].scope)."),
	FIELD(burst_policy_spend, per, "per", FIELD_ENUM, .required = true,
	      .enums = burst_policy_per_names,
	      .doc = "Period of the budget (spec.budget[].per). The fields amount and spent "
		     "apply to the current period."),
	FIELD(burst_policy_spend, of, "of", FIELD_STR, .max_len = 768,
	      .doc = "Tenant, workload or Provider to which the values apply. Empty for the scopes "
		     "Policy and Global."),
	FIELD(burst_policy_spend, amount, "amount", FIELD_STR, .max_len = 24,
	      .doc = "Limit of the budget in this period: spec.budget[].amount, and what was "
		     "carried over (spec.budget[].carryOver), in spec.cost.currency."),
	FIELD(burst_policy_spend, spent, "spent", FIELD_STR, .max_len = 24,
	      .doc = "Amount that counts in this period, in spec.cost.currency: actual "
		     "cost, and the highest further cost of running instances (if "
		     "spec.budget[].reserveForRunning is false, only of instances "
		     "launched in this period)."),
	FIELD(burst_policy_spend, forecast, "forecast", FIELD_STR, .max_len = 24,
	      .doc = "What the period will have cost at its end, in spec.cost.currency, if the "
		     "cost that arose in it so far goes on at the same rate, and at least what "
		     "counts now with all that the policy would launch. Not set in the first tenth "
		     "of a period, and for a budget per Total."),
	FIELD(burst_policy_spend, alert, "alert", FIELD_STR, .max_len = 24,
	      .doc = "Highest fraction in spec.budget[].alertAt that has been reached. Not set "
		     "if none has been reached."),
	FIELDS_END,
};

static const struct field status_fields[] = {
	FIELD_ITEMS(burst_policy_status, decisions, "decisions", decision_fields,
		    .max_items = BURST_POLICY_DECISIONS,
		    .doc = "Latest decision for each pod or gang, newest first, at most 20. An "
			   "unchanged decision is recorded once."),
	FIELD_ITEMS(burst_policy_status, spend, "spend", spend_fields,
		    .max_items = BURST_POLICY_SPENDS,
		    .doc = "Amounts that count against the budgets now."),
	CONDITIONS_ROW(
		burst_policy_status,
		"Conditions: Active (True while drover decides by this policy; its "
		"reason is then the value of spec.mode, or Paused while spec.paused is "
		"true; False with reason PoliciesOverlap if another policy matches the "
		"same work, OnPremRateUnknown if spec.cost.maxPremiumOverOnPrem has no rate to "
		"compare with, or TimezoneUnknown if a time zone cannot be read); Stalled (True "
		"while Active is False); Valid (drover can use spec; absent until drover first "
		"refuses spec)."),
	FIELDS_END,
};

const struct field burst_policy_fields[] = {
	META_ROW(burst_policy),
	FIELD_OBJ(burst_policy, spec, "spec", spec_fields, .required = true,
		  .doc = "Desired state of the BurstPolicy."),
	FIELD_OBJ(burst_policy, status, "status", status_fields,
		  .doc = "Observed state of the BurstPolicy."),
	FIELDS_END,
};

const struct object_column burst_policy_columns[] = {
	{"Mode", "string", ".spec.mode", 0},
	{"Paused", "boolean", ".spec.paused", 0},
	{"Active", "string", ".status.conditions[?(@.type==\"Active\")].reason", 0},
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{NULL, NULL, NULL, 0},
};
