#ifndef PLANNER_BURST_BURST_H
#define PLANNER_BURST_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/market.h"
#include "base/arena.h"
#include "base/zone.h"
#include "base/data/labels.h"
#include "base/data/selector.h"

/*
 * burst: decides which waiting work is launched in a cloud now, under which policy, with which
 * offer and at what cost; and why other work is not launched.
 *
 * burst_decide() is a pure, deterministic function of its input: no clock, no I/O. The order of the
 * input's arrays does not change the result. Production, `drover burst plan` and the tests call the
 * same code. Work is decided on by rank, then by waiting time, then by tenant and name. Tiers of a
 * policy are tried in strict order; within a tier, the offer with the lowest total cost for its
 * throughput is chosen.
 *
 * Money is a whole number of millionths of one currency (base/money.h); amounts that overflow are
 * refused. A launch is charged at once with its maximum cost. That is the price of the expected run
 * time (or the longest that the policy allows) plus boot and staging of data, rounded up to the
 * minimum billing time and to whole billing increments, and the price of moving the data. No launch
 * exceeds a hard budget, unless the budget allows that for approved work. Budgets of scope Tenant,
 * Provider and Global apply to every launch, under any policy. A gang is launched whole in one zone
 * or not at all. Work that matches two policies is not launched. A policy of mode Recommend, or
 * whose trigger requires it, chooses an offer only for approved work; for other work it proposes
 * one, which is charged to no budget. The same holds for work that exceeds a budget whose member
 * `asks` is true, and no other budget.
 * Tests: tests/unit/planner/burst/test_burst.c, tests/unit/planner/test_burst_oracle.c,
 * tests/bench/bench_burst.c
 */

enum burst_mode { BURST_SHADOW, BURST_RECOMMEND, BURST_ENFORCE };
enum burst_scope {
	BURST_OF_POLICY,
	BURST_OF_TENANT,
	BURST_OF_WORKLOAD,
	BURST_OF_PROVIDER,
	BURST_OF_ALL
};
enum burst_period { BURST_HOUR, BURST_DAY, BURST_WEEK, BURST_MONTH, BURST_QUARTER, BURST_TOTAL };
enum burst_link { BURST_NO_LINK, BURST_INFINIBAND, BURST_EFA };

/* Names by enum value, NULL-terminated: "Shadow" ... of enum burst_mode, "Policy" ... of enum
 * burst_scope, "Hour" ... of enum burst_period. */
extern const char *const burst_mode_names[], *const burst_scope_names[],
						     *const burst_period_names[];

/* Value for a waiting time: no waiting time triggers a launch. */
#define BURST_NEVER INT64_C(-1)

/* --- policies --------------------------------------------------------------------------------- */

