#ifndef API_BURSTPOLICY_H
#define API_BURSTPOLICY_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"

/* BURST_POLICY_DECISIONS, BURST_POLICY_SPENDS: maximum number of entries in status.decisions and in
 * status.spend. */
#define BURST_POLICY_DECISIONS 20
#define BURST_POLICY_SPENDS 64
/* maximum number of entries in status.decisions[].offers */
#define BURST_POLICY_JUDGED 8
/* maximum number of entries in spec.data.inputs; equals BURST_DATASETS of planner/burst/burst.h */
#define BURST_POLICY_DATASETS 64

/*
 * burstpolicy: the kind BurstPolicy: for which work, when, where and at what cost cloud instances
 * are launched.
 *
 * `drover burst plan` and the controller (controller/burst/bursts.h) decide according to the policy
 * (planner/burst/burst.h). In mode Enforce the controller also launches the instances. Money and
 * fractions are in millionths, and decimal texts in the API. Field tables and checks:
 * api/burstpolicy.c.
 * Tests: tests/unit/api/test_burstpolicy.c, tests/unit/api/test_kinds.c
 */

/* Names of the enum values, each list in the order of its enum in planner/burst/burst.h:
 * burst_mode, burst_scope and burst_period. */
extern const char *const burst_policy_mode_names[];
extern const char *const burst_policy_scope_names[];
extern const char *const burst_policy_per_names[];
extern const char *const burst_policy_exhausted_names[];

/* Lowest and highest accepted value, both included. In gang_size, 0 means no bound; in other
 * ranges, 0 is an ordinary bound. */
