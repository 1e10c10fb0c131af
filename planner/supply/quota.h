#ifndef PLANNER_SUPPLY_QUOTA_H
#define PLANNER_SUPPLY_QUOTA_H

#include "planner/planning.h"

/*
 * quota: how much of each resource a tenant may have: its own quota and, in a cohort, the unused
 * quota that the other tenants of the cohort lend.
 *
 *   |-- never lent --|-- lent while the tenant does not use it --|-- borrowed from others --|
 *   0      quota - lending limit                               quota    quota + borrowing limit
 *
 * For each tenant of a cohort, count the holdings beyond the part of its quota that is never lent.
 * The sum of these over the cohort does not exceed the sum of the parts that may be lent. A
 * resource that a tenant's quota does not name has no limit; it is neither lent nor borrowed.
 *
 * During a plan, holdings of tenants only grow. So once a quota refuses a machine, it refuses that
 * machine until the plan ends.
 * Tests: tests/unit/planner/supply/test_quota.c
 */
struct supply_type_offer;

/* Collects the cohorts of all tenants. Call before all other functions of quota.h. */
void quota_begin(struct planning *p);
/* Makes the sums of cohorts invalid. Call whenever a tenant got a machine or gave one back. */
void quota_changed(struct planning *p);
/* Returns the name of the first resource for which a limit (the tenant's own or that of the cohort)
 * refuses `more` to the tenant; NULL: no limit refuses. */
const char *quota_passes(const struct plan_tenant *t, const struct resources *more);
/* Returns text that explains why the tenant gets no more of the resource: "the tenant's quota of
 * nvidia.com/gpu is used up: 72 of 64 used, 8 borrowed, ..." l: an offer that would exceed the
 * quota. */
const char *quota_text(struct planning *p, const struct plan_tenant *t, const char *resource,
		       const struct supply_type_offer *l);
/* True if the tenant's holdings plus `more` stay within its own quota, without borrowing. */
bool quota_has_own(const struct plan_tenant *t, const struct resources *more);
/* True if the tenant's own limits (quota and borrowing limit) refuse `more`, whatever other tenants
 * use. */
bool quota_is_bound(const struct plan_tenant *t, const struct resources *more);
/* Moves the capacity of one machine from the holdings of one tenant to those of another. from or to
 * NULL: no tenant. */
void quota_moves(struct planning *p, struct plan_tenant *from, struct plan_tenant *to,
		 const struct resources *capacity);
/* True if the tenant has used up its own quota and is in a cohort: its next machine would be
 * borrowed. */
bool quota_borrows(const struct plan_tenant *t);
/* Returns how much of the resource the tenant has beyond its quota, in billionths. Returns 0 if the
 * tenant is in no cohort or its quota does not name the resource. */
__int128 quota_borrowed(const struct plan_tenant *t, const char *resource);

#endif
