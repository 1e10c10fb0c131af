#ifndef CONTROLLER_BILLING_SUPPLY_TALLY_H
#define CONTROLLER_BILLING_SUPPLY_TALLY_H

#include "api/machine_states.h"
#include "controller/core/context.h"

/*
 * supply_tally: counts Machines and NodeClaims in groups of objects that count alike in the status
 * of Providers, NodePools and VirtualClusters. Only an object that was marked is read again, so
 * that the cost follows the changes and not the size of the fleet.
 *
 * The caller marks each object whose group may have changed: a changed Machine or NodeClaim, the
 * Machine of a changed NodeClaim, the NodeClaims that name a changed Machine, and all objects after
 * a Provider's spec changed, or a VirtualCluster was added or removed. A check each
 * SUPPLY_TALLY_CHECK_MS looks at all objects, in slices. It must find nothing to correct;
 * otherwise, it corrects the counts, logs an error, and counts it in
 * drover_tally_corrections_total.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/billing/test_supply_tally.c, each world test at its end
 */
#define SUPPLY_TALLY_CHECK_MS (10 * 60 * 1000)

struct supply_tally;
struct supply_tally *supply_tally_new(struct context *c);
void supply_tally_free(struct supply_tally *t);

/* Marks a Machine or NodeClaim, which may have been deleted. */
void supply_tally_machine(struct supply_tally *t, const char *name);
void supply_tally_claim(struct supply_tally *t, const char *name);
/* Marks all objects. */
void supply_tally_all(struct supply_tally *t);

/* Looks at marked objects, at most `most` of them. Returns true if marked objects are left for the
 * next call; the groups below are up to date if none are. */
bool supply_tally_step(struct supply_tally *t, size_t most);

/* Looks at all objects that are not marked, and corrects their counts. Returns the number of
 * corrections, which is 0 unless drover has an error. For tests; drover itself does the same in
 * slices. */
size_t supply_tally_check(struct supply_tally *t);

/* A group of n Machines. */
struct supply_machines {
	int64_t n;
	const char *provider;
	enum machine_state state;
	/* Tenant that is charged for the machines; NULL: none */
	const char *tenant;
	/* tenant not NULL: how the machines are charged (bill.h) */
	struct virtual_cluster_charge like;
};
/* A group of n NodeClaims that count (claim_counts()). The names are "" if unknown. */
struct supply_claims {
	int64_t n;
	const char *pool, *tenant, *provider, *instance_type;
};
/* Call fn for each group that has an object. */
void supply_tally_each_machines(const struct supply_tally *t,
				void (*fn)(const struct supply_machines *g, void *arg), void *arg);
void supply_tally_each_claims(const struct supply_tally *t,
			      void (*fn)(const struct supply_claims *g, void *arg), void *arg);

#endif