struct burst_names {
	const char **v;
	size_t n;
};
struct burst_wait {
	int64_t at_least, wait_ms;
};
struct burst_tier {
	enum market market;
	/* Names of the entries of spec.offers that belong to the tier; empty: all entries. */
	struct burst_names entries;
};
struct burst_factor {
	const char *product;
	int64_t micro;
};
/* An entry of spec.offers in a policy: it selects offers of one Provider. */
struct burst_entry {
	const char *name, *provider, *jurisdiction;
	/* Names of the regions, zones and instance types that the entry selects; an empty list
	 * selects all. */
	struct burst_names regions, zones, types;
	/* What the operator vouches for. */
	struct burst_names certifications;
	struct burst_factor *factors;
	size_t nfactors;
	enum burst_link link;
};
/* Place where a data set lies: all regions of the Provider if region is NULL. */
struct burst_copy {
	const char *provider, *region;
};
/* A data set that work of a policy may read. */
struct burst_dataset {
	const char *name;
	int64_t bytes;
	struct burst_copy *copies;
	size_t ncopies;
};
/* Maximum number of data sets of a policy. */
#define BURST_DATASETS 64
/* A price per instance hour that the operator wrote in the policy. */
struct burst_price {
	const char *entry, *type, *region;
	enum market market;
	int64_t micro, as_of;
};
struct burst_budget {
	enum burst_scope scope;
	enum burst_period per;
	int64_t amount;
	bool soft, reserve;
	/* Alert thresholds of the budget, each as a part of its amount, in millionths. */
	int64_t *alerts;
	size_t nalerts;
	/* True: launches beyond the amount need an approval of their work. Not if `soft`. */
	bool asks;
	/* Most that the unspent amount of the last period adds to this one, as a part of `amount`
	 * in millionths; 0 or less: nothing. */
	int64_t carry;
	/* Time zone in which the periods begin; NULL: UTC. */
	const struct zone *zone;
};
struct burst_window {
	const char *cron;
	int64_t duration_ms;
	/* NULL: UTC. */
	const struct zone *zone;
};
/* Members of a pod by which policies select work. */
struct burst_traits {
	/* Namespace of the pod. */
	const char *ns;
	/* Kueue queue of the pod (label BURST_QUEUE); NULL: none. */
	const char *queue;
	struct labels labels;
};
#define BURST_QUEUE "kueue.x-k8s.io/queue-name"
/* Conditions on the work to which a policy applies. */
struct burst_match {
	/* An empty list selects all work. */
	struct burst_names tenants, namespaces, queues, products;
	/* Selector of the pods' labels. */
	struct selector pods;
	/* Minimum and maximum number of pods of the work; 0: no bound. */
	int64_t gang_min, gang_max;
	bool priorities;
	int64_t priority_min, priority_max;
};
struct burst_policy_in {
	const char *name;
	enum burst_mode mode;
	/* Name of a time zone of the policy that cannot be read; NULL: none. Such a policy launches
	 * nothing, and all of its budgets count like those of BURST_TOTAL. */
	const char *unknown_zone;
	/* Unix ms at which the policy was created; 0: not known, always. Nothing is carried over
	 * from a period that began before. */
	int64_t created;
	struct burst_match match;
	/* Conditions for a launch. At least one of the triggers by_wait, predicted_ms, slack_ms,
	 * queued_gpus and impossible must apply; a trigger that is 0 or false is not used. In
	 * addition, each of the conditions utilisation, frees_ms and approval must hold.
	 * utilisation -1, frees_ms 0, approval false: the condition always holds. */
	struct {
		bool by_wait;
		int64_t wait_ms;
		struct burst_wait *waits;
		size_t nwaits;
		int64_t predicted_ms, slack_ms, queued_gpus;
		bool impossible;
		/* Launch only if more than this part of the owned GPUs is in use, in millionths;
		 * -1: no condition. */
		int64_t utilisation;
		int64_t frees_ms;
		bool approval;
	} trigger;
	struct burst_tier *tiers;
	size_t ntiers;
	struct burst_entry *entries;
	size_t nentries;
	/* max_gpu_hour, max_node_hour: highest accepted price per hour of one GPU and of one
	 * instance, in millionths; -1: no bound. */
	struct {
		const char *currency;
		struct burst_price *prices;
		size_t nprices;
		int64_t max_age_ms, max_gpu_hour, max_node_hour, increment_ms, minimum_ms, boot_ms;
		/* premium: true if prices are bounded by the rate of owned machines with the same
		 * GPU product. max_premium: how much higher a price per GPU and hour may be, as a
		 * part of that rate in millionths. */
		bool premium;
		int64_t max_premium;
	} cost;
	struct burst_budget *budgets;
	size_t nbudgets;
	/* Data sets, and what moving them costs and takes. per_gb: price, in millionths, of 10^9
	 * bytes that are moved to an instance. per_second: bytes that are moved in a second; 0: not
	 * known, then cost.boot_ms contains the time. max_ms: longest time that moving may take; 0:
	 * no bound. max_egress: highest price of moving the data of one launch, in millionths; -1:
	 * no bound. */
	struct {
		struct burst_dataset *inputs;
		size_t ninputs;
		int64_t per_gb, per_second, max_ms, max_egress;
	} data;
	struct {
		struct burst_window *allow, *deny;
		size_t nallow, ndeny;
		struct burst_names freeze;
		/* Time zone of the dates in `freeze`; NULL: UTC. */
		const struct zone *freeze_zone;
	} windows;
	struct {
		struct burst_names allowed, denied, classes;
		/* An offer must have all of these. */
		struct burst_names certifications;
	} compliance;
	/* Conditions on the work's run time. min_ms, max_ms: shortest and longest run time; 0: no
	 * bound. overhead: largest part of the run time, in millionths, that boot and staging of
	 * data may add; -1: no bound. restarts: number of restarts after which the work no longer
	 * gets spot instances; -1: no bound. spot_saves: true if spot instances are only for work
	 * that saves checkpoints. lost_ms: longest time between two checkpoints of work on spot
	 * instances; 0: no bound. */
	struct {
		int64_t min_ms, max_ms, overhead, restarts;
		bool spot_saves;
		int64_t lost_ms;
	} runtime;
	/* Limits of the policy's launches. nodes, gpus: largest numbers of nodes and GPUs that all
	 * launches together may have at one time. per_minute: largest number of launches in one
	 * minute. at_once: largest number of launches that are starting at one time. Each of these
	 * four: 0 means no limit. share: largest part of `nodes` that one tenant may have, in
	 * millionths; -1: no limit. */
	struct {
		int64_t nodes, gpus, per_minute, at_once, share;
	} limits;
	struct {
		int64_t zone_ms, region_ms, quota_ms;
	} cooldown;
};

