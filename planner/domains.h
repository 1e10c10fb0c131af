#ifndef PLANNER_DOMAINS_H
#define PLANNER_DOMAINS_H

#include "planner/planning.h"

/*
 * domains: for each topology key (label key that constraints name), the domain of each of a
 * tenant's bins (candidate nodes, bins.h), and the bins of each domain. The domains of a key are
 * numbered from 0, equally for all tenants.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_oracle.c
 */
/* Bins of one domain, in the order in which they were added. */
struct domain_bins {
	uint32_t *v;
	size_t n, cap;
};
struct tenant_domains {
	/* By number of the topology key. */
	struct key_domains {
		struct domain_bins *bins;
		size_t cap;
		/* By bin: domain of the bin; -1: the bin lacks the label. */
		int *of;
		size_t nof;
	} * keys;
	size_t nkeys;
};

void domains_new(struct arena *a, struct plan_tenant *t, int nkeys);
/* Records, for one topology key, the domain of the tenant's next bin; domain < 0: the bin lacks the
 * label. */
void domains_put(struct arena *a, struct plan_tenant *t, int key, size_t bin, int domain);
/* Removes the tenant's last bin, whose index is `bin`. */
void domains_drop(struct plan_tenant *t, size_t bin);
/* Returns the bin's domain of that key; -1 if the bin lacks the label. */
int domains_of_bin(const struct plan_tenant *t, int key, size_t bin);
const struct domain_bins *domains_bins(const struct plan_tenant *t, int key, size_t domain);

/* A set of domains of one key. */
struct domains_seen {
	uint8_t *v;
	size_t cap;
	/* Members in the order in which they were added; n: their number. */
	uint32_t *order;
	size_t n, order_cap;
};
void domains_see(struct arena *a, struct domains_seen *s, int domain);
/* Removes the members that were added last, until n are left. */
void domains_unsee(struct domains_seen *s, size_t n);
static inline bool domains_has(const struct domains_seen *s, size_t domain)
{
	return domain < s->cap && s->v[domain];
}

#endif
