#ifndef PLANNER_BURST_H
#define PLANNER_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/labels.h"

/*
 * burst: decides which waiting work is launched in a cloud now, under which policy, with which
 * offer and at what cost; and why other work is not.
 *
 * burst_decide() is a pure, deterministic function of its input, in whatever order that is given:
 * no clock, no I/O. Production, `drover burst plan` and the tests call the same code. Work is
 * decided on by rank, then by waiting time, then by tenant and name. Tiers of a policy are tried in
 * strict order; within a tier, the offer with the lowest total cost for its throughput is chosen.
 *
 * Money is a whole number of millionths of one currency (base/money.h); amounts that overflow are
 * refused. A launch is charged at once with the most that it may cost: the expected run time (or
 * the longest that the policy allows) plus boot and staging, rounded up to the minimum billing and
 * to whole increments. No launch exceeds a hard budget. Budgets of scope Tenant, Provider and
 * Global bind every launch, under any policy. A gang is launched whole in one zone or not at all.
 * Work that matches two policies is not launched.
 * Tests: tests/unit/planner/test_burst.c, tests/unit/planner/test_burst_oracle.c,
 * tests/bench/bench_burst.c
 */

enum burst_mode { BURST_SHADOW, BURST_RECOMMEND, BURST_ENFORCE };
enum burst_market { BURST_RESERVED, BURST_SPOT, BURST_ON_DEMAND, BURST_MARKETS };
enum burst_scope {
	BURST_OF_POLICY,
	BURST_OF_TENANT,
	BURST_OF_WORKLOAD,
	BURST_OF_PROVIDER,
	BURST_OF_ALL
};
enum burst_period { BURST_HOUR, BURST_DAY, BURST_WEEK, BURST_MONTH, BURST_QUARTER, BURST_TOTAL };
enum burst_link { BURST_NO_LINK, BURST_INFINIBAND, BURST_EFA };

/* Names of the enum values: "Shadow" ...; "Reserved" ...; "Policy" ...; "Hour" ... */
extern const char *const burst_mode_names[],
	*const burst_market_names[], *const burst_scope_names[], *const burst_period_names[];

#define BURST_NEVER INT64_C(-1) /* Value of a wait: waiting never triggers a launch. */

/* --- policies --------------------------------------------------------------------------------- */

struct burst_names {
	const char **v;
	size_t n;
};
struct burst_wait {
	int64_t at_least, wait_ms;
};
struct burst_tier {
	enum burst_market market;
	/* Names of entries of spec.offers; empty: all. */
	struct burst_names entries;
};
struct burst_factor {
	const char *product;
	int64_t micro;
};
/* An entry of spec.offers: a selection of a Provider's offers. */
struct burst_entry {
	const char *name, *provider, *jurisdiction;
	/* Empty zones: all zones. */
	struct burst_names regions, zones, types;
	struct burst_factor *factors;
	size_t nfactors;
	enum burst_link link;
};
/* A price that the operator wrote in the policy. */
struct burst_price {
	const char *entry, *type, *region;
	enum burst_market market;
	int64_t micro, as_of;
};
struct burst_budget {
	enum burst_scope scope;
	enum burst_period per;
	int64_t amount;
	bool soft, reserve;
	/* Alert thresholds, in millionths of the amount. */
	int64_t *alerts;
	size_t nalerts;
};
struct burst_window {
	const char *cron;
	int64_t duration_ms;
};
struct burst_policy_in {
	const char *name;
	enum burst_mode mode;
	/* The work to which the policy applies. */
	struct {
		struct burst_names tenants, products;
		/* 0: no bound. */
		int64_t gang_min, gang_max;
		bool priorities;
		int64_t priority_min, priority_max;
	} match;
	/* Triggers. 0 (by_wait, impossible: false): this trigger is not used. */
	struct {
		bool by_wait;
		int64_t wait_ms;
		struct burst_wait *waits;
		size_t nwaits;
		int64_t predicted_ms, slack_ms, queued_gpus;
		bool impossible;
		/* Condition besides the triggers: launch only if more than this part of the owned
		 * GPUs is used, in millionths; -1: no condition. */
		int64_t utilisation;
		int64_t frees_ms;
		bool approval;
	} trigger;
	struct burst_tier *tiers;
	size_t ntiers;
	struct burst_entry *entries;
	size_t nentries;
	/* max_gpu_hour, max_node_hour -1: no bound. */
	struct {
		const char *currency;
		struct burst_price *prices;
		size_t nprices;
		int64_t max_age_ms, max_gpu_hour, max_node_hour, increment_ms, minimum_ms, boot_ms;
	} cost;
	struct burst_budget *budgets;
	size_t nbudgets;
	struct {
		struct burst_window *allow, *deny;
		size_t nallow, ndeny;
		struct burst_names freeze;
	} windows;
	struct {
		struct burst_names allowed, denied, classes;
	} compliance;
	/* 0: no bound; overhead and restarts: -1 means no bound. */
	struct {
		int64_t min_ms, max_ms, overhead, restarts;
		bool spot_saves;
	} runtime;
	/* 0: no bound; share in millionths, -1: no bound. */
	struct {
		int64_t nodes, gpus, per_minute, at_once, share;
	} limits;
	struct {
		int64_t zone_ms, region_ms, quota_ms;
	} cooldown;
};