/* --- state ------------------------------------------------------------------------------------ */

/* An offer: instances of one type, in one zone and market, that a cloud has available. */
struct burst_offer {
	const char *provider;
	struct offer kind;
	/* Unix ms at which the price was read; 0: not known. */
	int64_t priced_at;
	/* GPUs of one instance. */
	int64_t gpus;
	/* GPU product of the instances. */
	const char *product;
	enum burst_link link;
};

/* What one GPU of an owned machine costs per hour, in millionths. */
struct burst_rate {
	const char *product, *currency;
	int64_t gpu_hour;
};

/* A launch that a cloud refused. The offers that the refusal concerns are not used during the
 * policy's cooldown. */
struct burst_failure {
	/* Offers that the refusal concerns. A NULL region, zone or type stands for all regions,
	 * zones or types. */
	const char *provider, *region, *zone, *type;
	/* True: the account's quota is used up; false: no capacity. */
	bool quota;
	int64_t at;
};

/* A launch that was made. Its cost is charged to the budget period that contains the time `at`. */
struct burst_launch {
	const char *policy, *tenant, *workload, *provider, *currency;
	/* Workload to which budgets of scope Workload charge the launch; NULL: the workload named
	 * by the member `workload`. */
	const char *owner;
	int64_t at;
	/* Cost of the launch so far, in millionths. */
	int64_t spent;
	/* Most that the launch may cost in addition to `spent`, in millionths; 0: the launch has
	 * ended. */
	int64_t committed;
	/* Overrun: cost that arises after the amount `committed` was used up. from, until: Unix ms;
	 * until 0: no overrun. per_hour: millionths per hour. */
	struct {
		int64_t from, until, per_hour;
	} over;
	/* Instances and GPUs that the launch has now. */
	int64_t nodes, gpus;
	bool starting;
	/* True if this launch is not counted in limits on the number of launches, because another
	 * launch of the same gang is counted. */
	bool part;
	/* True: `at` is the start of a month in UTC, and nothing more is known about the time of
	 * the cost. Budgets per month and quarter count it by its month in UTC, whatever their time
	 * zone. */
	bool of_month;
};

struct burst_work {
	const char *tenant, *name;
	/* Workload to which budgets of scope Workload charge the work; NULL: the workload named by
	 * the member `name`. */
	const char *owner;
	/* Number of pods; 1: a single pod, more: a gang. */
	int64_t pods;
	/* traits: of the first pod. others: traits of the gang's other pods, without those that
	 * equal `traits`; a policy must select all of them. */
	struct burst_traits traits;
	struct {
		struct burst_traits *v;
		size_t n;
	} others;
	/* GPUs of one pod. */
	int64_t gpus;
	/* GPU product that the work requests; NULL: any. */
	const char *product;
	/* Highest priority of the work's pods, compared with the priorities in policies. */
	int64_t priority;
	/* Priority that orders the work: the member `priority`, but at most the tenant's priority.
	 * Work with a higher rank is decided on first. */
	int64_t rank;
	/* Unix ms at which the work began to wait. */
	int64_t since;
	/* Expected time at which an owned machine is free for the work (planner/timeline.h), Unix
	 * ms: median and 90th percentile; 0: not known. */
	int64_t p50, p90;
	/* True if no owned machine has a type that suits the work. */
	bool impossible;
	/* True if the work saves checkpoints, so that it can continue after an interruption. */
	bool saves;
	/* Longest time in ms between two checkpoints of the work; 0: not known. */
	int64_t interval_ms;
	/* True: approved for any policy. */
	bool approved;
	/* Names of the policies for which the work is approved. */
	struct burst_names approved_by;
	/* Name of the user who approved the work, and the reason, as text; NULL: nobody. */
	const char *approval;
	/* Expected run time of the work in ms; 0: not known. */
	int64_t runs_ms;
	/* True: runs_ms is the tenant's word. Then a launch is charged for burst_limit_ms(),
	 * because it may run until then. */
	bool said;
	/* Why a declaration of the work cannot be used; the work is then refused. NULL: all can. */
	const char *wrong;
	/* Latest time at which the work must start, Unix ms; 0: no deadline. */
	int64_t start_by;
	/* Class of the data that the work processes, compared with compliance.classes; NULL: not
	 * specified. */
	const char *data_class;
	int64_t restarts;
	/* Names of the data sets that the work reads. */
	struct burst_names data;
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
	/* Rates of owned machines; of equal product and currency the lowest counts. */
	const struct burst_rate *rates;
	size_t nrates;
};

