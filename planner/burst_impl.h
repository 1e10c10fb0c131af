#ifndef PLANNER_BURST_IMPL_H
#define PLANNER_BURST_IMPL_H

#include "base/map.h"
#include "planner/burst.h"

/*
 * burst_impl: what the files of planner/burst share. No other file includes it.
 *
 *   burst.c         order of the work, policies, triggers, the walk
 *   burst_offers.c  verdicts on offers that nothing decided before changes, and those that it does
 *   burst_money.c   periods, what counts against a budget, what is left
 *   burst_text.c    words
 */
/* an empty list names all */
bool burst_named(const struct burst_names *l, const char *name);

/* instances of an offer that a decision took */
struct burst_take {
	size_t seq;
	int64_t nodes;
	struct burst_take *next;
};
struct burst_stock {
	const struct burst_offer *offer;
	/* index */
	size_t provider;
	/* -1: the cloud does not say */
	int64_t left;
	struct burst_take *takes;
};

/* One offer for one policy (no cost yet), or for one shape. */
struct burst_verdict {
	/* BURST_CHOSEN: nothing speaks against it */
	enum burst_code code;
	int64_t is, limit;
	size_t tier;
	const struct burst_entry *entry;
	int64_t per_hour, factor;
	int64_t nodes, cost;
};

/* of one policy */
struct burst_side {
	const struct burst_policy_in *p;
	struct burst_verdict *offers;
	bool overlaps;
	/* of its windows; BURST_CHOSEN: open */
	enum burst_code shut;
	int64_t queued_gpus;
	int64_t nodes, gpus, starting, minute;
	int64_t *tenant_nodes;
};

struct burst_shape {
	const struct burst_side *side;
	const struct burst_stock *stock;
	/* of each offer */
	struct burst_verdict *v;
	/* those that will do, best first */
	size_t *order, n;
	int64_t least_cost, least_nodes;
};

/* one budget, for each of its keys */
struct burst_purse {
	const struct burst_policy_in *policy;
	const struct burst_budget *budget;
	/* INT64_MAX: beyond what can be counted */
	int64_t *before, *total;
	const char **keys;
	size_t n;
	bool *mixed, *touched;
};
struct burst_purses {
	struct burst_purse *v;
	size_t n, nproviders;
};
/* Indexes of a launch's, or of work's, tenant, name and provider. */
struct burst_key {
	size_t tenant, work, provider;
};

/* burst_offers.c */
void burst_side_offers(struct burst_side *s, const struct burst_input *in,
		       const struct burst_stock *stock, struct arena *a);
struct burst_shape *burst_shape_new(const struct burst_side *s, const struct burst_input *in,
				    const struct burst_stock *stock, const struct burst_work *w,
				    struct arena *a);
/* The code of one that will do by its shape, with what was left for this decision. */
struct burst_why burst_judge(const struct burst_decision *d, size_t i, int64_t left);

/* burst_money.c */
struct burst_purses *burst_purses_new(const struct burst_input *in, const struct burst_side *sides,
				      const struct burst_key *keys,
				      const char *const *const names[3], const size_t n[3],
				      struct arena *a);
/* What binds a launch for this work by this policy. */
void burst_purses_bind(const struct burst_purses *l, const struct burst_policy_in *p,
		       const char *tenant, const struct burst_key *k, struct burst_decision *d);
void burst_purses_charge(struct burst_purses *l, const struct burst_policy_in *p,
			 const struct burst_key *k, int64_t cost);
void burst_purses_tell(const struct burst_purses *l, struct burst *b, struct arena *a);

#endif
