#ifndef CONTROLLER_RULES_DISRUPTION_BUDGET_H
#define CONTROLLER_RULES_DISRUPTION_BUDGET_H

#include "api/kinds.h"

/*
 * disruption_budget: spec.disruption.budgets of a NodePool: how many of its nodes may be on their way out
 * at once for drover's own sake.  Pure.  Meaning as in Karpenter: the smallest that counts now
 * wins, a percentage rounds up, and one with a schedule counts from each of its times on for its duration.
 */

/* Most of `nodes` that may be leaving at once for this reason at the wall time now; INT64_MAX: no budget counts. */
int64_t disruption_budget_allow(const struct node_pool *p, const char *reason, int64_t nodes,
				int64_t now);

/* Does a time of this schedule (five fields of cron, or @daily and its like; UTC) lie in (now - duration, now]?
 * One that cannot be read: true, which allows less. */
bool disruption_budget_window(const char *schedule, int64_t duration_ms, int64_t now);

#endif
