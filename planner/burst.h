#ifndef PLANNER_BURST_H
#define PLANNER_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/labels.h"

/*
 * burst: which waiting work goes to a cloud now, by which policy, to which offer, for how much
 * money; and why not.
 *
 * burst_decide() is a pure, deterministic function of its input, in whatever order that is: no
 * clock, no I/O. Production, `drover burst plan` and the tests call the same. Work is decided by
 * rank, then by how long it waits, then by tenant and name; tiers in strict order, in one tier the
 * cheapest by total cost for its throughput.
 *
 * Money is whole millionths of one currency (base/money.h); what overflows is refused. A launch is
 * charged by what it may cost at most, at once: minimum billing and whole increments of boot,
 * staging and expected run time, or the longest run time that the policy allows. No launch takes a
 * hard budget beyond its amount. Budgets of scope Tenant, Provider and Global bind every launch,
 * whichever policy asks. A gang is launched whole in one zone or not at all. Work that two policies
 * match is not launched.
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

/* Shadow ...; Reserved ...; Policy ...; Hour ... */
extern const char *const burst_mode_names[],
	*const burst_market_names[], *const burst_scope_names[], *const burst_period_names[];

#define BURST_NEVER INT64_C(-1) /* of a wait: not by waiting */

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
	/* of offers; none: all */
	struct burst_names entries;
};
struct burst_factor {
	const char *product;
	int64_t micro;
};
/* of spec.offers */
struct burst_entry {
	const char *name, *provider, *jurisdiction;
	/* zones none: all */
	struct burst_names regions, zones, types;
	struct burst_factor *factors;
	size_t nfactors;
	enum burst_link link;
};
/* that a person wrote */
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
	/* parts of a million */
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
	/* which work */
	struct {
		struct burst_names tenants, products;
		/* 0: no bound */
		int64_t gang_min, gang_max;
		bool priorities;
		int64_t priority_min, priority_max;
	} match;
	/* 0: not asked for */
	struct {
		bool by_wait;
		int64_t wait_ms;
		struct burst_wait *waits;
		size_t nwaits;
		int64_t predicted_ms, slack_ms, queued_gpus;
		bool impossible;
		/* guard; parts of a million, -1: none */
		int64_t utilisation;
		int64_t frees_ms;
		bool approval;
	} trigger;
	struct burst_tier *tiers;
	size_t ntiers;
	struct burst_entry *entries;
	size_t nentries;
	/* -1: no bound */
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
	/* 0: no bound; overhead, restarts -1: none */
	struct {
		int64_t min_ms, max_ms, overhead, restarts;
		bool spot_saves;
	} runtime;
	/* 0: no bound; share in parts of a million, -1: none */
	struct {
		int64_t nodes, gpus, per_minute, at_once, share;
	} limits;
	struct {
		int64_t zone_ms, region_ms, quota_ms;
	} cooldown;
};

/* --- state ------------------------------------------------------------------------------------ */

/* What a cloud has. */
struct burst_offer {
	const char *provider, *region, *zone, *type;
	/* NULL */
	const char *reservation;
	enum burst_market market;
	/* -1: not known */
	int64_t micros_per_hour;
	/* NULL: not known */
	const char *currency;
	/* Unix ms; 0: not known */
	int64_t priced_at;
	/* instances; -1: the cloud does not say */
	int64_t available;
	/* Unix ms at which the cloud ends its instances; 0: never */
	int64_t ends_at;
	/* of one instance */
	int64_t gpus;
	/* of its GPUs */
	const char *product;
	enum burst_link link;
};

/* What a cloud refused. */
struct burst_failure {
	/* region, zone NULL: all of it */
	const char *provider, *region, *zone, *type;
	/* else capacity */
	bool quota;
	int64_t at;
};

