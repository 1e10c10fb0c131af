#ifndef PLANNER_BURST_IMPL_H
#define PLANNER_BURST_IMPL_H

#include "base/map.h"
#include "planner/burst.h"

/*
 * burst_impl: shared by the files of planner/burst; not included elsewhere.
 *
 *   burst.c         order of the work, policies, triggers, choice of an offer
 *   burst_offers.c  verdicts on offers, before and after what earlier decisions took
 *   burst_money.c   periods, charges against budgets, what budgets leave
 *   burst_text.c    texts
 */
/* True if the list contains the name; an empty list contains all. */
bool burst_named(const struct burst_names *l, const char *name);

/* Instances of an offer that a decision has taken. */
struct burst_take {
	size_t seq;
	int64_t nodes;
	struct burst_take *next;
};
struct burst_stock {
	const struct burst_offer *offer;
	/* Index of the Provider's name. */
	size_t provider;
	/* Instances left; -1: the cloud does not report the number. */
	int64_t left;
	struct burst_take *takes;
};

/* Verdict on one offer, under one policy (without cost) or for one work shape. */
struct burst_verdict {
	/* BURST_CHOSEN: the offer is suitable. */
	enum burst_code code;
	int64_t is, limit;
	size_t tier;
	const struct burst_entry *entry;
	int64_t per_hour, factor;
	int64_t nodes, cost;
};

/* Evaluation of one policy. */
struct burst_side {
	const struct burst_policy_in *p;
	struct burst_verdict *offers;
	bool overlaps;
	/* Whether the policy's windows forbid launches now; BURST_CHOSEN: launches are allowed. */
	enum burst_code shut;
	int64_t queued_gpus;
	int64_t nodes, gpus, starting, minute;
	int64_t *tenant_nodes;
};

struct burst_shape {
	const struct burst_side *side;
	const struct burst_stock *stock;
	/* By offer. */
	struct burst_verdict *v;
	/* Suitable offers, best first. */
	size_t *order, n;
	int64_t least_cost, least_nodes;
};

/* The balances of one budget, one per tenant, workload or Provider. */
struct burst_purse {
	const struct burst_policy_in *policy;
	const struct burst_budget *budget;
	/* In millionths; INT64_MAX: too large to compute. */
	int64_t *before, *total;
	const char **keys;
	size_t n;
	bool *mixed, *touched;
};
struct burst_purses {
	struct burst_purse *v;
	size_t n, nproviders;
};
/* Indexes of the names of a launch's, or work's, tenant, workload and Provider. */
struct burst_key {
	size_t tenant, work, provider;
};

/* burst_offers.c */
void burst_side_offers(struct burst_side *s, const struct burst_input *in,
		       const struct burst_stock *stock, struct arena *a);
struct burst_shape *burst_shape_new(const struct burst_side *s, const struct burst_input *in,
				    const struct burst_stock *stock, const struct burst_work *w,
				    struct arena *a);
/* Evaluates a suitable offer against what was left at the decision. left: instances of the offer;
 * -1: not known. */
struct burst_why burst_judge(const struct burst_decision *d, size_t i, int64_t left);

/* burst_money.c */
struct burst_purses *burst_purses_new(const struct burst_input *in, const struct burst_side *sides,
				      const struct burst_key *keys,
				      const char *const *const names[3], const size_t n[3],
				      struct arena *a);
/* Writes the budgets that bind a launch for this work under this policy into d. */
void burst_purses_bind(const struct burst_purses *l, const struct burst_policy_in *p,
		       const char *tenant, const struct burst_key *k, struct burst_decision *d);
void burst_purses_charge(struct burst_purses *l, const struct burst_policy_in *p,
			 const struct burst_key *k, int64_t cost);
void burst_purses_tell(const struct burst_purses *l, struct burst *b, struct arena *a);

#endif
