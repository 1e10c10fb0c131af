#ifndef PLANNER_BURST_IMPL_H
#define PLANNER_BURST_IMPL_H

#include "base/map.h"
#include "planner/burst.h"

/*
 * burst_impl: shared by the following files; not included elsewhere.
 *
 *   burst.c         order of the work, policies, triggers, choice of an offer
 *   burst_offers.c  verdicts on offers: by policy, by work, and by what is left
 *   burst_money.c   periods, charges against budgets, what budgets leave
 *   burst_text.c    texts
 */
/* True if the list contains the name; an empty list contains all. */
bool burst_named(const struct burst_names *l, const char *name);

/* Instances of an offer that the decision with number seq (burst_decision.seq) has taken. */
struct burst_take {
	size_t seq;
	int64_t nodes;
	struct burst_take *next;
};
struct burst_stock {
	const struct burst_offer *offer;
	/* Number of the offer's Provider, as in burst_key.provider. */
	size_t provider;
	/* Instances that are left; -1: the cloud does not report the number. */
	int64_t left;
	struct burst_take *takes;
};

/* Verdict on one offer, either by one policy alone (cost is then not computed) or for one work
 * shape (struct burst_shape). */
struct burst_verdict {
	/* BURST_CHOSEN: the offer is suitable. Other codes: why it is not. */
	enum burst_code code;
	int64_t is, limit;
	size_t tier;
	const struct burst_entry *entry;
	int64_t per_hour, factor;
	int64_t nodes, cost;
};

/* Evaluation of one policy: its verdicts on all offers, and what its launches have. */
struct burst_side {
	const struct burst_policy_in *p;
	struct burst_verdict *offers;
	bool overlaps;
	/* BURST_CHOSEN: the policy's windows allow launches now. Other codes: why they forbid
	 * them. */
	enum burst_code shut;
	int64_t queued_gpus;
	int64_t nodes, gpus, starting, minute;
	int64_t *tenant_nodes;
};

struct burst_shape {
	const struct burst_side *side;
	const struct burst_stock *stock;
	/* Verdicts, one per offer (index into stock). */
	struct burst_verdict *v;
	/* Indexes of the suitable offers, best first; n: their number. */
	size_t *order, n;
	int64_t least_cost, least_nodes;
};

/* The balances of one budget; one balance per tenant, workload or Provider, or a single one. */
struct burst_purse {
	const struct burst_policy_in *policy;
	const struct burst_budget *budget;
	/* Amounts charged before the first decision, and with all decisions so far, in millionths,
	 * by balance. INT64_MAX: too large to compute. */
	int64_t *before, *total;
	const char **keys;
	size_t n;
	bool *mixed, *touched;
};
struct burst_purses {
	struct burst_purse *v;
	size_t n, nproviders;
};
/* Numbers that stand for the names of the tenant, workload and Provider of a launch or of work. */
struct burst_key {
	size_t tenant, work, provider;
};

/* The following functions are in burst_offers.c. burst_side_offers() sets s->offers to the policy's
 * verdicts on all offers. burst_shape_new() returns the verdicts for work like w. */
void burst_side_offers(struct burst_side *s, const struct burst_input *in,
		       const struct burst_stock *stock, struct arena *a);
struct burst_shape *burst_shape_new(const struct burst_side *s, const struct burst_input *in,
				    const struct burst_stock *stock, const struct burst_work *w,
				    struct arena *a);
/* Evaluates suitable offer i against the limits and budgets that were left at decision d. left:
 * instances of the offer that are left; -1: not known. */
struct burst_why burst_judge(const struct burst_decision *d, size_t i, int64_t left);

/* The following functions are in burst_money.c. burst_purses_new() returns the balances of all
 * budgets, with all launches of the input charged. */
struct burst_purses *burst_purses_new(const struct burst_input *in, const struct burst_side *sides,
				      const struct burst_key *keys,
				      const char *const *const names[3], const size_t n[3],
				      struct arena *a);
/* Writes to d->bound and d->of_provider the tightest budgets that apply to a launch for this work
 * under policy p. */
void burst_purses_bind(const struct burst_purses *l, const struct burst_policy_in *p,
		       const char *tenant, const struct burst_key *k, struct burst_decision *d);
void burst_purses_charge(struct burst_purses *l, const struct burst_policy_in *p,
			 const struct burst_key *k, int64_t cost);
void burst_purses_tell(const struct burst_purses *l, struct burst *b, struct arena *a);

#endif