/* --- decisions -------------------------------------------------------------------------------- */

enum burst_code {
#define BURST_CODE(id, name, words) BURST_##id,
#include "planner/burst/codes.def"
#undef BURST_CODE
	BURST_CODES
};
extern const char *const burst_code_names[];

/* Verdict on one offer for one piece of work: a code and the numbers that burst_why_text()
 * shows. */
struct burst_why {
	enum burst_code code;
	/* is: the present value of the number that the code is about. limit: the bound of that
	 * number. */
	int64_t is, limit;
	/* Amount that a launch of this offer would commit against budgets, in millionths of the
	 * currency unit; -1: not known. */
	int64_t cost;
};

/* The hard budget with the smallest remaining amount, among those that apply to a decision. */
struct burst_bound {
	/* Remaining amount of the budget, in millionths; INT64_MAX: no budget applies. */
	int64_t left;
	/* True if amounts cannot be compared, because a budget that applies has a different
	 * currency. */
	bool mixed;
	const struct burst_policy_in *policy;
	const struct burst_budget *budget;
};

/* Verdicts on all offers for work with equal requirements; defined in burst_impl.h. */
struct burst_shape;
struct burst_decision {
	const struct burst_work *work;
	/* The policy that matches the work; NULL: no policy matches, or several do. */
	const struct burst_policy_in *policy;
	/* BURST_CHOSEN: the work is launched. Other codes: why the work is not launched. */
	enum burst_code code;
	int64_t is, limit;
	/* Text that replaces "?" in the message of `code`; NULL: the message has no "?". */
	const char *about;
	/* The chosen offer; NULL: none. */
	const struct burst_offer *offer;
	/* True if the policy or a budget requires an approval that the work does not have; `code`
	 * is then BURST_APPROVAL or BURST_BEYOND. */
	bool unapproved;
	/* True if the chosen or proposed offer costs more than a budget leaves beyond which work
	 * needs an approval. */
	bool beyond;
	/* then: code of the decision if the work were approved; is, limit and about belong to it.
	 * proposed: the offer that would be chosen then; NULL: none. Both are set only if
	 * unapproved is true. */
	enum burst_code then;
	const struct burst_offer *proposed;
	/* Index of the tier that contains the chosen or proposed offer, from 0. */
	size_t tier;
	int64_t nodes, cost;
	/* egress: part of `cost` that moving data to all instances costs. stage_ms: time that
	 * moving data to the chosen or proposed offer takes, in addition to cost.boot_ms of the
	 * policy. */
	int64_t egress, stage_ms;
	/* Price of one instance of the chosen or proposed offer per hour, in millionths. */
	int64_t per_hour;
	/* The members from here on record the state at the time of the decision, so that
	 * burst_why() can evaluate offers again. */
	/* Verdicts on all offers; NULL: no offer was evaluated for this work. */
	const struct burst_shape *shape;
	size_t seq;
	int64_t nodes_left, gpus_left, share_left;
	/* bound: the budget with the smallest remaining amount, among the budgets that apply to all
	 * Providers. of_provider: by Provider, the one with the smallest remaining amount, among
	 * the budgets that apply to this Provider only. */
	struct burst_bound bound, *of_provider;
};