struct burst_policy_range {
	int64_t min, max;
};
struct burst_policy_match {
	struct strings tenants, namespaces, queues, gpu_products;
	struct object_label_selector workload_selector;
	struct burst_policy_range gang_size;
	struct burst_policy_range *priority;
};
struct burst_policy_priority_wait {
	/* at_least: lowest pod priority to which the entry applies. wait: waiting time in ms after
	 * which the trigger fires; -1: waiting alone does not trigger. */
	int64_t at_least, wait;
};
struct burst_policy_queue_wait {
	/* waiting time in ms after which the trigger fires, for priorities below all entries of
	 * by_priority; -1: waiting alone does not trigger */
	int64_t def;
	struct {
		struct burst_policy_priority_wait *v;
		size_t n;
	} by_priority;
};
struct burst_policy_trigger {
	struct burst_policy_queue_wait *max_queue_wait;
	int64_t predicted_wait_over, deadline_slack_under, queued_gpus_over;
	bool on_prem_impossible;
	struct {
		/* in millionths; -1: not set */
		int64_t on_prem_utilisation_over;
		int64_t not_if_on_prem_frees_within;
		/* 0: None, 1: Manual (an operator approves each launch) */
		int approval;
	} guards;
};
struct burst_policy_tier {
	int market;
	/* names of entries of spec.offers that this tier uses; empty: all */
	struct strings offers;
};
struct burst_policy_offer {
	const char *name, *provider;
	/* zones empty: all zones of the regions */
	struct strings regions, zones, instance_types;
	const char *jurisdiction;
	struct strings certifications;
	struct labels gpu_equivalence;
	struct {
		int required;
	} interconnect;
};
struct burst_policy_price {
	/* region to which the price applies; NULL: all regions of the offer */
	const char *offer, *instance_type, *region;
	/* price of one instance for one hour, in millionths of the currency */
	int64_t per_hour;
	int market;
	int64_t as_of;
};
struct burst_policy_cost {
	const char *currency;
	struct {
		struct burst_policy_price *v;
		size_t n;
	} prices;
	int64_t max_age;
	/* in millionths of the currency; -1: no limit */
	int64_t max_per_gpu_hour, max_per_node_hour;
	/* in millionths of the rate of owned machines; -1: no limit */
	int64_t max_premium_over_on_prem;
	struct {
		int64_t increment, minimum;
	} minimum_billing;
	int64_t boot_and_stage_time;
};
struct burst_policy_budget {
	int scope, per;
	/* in millionths of the currency */
	int64_t amount;
	/* 0: Hard (launches beyond the amount are refused), 1: Soft (exceeding the amount is only
	 * reported) */
	int mode;
	bool reserve_for_running;
	struct strings alert_at;
	/* in millionths of amount; -1: nothing is carried over */
	int64_t carry_over;
	/* 0: StopNew, 3: RequireApproval */
	int on_exhausted;
	/* IANA name of the time zone in which the periods begin */
	const char *timezone;
};
struct burst_policy_window {
	const char *cron;
	int64_t duration;
	const char *timezone;
};
struct burst_policy_windows {
	struct {
		struct burst_policy_window *v;
		size_t n;
	} allow, deny;
	struct strings freeze_dates;
	/* IANA name of the time zone of freeze_dates */
	const char *freeze_timezone;
};
struct burst_policy_scale_back {
	/* idle_timeout: time without pods, in ms, after which an instance ends; 0: the NodePool's
	 * consolidateAfter applies. min_node_lifetime: shortest lifetime of an instance, in ms; 0:
	 * no minimum. */
	int64_t idle_timeout, min_node_lifetime;
	bool align_to_billing;
	/* Value of enum burst_home (planner/burst/moves.h) */
	int to_on_prem;
	/* A move must gain more than this amount, in millionths, and more than this time, in ms */
	struct {
		int64_t money, time;
	} gain;
	/* moves: highest number of moves of one workload; -1: no limit. hysteresis: time, in ms,
	 * for which an owned machine must have been free before a move. */
	int64_t moves, hysteresis;
	struct {
		/* Longest duration of a move, in ms; 0: the termination grace period of the
		 * claim */
		int64_t max_wait;
	} drain;
};
/* Place of a copy of a data set. region NULL: all regions of the Provider. */
struct burst_policy_copy {
	const char *provider, *region;
};
struct burst_policy_dataset {
	const char *name;
	/* in bytes */
	struct quantity size;
	struct {
		struct burst_policy_copy *v;
		size_t n;
	} copies;
};
struct burst_policy_data {
	struct {
		struct burst_policy_dataset *v;
		size_t n;
	} inputs;
	/* price of moving 10^9 bytes to an instance, in millionths of the currency */
	int64_t egress_per_gb;
	/* bytes that are moved in a second; 0: not known */
	struct quantity bytes_per_second;
	/* longest time, in ms, that moving the data may take; 0: no limit */
	int64_t max_stage_time;
	/* highest price of moving the data of one launch, in millionths; -1: no limit */
	int64_t max_egress_cost;
};
struct burst_policy_spec {
	/* true: launches nothing, whatever mode is */
	bool paused;
	int mode;
	struct burst_policy_match match;
	struct burst_policy_trigger trigger;
	struct {
		struct burst_policy_tier *v;
		size_t n;
	} tiers;
	struct {
		struct burst_policy_offer *v;
		size_t n;
	} offers;
	struct burst_policy_cost cost;
	struct {
		struct burst_policy_budget *v;
		size_t n;
	} budget;
	struct burst_policy_windows windows;
	struct {
		struct strings jurisdictions_allowed, jurisdictions_denied, data_classes_allowed,
			certifications;
	} compliance;
	struct {
		int64_t min_expected_runtime, max_runtime;
		/* in millionths; -1: no limit */
		int64_t max_overhead_fraction;
		struct {
			bool checkpointable;
			/* ms; 0: no limit */
			int64_t max_lost_work;
		} spot_needs;
		/* highest number of interruptions after which work still gets spot capacity; -1: no
		 * limit */
		int64_t max_restarts;
	} runtime;
	struct {
		/* limits of the policy's instances; 0: no limit */
		int64_t nodes, gpus, launches_per_minute, concurrent_launches;
		/* in millionths; -1: no limit */
		int64_t per_tenant_share;
	} limits;
	struct {
		struct {
			int64_t zone, region;
		} capacity_cooldown;
		int64_t quota_cooldown;
	} failover;
	/* NULL: no data sets are known */
	struct burst_policy_data *data;
	/* when drover ends an instance; NULL: when the instance's NodePool specifies it */
	struct burst_policy_scale_back *scale_back;
};
/* Verdict on one offer for the work of a decision. cost: NULL if it is not known. */
struct burst_policy_judged {
	const char *provider, *region, *zone, *instance_type, *market, *reason, *message, *cost;
};
struct burst_policy_decision {
	int64_t time;
	const char *tenant, *work, *reason, *message;
	/* the chosen offer; all NULL: nothing was chosen */
	const char *provider, *region, *zone, *instance_type, *market, *cost;
	int64_t nodes;
	/* offers of the policy at the time of the decision, the chosen one first */
	struct {
		struct burst_policy_judged *v;
		size_t n;
	} offers;
};
/* Current amounts of one budget; `of` names the tenant, workload or provider to which they
 * apply. */
struct burst_policy_spend {
	int scope, per;
	const char *of, *amount, *spent, *alert, *forecast;
};
struct burst_policy_status {
	int64_t observed_generation;
	struct {
		/* newest first */
		struct burst_policy_decision *v;
		size_t n;
	} decisions;
	struct {
		struct burst_policy_spend *v;
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
