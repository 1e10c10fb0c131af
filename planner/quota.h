#ifndef PLANNER_QUOTA_H
#define PLANNER_QUOTA_H

#include "planner/planning.h"

/*
 * quota: what a tenant may have of each resource: its quota, and as one of a cohort what others of
 * it do not use.
 *
 *   quota of a tenant   |-- kept for it --|-- lent while it does not use it --|
 *                       0        quota - lending limit                      quota     quota + borrowing limit
 *
 * What all of a cohort have beyond what is kept for each is never more than what all of them lend.
 * A resource that a quota does not name is not bounded; nobody lends it and nobody borrows it.
 *
 * A plan only takes, so who is refused once is refused until it ends.
 * Tests: tests/unit/planner/test_quota.c
 */
struct supply_line;

/* Finds the cohorts of all tenants; before any other of these. */
void quota_begin(struct planning *p);
/* A machine is somebody's, or is given back. */
void quota_changed(struct planning *p);
/* The first resource of which the tenant may not have so much more, or NULL. */
const char *quota_passes(const struct plan_tenant *t, const struct resources *more);
/* Why, for that resource: "the tenant's quota of nvidia.com/gpu is used up: 72 of 64 used, 8
 * borrowed, ..." */
const char *quota_text(struct planning *p, const struct plan_tenant *t, const char *resource,
		       const struct supply_line *l);
/* It has room for so much more within its own quota, without borrowing; and: its own bounds are in
 * the way, whatever others have. */
bool quota_has_own(const struct plan_tenant *t, const struct resources *more);
bool quota_is_bound(const struct plan_tenant *t, const struct resources *more);
/* A machine goes from one to the other; NULL: from or to nobody. */
void quota_moves(struct planning *p, struct plan_tenant *from, struct plan_tenant *to,
		 const struct resources *capacity);
/* Of a cohort, and has its whole quota: another machine would be borrowed. */
bool quota_borrows(const struct plan_tenant *t);
/* What it has of that resource beyond its quota, in billionths; 0: nothing, or it is not
 * bounded. */
__int128 quota_borrowed(const struct plan_tenant *t, const char *resource);

#endif
