#ifndef CONTROLLER_RULES_DISRUPTION_BUDGET_H
#define CONTROLLER_RULES_DISRUPTION_BUDGET_H

#include "api/kinds.h"

/*
 * disruption_budget: how many nodes of a NodePool may be leaving at one time, according to
 * spec.disruption.budgets of the pool. A budget limits only what drover does of its own accord.
 * Pure functions.
 *
 * Budgets work as in Karpenter. All leaving nodes count. The smallest budget that applies now
 * decides. Percentages round up. A budget with a schedule applies for its duration from each time
 * of the schedule.
 */

/* Numbers of nodes of one pool. */
struct disruption {
	/* nodes in states serving to leaving, and quarantined nodes that drover itself took out */
	int64_t nodes;
	/* nodes among `nodes` that are leaving, whose claim is being deleted, or that drover has
	 * decided to release */
	int64_t leaving;
};

/* True for values of status.leave.reason for which drover itself began the disruption. Budgets
 * limit only these reasons. */
bool disruption_is_ours(const char *reason);
/* True if the machine is in state serving: pods may run on it, and nothing has taken it out of
 * service. */
bool disruption_serves(const struct machine *m);
/* Adds the machine m of claim n to the numbers in *d. decided: drover has decided that the machine
 * leaves, but status does not show it yet. */
void disruption_count(struct disruption *d, const struct machine *m, const struct node_claim *n,
		      bool decided);

/* Returns how many of `nodes` nodes may be leaving at one time for `reason`, at the wall time now.
 * INT64_MAX: no budget applies. */
int64_t disruption_budget_allow(const struct node_pool *p, const char *reason, int64_t nodes,
				int64_t now);

/* True if the schedule (five cron fields, or a macro such as @daily; UTC) has a time in (now -
 * duration, now]. Also true for an unreadable schedule, because the budget must then apply: that
 * allows fewer nodes to leave. */
bool disruption_budget_window(const char *schedule, int64_t duration_ms, int64_t now);

#endif