/* Balance of one budget (for one tenant, workload or Provider) before and after all decisions. */
struct burst_account {
	const struct burst_policy_in *policy;
	const struct burst_budget *budget;
	/* Name of the tenant, workload or Provider whose balance this is; "" for other scopes. */
	const char *of;
	/* Amount that may be spent in this period: the budget's, and what was carried over. */
	int64_t amount;
	int64_t before, after;
	/* The highest of the budget's alert thresholds that is reached; -1: none. */
	int64_t alert;
	/* What the period will have cost at its end, if the cost that arose in it so far goes on at
	 * the same rate; at least `after`. -1: not known, because less than a tenth of the period
	 * has passed, or it has no end. */
	int64_t forecast;
};

struct burst {
	const struct burst_input *in;
	/* Decisions, in the order in which they were made. chosen: number of decisions to
	 * launch. */
	struct burst_decision *v;
	size_t n, chosen;
	/* All offers, sorted by Provider, region, zone and type; burst_why() takes an index into
	 * this array. */
	const struct burst_offer **offers;
	struct burst_account *accounts;
	size_t naccounts;
	/* All policies (in->npolicies of them), sorted by name. */
	const struct burst_policy_in **policies;
	/* Error of each policy, by index into `policies`; NULL: no error. error_codes: the code of
	 * each error. */
	const char **errors;
	enum burst_code *error_codes;
};

/* Returns the start, in Unix ms, of the budget period in the zone (NULL: UTC) that contains `now`;
 * INT64_MIN for BURST_TOTAL. */
int64_t burst_period_start(enum burst_period per, const struct zone *zone, int64_t now);
/* Returns the end of the period that contains `now`; INT64_MAX for BURST_TOTAL. */
int64_t burst_period_end(enum burst_period per, const struct zone *zone, int64_t now);
/* Returns the start of the period before that one; INT64_MIN for BURST_TOTAL. */
int64_t burst_period_before(enum burst_period per, const struct zone *zone, int64_t now);
/* True if a policy with these conditions selects the pods of the tenant that have these traits. The
 * other conditions (products, gang size, priority) are not tested. */
bool burst_selects(const struct burst_match *m, const char *tenant, const struct burst_traits *t);
/* Decides on all work of the input. The result is allocated in arena a; the input must live as long
 * as the result. */
const struct burst *burst_decide(const struct burst_input *in, struct arena *a);

/* Returns the time, ms, after which the caller ends instances of the work, not including boot and
 * staging: runtime.max_ms of the policy; if that is not set, the run time that the work declares,
 * but at least BURST_SAID_MIN_MS, because an instance cannot be ended at once. */
#define BURST_SAID_MIN_MS ((int64_t)10 * 60 * 1000)
int64_t burst_limit_ms(const struct burst_policy_in *p, const struct burst_work *w);

/* Maximum number of names in a text of burst_data_names(), and maximum length of a name. */
#define BURST_DATA_NAMES 16
#define BURST_DATA_NAME 63
/* Reads the names of data sets from a text such as "imagenet,other", in the arena. A name has
 * letters, digits, '-', '_' and '.'. False: the text has another form. */
bool burst_data_names(const char *text, struct burst_names *out, struct arena *a)
	__attribute__((warn_unused_result));

/* True if the policy chooses an offer only for approved work. */
bool burst_needs_approval(const struct burst_policy_in *p);
/* Returns the chosen offer of decision d, or the proposed one; NULL: none. */
const struct burst_offer *burst_best(const struct burst_decision *d);
/* Returns the verdict on burst.offers[i] for decision d. BURST_CHOSEN: the chosen or proposed
 * offer. BURST_DEARER: a suitable offer that was not chosen. BURST_NOT_LOOKED: no offer was
 * evaluated. */
struct burst_why burst_why(const struct burst_decision *d, size_t i);
/* Returns one sentence, with numbers, that explains the verdict on an offer. */
const char *burst_why_text(const struct burst_why *y, struct arena *a);
/* Returns the launch of the chosen or proposed offer as text: "1 x Spot p5 in b for at most 60.00
 * EUR". The decision must have one. */
const char *burst_launch_text(const struct burst_decision *d, struct arena *a);
/* Returns what moving data to the chosen or proposed offer costs and takes, to follow its cost: ",
 * with 7.50 for moving data, which takes 3m"; "" if no data is moved. */
const char *burst_moving_text(const struct burst_decision *d, struct arena *a);
/* Returns one sentence, with numbers, that explains the decision. */
const char *burst_text(const struct burst_decision *d, struct arena *a);

#endif
