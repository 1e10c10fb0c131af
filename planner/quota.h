#ifndef PLANNER_QUOTA_H
#define PLANNER_QUOTA_H

#include "planner/planning.h"

/*
 * quota: how much of each resource a tenant may have: its own quota and, in a cohort, what the
 * other tenants of the cohort lend.
 *
 *   |-- never lent --|-- lent while the tenant does not use it --|-- borrowed from others --|
 *   0      quota - lending limit                               quota    quota + borrowing limit
 *
 * What all tenants of a cohort have beyond their parts that are never lent does not exceed the sum
 * of the parts that are lent. A resource that a tenant's quota does not name has no limit; it is
 * neither lent nor borrowed.
 *
 * A plan only adds to what tenants have. So a refusal holds until the plan ends.
 * Tests: tests/unit/planner/test_quota.c
 */
struct supply_line;

/* Collects the cohorts of all tenants. Call before all other functions of this module. */
void quota_begin(struct planning *p);
/* Must be called whenever a tenant got a machine or gave one back; cohort sums are then computed
 * again. */
void quota_changed(struct planning *p);
/* Returns the first resource whose limit refuses `more` to the tenant; NULL: none. */
const char *quota_passes(const struct plan_tenant *t, const struct resources *more);
/* Returns why that resource is refused: "the tenant's quota of nvidia.com/gpu is used up: 72 of 64
 * used, 8 borrowed, ..." l: offer that would exceed it. */
const char *quota_text(struct planning *p, const struct plan_tenant *t, const char *resource,
		       const struct supply_line *l);
/* True if `more` fits the tenant's quota without borrowing. */
bool quota_has_own(const struct plan_tenant *t, const struct resources *more);
/* True if the tenant's own limits refuse `more`, whatever other tenants use. */
bool quota_is_bound(const struct plan_tenant *t, const struct resources *more);
/* Moves a machine's capacity from one tenant to another; NULL: from or to no tenant. */
void quota_moves(struct planning *p, struct plan_tenant *from, struct plan_tenant *to,
		 const struct resources *capacity);
/* True if the tenant has used up its own quota and is in a cohort: its next machine would be
 * borrowed. */
bool quota_borrows(const struct plan_tenant *t);
/* Returns how much of that resource the tenant has beyond its quota, in billionths; 0 if nothing or
 * if the resource has no limit. */
__int128 quota_borrowed(const struct plan_tenant *t, const char *resource);

#endif
