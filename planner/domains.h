#ifndef PLANNER_DOMAINS_H
#define PLANNER_DOMAINS_H

#include "planner/planning.h"

/*
 * domains: of which domain each bin of a tenant is, for each key of labels that constraints name.
 * Domains of a key have numbers from 0, the same for all tenants.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_oracle.c
 */
/* of one domain, in their order */
struct domain_bins {
	uint32_t *v;
	size_t n, cap;
};
struct tenant_domains {
	/* one for each key */
	struct key_domains {
		struct domain_bins *bins;
		size_t cap;
		/* by bin; -1: it has no such label */
		int *of;
		size_t nof;
	} * keys;
	size_t nkeys;
};

void domains_new(struct arena *a, struct plan_tenant *t, int nkeys);
/* The next bin is of that domain of the key; domain < 0: of none.  The last goes. */
void domains_put(struct arena *a, struct plan_tenant *t, int key, size_t bin, int domain);
void domains_drop(struct plan_tenant *t, size_t bin);
/* -1: none */
int domains_of_bin(const struct plan_tenant *t, int key, size_t bin);
const struct domain_bins *domains_bins(const struct plan_tenant *t, int key, size_t domain);

/* Some domains of one key. */
struct domains_seen {
	uint8_t *v;
	size_t cap;
	/* as they were seen */
	uint32_t *order;
	size_t n, order_cap;
};
void domains_see(struct arena *a, struct domains_seen *s, int domain);
/* The last that were seen are not any more. */
void domains_unsee(struct domains_seen *s, size_t n);
static inline bool domains_has(const struct domains_seen *s, size_t domain)
{
	return domain < s->cap && s->v[domain];
}

#endif