/* --- state ------------------------------------------------------------------------------------ */

/* An offer: instances that a cloud has available. */
struct burst_offer {
	const char *provider, *region, *zone, *type;
	/* NULL: no reservation. */
	const char *reservation;
	enum burst_market market;
	/* Price per hour, in millionths; -1: not known. */
	int64_t micros_per_hour;
	/* Currency of the price; NULL: not known. */
	const char *currency;
	/* Time of the price, Unix ms; 0: not known. */
	int64_t priced_at;
	/* Number of instances available; -1: the cloud does not report it. */
	int64_t available;
	/* Unix ms at which the cloud ends its instances; 0: never. */
	int64_t ends_at;
	/* GPUs of one instance. */
	int64_t gpus;
	/* Product of its GPUs. */
	const char *product;
	enum burst_link link;
};

/* A launch that a cloud refused. */
struct burst_failure {
	/* region or zone NULL: all of them. */
	const char *provider, *region, *zone, *type;
	/* True: the account's quota is used up; false: no capacity. */
	bool quota;
	int64_t at;
};

/* A launch that was made; charged to the period of its time. */
struct burst_launch {
	const char *policy, *tenant, *workload, *provider, *currency;
	/* Workload for budgets of scope Workload; NULL: same as workload. */
	const char *owner;
	int64_t at;
	/* Cost so far, in millionths. */
	int64_t spent;
	/* Most that the launch may cost beyond spent, in millionths; 0: ended. */
	int64_t committed;
	/* Overrun after `committed` was used up: Unix ms, and millionths per hour. until 0: no
	 * overrun. */
	struct {
		int64_t from, until, per_hour;
	} over;
	/* Instances and GPUs that the launch has now. */
	int64_t nodes, gpus;
	bool starting;
	/* True if another launch represents this one: that of the same gang. */
	bool part;
};

struct burst_work {
	const char *tenant, *name;
	/* Workload for budgets of scope Workload; NULL: same as name. */
	const char *owner;
	/* 1: a single pod; more: a gang. */
	int64_t pods;
	/* GPUs of one pod. */
	int64_t gpus;
	/* GPU product that the work requests; NULL: any. */
	const char *product;
	/* Highest priority of its pods; policies match it. */
	int64_t priority;
	/* Priority limited to the tenant's; higher ranks are decided on first. */
	int64_t rank;
	/* Unix ms at which the work began to wait. */
	int64_t since;
	/* When its owned machine is expected (planner/timeline.h), Unix ms; 0: not known. */
	int64_t p50, p90;
	/* True if no owned machine is of a type that suits the work. */
	bool impossible;
	/* True if the work saves checkpoints. */
	bool saves;
	bool approved;
	/* Expected run time in ms; 0: not known. */
	int64_t runs_ms;
	/* Latest start, Unix ms; 0: no deadline. */
	int64_t start_by;
	/* Class of the data that the work processes; NULL: not specified. */
	const char *data_class;
	int64_t restarts;
};

