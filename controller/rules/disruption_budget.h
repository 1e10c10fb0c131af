#ifndef CONTROLLER_RULES_DISRUPTION_BUDGET_H
#define CONTROLLER_RULES_DISRUPTION_BUDGET_H

#include "api/kinds.h"

/*
 * disruption_budget: spec.disruption.budgets of a NodePool limit how many nodes of the pool may be
 * leaving while drover takes out more of its own accord. Pure. Budgets work as in Karpenter: all
 * leaving nodes count, the smallest budget that applies now wins, percentages round up, and a
 * budget with a schedule applies for its duration from each time of the schedule.
 */

/* Nodes of one pool. */
struct disruption {
	/* nodes on which work may run, including those in leaving */
	int64_t nodes;
	/* nodes that are leaving, or quarantined while leaving */
	int64_t leaving;
};

/* True for values of status.leave.reason with which drover itself began the disruption; budgets
 * limit only these. */
bool disruption_is_ours(const char *reason);
/* True if work may run on the machine, and nothing has taken it out of service. */
bool disruption_serves(const struct machine *m);
/* Counts a machine of this claim. decided: the machine will leave, but status does not show it
 * yet. */
void disruption_count(struct disruption *d, const struct machine *m, const struct node_claim *n,
		      bool decided);

/* Returns how many of `nodes` may be leaving at one time for this reason, at the wall time now.
 * INT64_MAX: no budget applies. */
int64_t disruption_budget_allow(const struct node_pool *p, const char *reason, int64_t nodes,
				int64_t now);

/* True if a time of the schedule (five cron fields, or a macro such as @daily; UTC) lies in (now -
 * duration, now]. Also true for an unreadable schedule, because then the budget applies and allows
 * less. */
bool disruption_budget_window(const char *schedule, int64_t duration_ms, int64_t now);

#endif
