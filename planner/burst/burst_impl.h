#ifndef PLANNER_BURST_IMPL_H
#define PLANNER_BURST_IMPL_H

#include "base/map.h"
#include "planner/burst/burst.h"

/*
 * burst_impl: declarations that the following files share; not included elsewhere.
 *
 *   burst.c         order of the work, policies, triggers, choice of an offer
 *   offers.c  verdicts on offers: by policy, by work, and by remaining capacity
 *   data.c    data sets: what moving them costs and takes
 *   money.c   periods, charges against budgets, remaining amounts
 *   text.c    texts
 */
/* True if the list contains the name; an empty list contains all. */
bool burst_named(const struct burst_names *l, const char *name);

/* Instances of an offer that one decision has used up. seq: number of that decision
 * (burst_decision.seq). */
struct burst_take {
	size_t seq;
	int64_t nodes;
	struct burst_take *next;
};
struct burst_stock {
	const struct burst_offer *offer;
	/* Number of the offer's Provider, as in burst_key.provider. */
	size_t provider;
	/* Remaining number of instances of the offer; -1: the cloud does not report the number. */
	int64_t left;
	struct burst_take *takes;
};

/* Verdict on one offer. The verdict is either that of one policy alone (then cost is not computed),
 * or that for work of one shape (struct burst_shape). */
struct burst_verdict {
	/* BURST_CHOSEN: the offer is suitable. Other codes: why the offer is not suitable. */
	enum burst_code code;
	int64_t is, limit;
	size_t tier;
	const struct burst_entry *entry;
	int64_t per_hour, factor;
	int64_t nodes, cost;
	/* As in struct burst_decision */
	int64_t egress, stage_ms;
};

/* Evaluation of one policy: its verdicts on all offers, and the numbers of nodes and GPUs that its
 * launches have now. */
struct burst_policy_eval {
	const struct burst_policy_in *p;
	/* NULL: not evaluated yet. */
	struct burst_verdict *offers;
	/* BURST_CHOSEN: the policy's windows allow launches now. Other codes: why the windows
	 * forbid launches. */
	enum burst_code shut;
	int64_t queued_gpus;
	int64_t nodes, gpus, starting, minute;
	int64_t *tenant_nodes;
};

struct burst_shape {
	const struct burst_policy_eval *eval;
	const struct burst_stock *stock;
	/* Verdicts, one per offer (index into stock). */
	struct burst_verdict *v;
	/* Indexes of the suitable offers, best first; n: their number. */
	size_t *order, n;
	int64_t least_cost, least_nodes;
};

/* The balances of one budget: one balance per tenant, workload or Provider, or a single balance,
 * depending on the budget's scope. */
struct burst_balance {
	const struct burst_policy_in *policy;
	const struct burst_budget *budget;
	/* Charged amounts in millionths, by balance; INT64_MAX: too large to compute. before:
	 * without the decisions of this run. total: including all decisions made so far. */
	int64_t *before, *total;
	/* The part of `before` that was spent on launches of this period. */
	int64_t *spent;
	/* By balance: amount that may be spent in this period, with what was carried over. */
	int64_t *amount;
	const char **keys;
	size_t n;
	bool *mixed, *touched;
};
struct burst_balances {
	struct burst_balance *v;
	size_t n, nproviders;
};
/* Some of the budgets. */
struct burst_bindings {
	struct burst_balance **v;
	size_t n;
};
/* Numbers that stand for the names of the tenant, workload and Provider of a launch or of work.
 * Equal names have equal numbers. */
struct burst_key {
	size_t tenant, work, provider;
	/* policy: of a launch, index of its policy in the list of evaluations; BURST_NO_KEY: none.
	 * budgets: of work, the budgets that apply to it. */
	size_t policy;
	const struct burst_bindings *budgets;
};
#define BURST_NO_KEY SIZE_MAX

/* burst_policy_eval_offers() sets s->offers to the policy's verdicts on all offers.
 * burst_shape_new() returns the verdicts for work with the requirements of w. These and the next
 * function are in offers.c. */
void burst_policy_eval_offers(struct burst_policy_eval *s, const struct burst_input *in,
			      const struct burst_stock *stock, struct arena *a);
/* True if the policy bounds prices by a rate of owned machines, and none is known in its
 * currency. */
bool burst_rate_is_missing(const struct burst_input *in, const struct burst_policy_in *p);
struct burst_shape *burst_shape_new(const struct burst_policy_eval *s, const struct burst_input *in,
				    const struct burst_stock *stock, const struct burst_work *w,
				    struct arena *a);
/* Evaluates offer i, which must be suitable, against the limits and budgets that remained when
 * decision d was made. left: remaining instances of the offer; -1: not known. */
struct burst_why burst_judge(const struct burst_decision *d, size_t i, int64_t left);

/* What moving data sets to one instance costs, in millionths, and takes. INT64_MAX: too large to
 * compute. */
struct burst_moving {
	int64_t egress, ms;
};
/* Returns the name of a data set of the work that the policy does not list; NULL: it lists all.
 * This and the next two functions are in data.c. */
const char *burst_data_unknown(const struct burst_policy_in *p, const struct burst_work *w);
/* Returns the data sets that the work reads: bit i stands for p->data.inputs[i]. */
uint64_t burst_data_of(const struct burst_policy_in *p, const struct burst_work *w);
struct burst_moving burst_data_moving(const struct burst_policy_in *p, uint64_t set,
				      const struct burst_offer *o);

/* Returns the balances of all budgets, with all launches of the input charged. This and the
 * following functions are in money.c. */
struct burst_balances *burst_balances_new(const struct burst_input *in,
					  const struct burst_policy_eval *evals,
					  const struct burst_key *keys,
					  const char *const *const names[3], const size_t n[3],
					  struct arena *a);
/* Returns the budgets that apply to the tenant's work under policy p, in the arena. */
struct burst_bindings burst_balances_of(const struct burst_balances *l,
					const struct burst_policy_in *p, const char *tenant,
					struct arena *a);
/* Writes to d->bound and d->of_provider the budgets with the smallest remaining amounts, among
 * k->budgets. beyond: true leaves out the budgets beyond which approved work may be launched.
 * Returns true if such a budget applies. */
bool burst_balances_bind(const struct burst_balances *l, const struct burst_policy_in *p,
			 const struct burst_key *k, bool beyond, struct burst_decision *d);
/* Charges the cost to k->budgets. */
void burst_balances_charge(const struct burst_policy_in *p, const struct burst_key *k,
			   int64_t cost);
void burst_balances_tell(const struct burst_balances *l, struct burst *b, struct arena *a);

#endif