struct burst_input {
	int64_t now;
	const struct burst_policy_in *policies;
	size_t npolicies;
	const struct burst_offer *offers;
	size_t noffers;
	const struct burst_work *work;
	size_t nwork;
	const struct burst_failure *failures;
	size_t nfailures;
	const struct burst_launch *launches;
	size_t nlaunches;
	int64_t gpus_used, gpus_owned;
};

/* --- decisions -------------------------------------------------------------------------------- */

enum burst_code {
#define BURST_CODE(id, name, words) BURST_##id,
#include "planner/burst_codes.def"
#undef BURST_CODE
	BURST_CODES
};
extern const char *const burst_code_names[];

/* Verdict on one offer for one piece of work: a code and its numbers. burst_why_text() gives the
 * text. */
struct burst_why {
	enum burst_code code;
	/* The two numbers that the code compares. */
	int64_t is, limit;
	/* Cost to commit if this offer were launched, in millionths; -1: not known. */
	int64_t cost;
};

/* The tightest hard budget that binds a decision. */
struct burst_bound {
	/* What the budget leaves, in millionths; INT64_MAX: no budget binds. */
	int64_t left;
	/* True if a budget that binds is in a different currency. */
	bool mixed;
	const struct burst_policy_in *policy;
	const struct burst_budget *budget;
};

/* Verdicts on all offers for work that is alike. */
struct burst_shape;
struct burst_decision {
	const struct burst_work *work;
	/* NULL: no policy matches, or several do. */
	const struct burst_policy_in *policy;
	/* BURST_CHOSEN, or why nothing is launched. */
	enum burst_code code;
	int64_t is, limit;
	/* Replaces "?" in the text of the code; NULL: nothing. */
	const char *about;
	/* The chosen offer; NULL: none. */
	const struct burst_offer *offer;
	/* Index of the chosen offer's tier, from 0. */
	size_t tier;
	int64_t nodes, cost;
	/* Price of one instance per hour, in millionths. */
	int64_t per_hour;
	/* The following members record what was left at the time of the decision, for
	 * burst_why(). */
	/* NULL: no offer was evaluated. */
	const struct burst_shape *shape;
	size_t seq;
	int64_t nodes_left, gpus_left, share_left;
	/* bound: of budgets that bind whatever the Provider. of_provider: of each Provider's
	 * budgets. */
	struct burst_bound bound, *of_provider;
};

/* Balance of a budget after all decisions. */
struct burst_account {
	const struct burst_policy_in *policy;
	const struct burst_budget *budget;
	/* Name of the tenant, workload or Provider; "" for other scopes. */
	const char *of;
	int64_t before, after;
	/* The highest of the budget's alert thresholds that is reached; -1: none. */
	int64_t alert;
};

struct burst {
	const struct burst_input *in;
	/* In the order in which the decisions were made. */
	struct burst_decision *v;
	size_t n, chosen;
	/* Sorted; burst_why() indexes them. */
	const struct burst_offer **offers;
	struct burst_account *accounts;
	size_t naccounts;
	/* Sorted by name; in->npolicies of them. */
	const struct burst_policy_in **policies;
	/* Error of each of these policies; NULL: none. */
	const char **errors;
};

/* Returns when the period that contains now began, Unix ms; INT64_MIN for BURST_TOTAL. */
int64_t burst_period_start(enum burst_period per, int64_t now);
/* Decides on all work. The input must live as long as the result, which is in the arena. */
const struct burst *burst_decide(const struct burst_input *in, struct arena *a);

/* Returns the verdict on offer i of burst.offers for one decision: BURST_CHOSEN for the offer that
 * was taken, BURST_DEARER for offers that are suitable but were not chosen. */
struct burst_why burst_why(const struct burst_decision *d, size_t i);
/* Returns one sentence with numbers about one offer. */
const char *burst_why_text(const struct burst_why *y, struct arena *a);
/* Returns one sentence with numbers about the decision. */
const char *burst_text(const struct burst_decision *d, struct arena *a);

#endif
