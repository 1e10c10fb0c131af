#ifndef API_BURSTPOLICY_H
#define API_BURSTPOLICY_H

#include "api/common.h"

/*
 * burstpolicy: the kind BurstPolicy.  api/kinds.h has the conventions.
 *
 * Money is text ("6.50"), read exactly by whoever counts with it; never
 * floating point.
 * Tests: tests/unit/api/test_kinds.c
 */

enum burst_mode { BURST_SHADOW, BURST_RECOMMEND, BURST_ENFORCE };
enum burst_tier {
	BURST_ON_PREM_FREE,
	BURST_ON_PREM_RECYCLE,
	BURST_RESERVED,
	BURST_SPOT,
	BURST_ON_DEMAND
};
enum burst_scope { BURST_POLICY, BURST_TENANT, BURST_PROVIDER };
enum burst_period { BURST_HOUR, BURST_DAY, BURST_WEEK, BURST_MONTH, BURST_TOTAL };
enum burst_exhausted {
	BURST_STOP_NEW,
	BURST_DRAIN_AT_CHECKPOINT,
	BURST_DRAIN_NOW,
	BURST_REQUIRE_APPROVAL
};
enum burst_price { BURST_PRICE_STATIC, BURST_PRICE_API, BURST_PRICE_FILE };
enum burst_return { BURST_NEVER, BURST_AT_COMPLETION, BURST_AT_CHECKPOINT, BURST_IMMEDIATE };

struct burst_range {
	int64_t min, max;
};
struct burst_match {
	struct object_label_selector *virtual_cluster_selector;
	struct strings namespaces, gpu_products;
	struct burst_range *gang_size, *priority;
};
struct burst_trigger {
	struct {
		int64_t default_;	   /* ms; -1: never for this reason */
		struct labels by_priority; /* PriorityClass to duration or "Never" */
	} max_queue_wait;
	int64_t predicted_wait_over;
	int64_t queued_gpus_over;
	bool on_prem_impossible;
	struct {
		const char *on_prem_utilisation_over; /* "0.9" */
		int64_t not_if_on_prem_frees_within;
	} guards;
};
struct burst_tier_spec {
	int type;	       /* enum burst_tier */
	struct strings offers; /* of the cloud tiers; inside a tier the cheapest is first */
};
struct burst_offer {
	const char *name;
	struct object_name_ref provider_ref;
	struct strings regions, zones, instance_types;
	const char *reservation;
	const char *price_per_node_hour; /* with a static price source */
	struct labels gpu_equivalence;	 /* GPU product to a factor of throughput */
};
struct burst_cost {
	const char *currency;
	struct {
		int type; /* enum burst_price */
		int64_t max_age;
	} price_source;
	const char *max_per_gpu_hour, *max_per_node_hour;
};
struct burst_budget {
	int scope; /* enum burst_scope */
	const char *amount;
	int per; /* enum burst_period */
	const char *timezone;
	bool reserve_for_running;
	int on_exhausted; /* enum burst_exhausted */
};
struct burst_window {
	const char *cron, *timezone;
	int64_t duration;
};
struct burst_windows {
	struct burst_window *v;
	size_t n;
};
struct burst_policy_spec {
	int mode; /* enum burst_mode */
	bool paused;
	struct burst_match match;
	struct burst_trigger trigger;
	struct {
		struct burst_tier_spec *v;
		size_t n;
	} tiers;
	struct {
		struct burst_offer *v;
		size_t n;
	} offers;
	struct burst_cost cost;
	struct {
		struct burst_budget *v;
		size_t n;
	} budget;
	struct {
		struct burst_windows allow, deny;
	} windows;
	struct {
		struct strings jurisdictions_allowed;
	} compliance;
	struct {
		int64_t min_expected_runtime, max_runtime, max_restarts;
	} runtime;
	struct {
		int to_on_prem; /* enum burst_return */
		int64_t idle_timeout, min_node_lifetime, hysteresis;
	} scale_back;
	struct {
		int64_t nodes, gpus, launches_per_minute, concurrent_launches;
	} limits;
	struct {
		int64_t attempts_per_offer;
		struct {
			int64_t zone, region;
		} capacity_cooldown;
		int64_t quota_cooldown, orphan_reap_after;
	} failover;
};
struct burst_why_not {
	const char *name, *why_not;
};
struct burst_decision {
	int64_t time;
	const char *workload, *chosen, *cost_estimate;
	struct {
		struct burst_why_not *v;
		size_t n;
	} offers;
};
struct burst_spend {
	int scope; /* enum burst_scope */
	const char *name, *committed, *settled, *currency;
	int64_t period_start;
};
struct burst_policy_status {
	struct {
		struct burst_decision *v;
		size_t n;
	} decisions; /* newest 20 */
	struct {
		struct burst_spend *v;
		size_t n;
	} spend;
	struct conditions conditions;
};
struct burst_policy {
	struct object_meta meta;
	struct burst_policy_spec spec;
	struct burst_policy_status status;
};

#endif
