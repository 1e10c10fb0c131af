#ifndef CONTROLLER_RULES_DISRUPTION_BUDGET_H
#define CONTROLLER_RULES_DISRUPTION_BUDGET_H

#include "api/kinds.h"

/*
 * disruption_budget: spec.disruption.budgets of a NodePool: drover begins nothing for its own sake
 * while so many of the pool's nodes are on their way out. Pure. Meaning as in Karpenter: all that
 * leave count, the smallest budget that counts now wins, a percentage rounds up, and one with a
 * schedule counts from each of its times on for its duration.
 */

/* The nodes of a pool. */
struct disruption {
	/* on which work may run */
	int64_t nodes;
	/* ... of them on their way out, or quarantined on it */
	int64_t leaving;
};

/* Of status.leave: drover began it for its own sake. */
bool disruption_is_ours(const char *reason);
/* Work may run on it, and nothing took it out of service. */
bool disruption_serves(const struct machine *m);
/* Add one that holds this claim.  decided: that it leaves is known, and not yet written. */
void disruption_count(struct disruption *d, const struct machine *m, const struct node_claim *n,
		      bool decided);

/* Most of `nodes` that may be leaving at once for this reason at the wall time now; INT64_MAX: no
 * budget counts. */
int64_t disruption_budget_allow(const struct node_pool *p, const char *reason, int64_t nodes,
				int64_t now);

/* Does a time of this schedule (five fields of cron, or @daily and its like; UTC) lie in (now -
 * duration, now]? One that cannot be read: true, which allows less. */
bool disruption_budget_window(const char *schedule, int64_t duration_ms, int64_t now);

#endif
