#ifndef PLANNER_DOMAINS_H
#define PLANNER_DOMAINS_H

#include "planner/planning.h"

/*
 * domains: for each topology key (label key that constraints name), the domain of each of a
 * tenant's bins (candidate nodes, bins.h), and the bins of each domain. The domains of a key are
 * numbered from 0, with the same numbers for all tenants.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_oracle.c
 */
/* Bins of one domain, in the order in which they were added. */
struct domain_bins {
	uint32_t *v;
	size_t n, cap;
};
struct tenant_domains {
	/* Domains and bins of each topology key, by the key's number. */
	struct key_domains {
		struct domain_bins *bins;
		size_t cap;
		/* Domain of each bin, by the bin's index; -1: the bin lacks the label. */
		int *of;
		size_t nof;
	} * keys;
	size_t nkeys;
};

void domains_new(struct arena *a, struct plan_tenant *t, int nkeys);
/* Records in which domain of topology key number `key` the tenant's next bin is. bin: that bin's
 * index. domain < 0: the bin lacks the label. */
void domains_put(struct arena *a, struct plan_tenant *t, int key, size_t bin, int domain);
/* Removes the tenant's last bin, whose index is `bin`. */
void domains_drop(struct plan_tenant *t, size_t bin);
/* Returns the bin's domain of topology key number `key`; -1 if the bin lacks the label. */
int domains_of_bin(const struct plan_tenant *t, int key, size_t bin);
const struct domain_bins *domains_bins(const struct plan_tenant *t, int key, size_t domain);

/* A set of domains of one topology key. */
struct domains_seen {
	uint8_t *v;
	size_t cap;
	/* Members in the order in which they were added; n: their number. */
	uint32_t *order;
	size_t n, order_cap;
};
void domains_see(struct arena *a, struct domains_seen *s, int domain);
/* Removes the members that were added last, until only the first n members are left. */
void domains_unsee(struct domains_seen *s, size_t n);
static inline bool domains_has(const struct domains_seen *s, size_t domain)
{
	return domain < s->cap && s->v[domain];
}

#endif