/* A launch that was made: charged at its time. */
struct burst_launch {
	const char *policy, *tenant, *workload, *provider, *currency;
	/* workload for budgets of scope Workload; NULL: same as workload */
	const char *owner;
	int64_t at;
	/* so far */
	int64_t spent;
	/* what it may cost beyond that; 0: it has ended */
	int64_t committed;
	/* Overrun after `committed` was used up: Unix ms, and millionths per hour. until 0: no
	 * overrun. */
	struct {
		int64_t from, until, per_hour;
	} over;
	/* that it has now */
	int64_t nodes, gpus;
	bool starting;
	/* of a launch that another one stands for: its gang's */
	bool part;
};

struct burst_work {
	const char *tenant, *name;
	/* workload for budgets of scope Workload; NULL: same as name */
	const char *owner;
	/* 1: a pod alone; more: a gang */
	int64_t pods;
	/* of one pod */
	int64_t gpus;
	/* that it asks for; NULL: any */
	const char *product;
	/* highest priority of its pods, which policies match */
	int64_t priority;
	/* priority clamped by the tenant's; higher ranks are decided on first */
	int64_t rank;
	/* Unix ms */
	int64_t since;
	/* when its owned machine is expected (planner/timeline.h), Unix ms; 0: not known */
	int64_t p50, p90;
	/* no owned machine is of such a kind */
	bool impossible;
	/* at a checkpoint */
	bool saves;
	bool approved;
	/* expected; 0: not said */
	int64_t runs_ms;
	/* Unix ms; 0: no deadline */
	int64_t start_by;
	/* NULL: not said */
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

/* One offer for one piece of work: a code and its numbers; burst_why_text() has the words. */
struct burst_why {
	enum burst_code code;
	/* what the code compares */
	int64_t is, limit;
	/* committed, if it were launched; -1: not known */
	int64_t cost;
};

/* The tightest hard budget that binds a decision. */
struct burst_bound {
	/* INT64_MAX: none binds */
	int64_t left;
	/* in another currency */
	bool mixed;
	const struct burst_policy_in *policy;
	const struct burst_budget *budget;
};

/* what work that is alike has in common */
struct burst_shape;
struct burst_decision {
	const struct burst_work *work;
	/* NULL: none matches, or several do */
	const struct burst_policy_in *policy;
	/* BURST_CHOSEN, or why none */
	enum burst_code code;
	int64_t is, limit;
	/* what else the words name; NULL */
	const char *about;
	/* NULL: none */
	const struct burst_offer *offer;
	/* from 0 */
	size_t tier;
	int64_t nodes, cost;
	/* of one instance */
	int64_t per_hour;
	/* What was left when it was made, for burst_why(). */
	/* NULL: no offer was looked at */
	const struct burst_shape *shape;
	size_t seq;
	int64_t nodes_left, gpus_left, share_left;
	/* of_provider: for each provider */
	struct burst_bound bound, *of_provider;
};

/* of a budget after all decisions */
struct burst_account {
	const struct burst_policy_in *policy;
	const struct burst_budget *budget;
	/* tenant, workload or provider; "" else */
	const char *of;
	int64_t before, after;
	/* the highest of its alerts that is reached; -1: none */
	int64_t alert;
};

struct burst {
	const struct burst_input *in;
	/* in the order in which they were made */
	struct burst_decision *v;
	size_t n, chosen;
	/* sorted */
	const struct burst_offer **offers;
	struct burst_account *accounts;
	size_t naccounts;
	/* sorted by name; in->npolicies of them */
	const struct burst_policy_in **policies;
	/* for each of these; NULL: none */
	const char **errors;
};

/* When the period of that time began, Unix ms; INT64_MIN: BURST_TOTAL. */
int64_t burst_period_start(enum burst_period per, int64_t now);
/* The input must live as long as the result, which is in the arena. */
const struct burst *burst_decide(const struct burst_input *in, struct arena *a);

/* Offer i of offers for one decision: BURST_CHOSEN for the one that was taken, BURST_DEARER for
 * those that would have done. */
struct burst_why burst_why(const struct burst_decision *d, size_t i);
/* One sentence with numbers. */
const char *burst_why_text(const struct burst_why *y, struct arena *a);
const char *burst_text(const struct burst_decision *d, struct arena *a);

#endif
