#ifndef PLANNER_RECLAIM_GROUPS_H
#define PLANNER_RECLAIM_GROUPS_H

#include "planner/reclaim_candidates.h"

/*
 * reclaim_groups: the units that may be taken back (reclaim_candidates.h), in groups of equal ones,
 * so that a search looks at the cheapest unit of each group and not at each unit.
 *
 * Units are equal if their machines all have the same tenant, pool, capacity, priority and machine
 * group and were wiped equally well, and if they have the same number of machines. Then the same
 * waiting pods may take them, and only their costs differ. A unit of unequal machines is a group of
 * its own.
 * Tests: tests/unit/planner/test_reclaim.c
 */
struct reclaim_group {
	/* Roots of the n units, cheapest first; of equally expensive ones the first by name of the
	 * claim comes first. */
	size_t *v, n;
	/* All units before this index are taken. */
	size_t next;
	/* Number of machines of each unit. */
	size_t machines;
	/* True if all machines of the group are equal. */
	bool alike;
	/* Used for an alike group. asked: number of earlier classes (reclaim.c) that were asked
	 * whether they would use the machines; wanted: one of them would. */
	size_t asked;
	bool wanted;
};
struct reclaim_groups {
	struct reclaim_group *v;
	size_t n;
};

/* Divides all units that are not barred into groups, and sets unit.group and unit.place of each of
 * their roots; in portions, so that a plan can be made in slices. v: the n candidates.
 * reclaim_grouping_next() does one portion and returns false once all are done. Then
 * reclaim_grouping_found() returns the groups. All is allocated in the plan's arena. */
struct reclaim_grouping;
struct reclaim_grouping *reclaim_grouping_new(struct planning *p, struct candidate *v, size_t n);
bool reclaim_grouping_next(struct reclaim_grouping *x);
struct reclaim_groups reclaim_grouping_found(const struct reclaim_grouping *x);

#endif
