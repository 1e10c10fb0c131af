/*
 * disruption_budget: computes how many nodes a pool's budgets allow to leave.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/rules/disruption_budget.h"
#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/mem.h"
#include "base/schedule.h"
#include "base/str.h"

bool disruption_budget_window(const char *schedule, int64_t duration_ms, int64_t now)
{
	return schedule_window(schedule, NULL, duration_ms, now) != 0;
}

/* --- budgets ---------------------------------------------------------------------------------- */

static bool for_reason(const struct node_pool_budget *b, const char *reason)
{
	for (size_t i = 0; i < b->reasons.n; i++)
		if (str_eq(b->reasons.v[i], reason))
			return true;
	return !b->reasons.n;
}

static int64_t most(const char *text, int64_t nodes)
{
	char *end;
	int64_t n = strtoll(text, &end, 10);

	return *end == '%' ? (nodes * n + 99) / 100 : n;
}

static enum machine_state state_of(const struct machine *m)
{
	return machine_state_find(str_or(m->status.state, ""));
}

bool disruption_serves(const struct machine *m)
{
	return state_of(m) == MACHINE_SERVING;
}

bool disruption_is_ours(const char *reason)
{
	return str_eq(reason, LEAVE_EMPTY) || str_eq(reason, LEAVE_UNDERUSED) ||
	       str_eq(reason, LEAVE_DRIFTED) || str_eq(reason, LEAVE_EXPIRED) ||
	       str_eq(reason, LEAVE_ASLEEP) || str_eq(reason, LEAVE_RECLAIMED) ||
	       str_eq(reason, LEAVE_MOVED_HOME) || str_eq(reason, LEAVE_AT_RISK);
}

/* True if drover itself began the disruption of the machine. Such a machine counts as leaving even
 * while quarantined, because it may still be on. */
static bool for_our_sake(const struct machine *m)
{
	return m->status.leave && disruption_is_ours(m->status.leave->reason);
}

void disruption_count(struct disruption *d, const struct machine *m, const struct node_claim *n,
		      bool decided)
{
	enum machine_state s = state_of(m);

	if (s < MACHINE_SERVING ||
	    (s > MACHINE_LEAVING && !(s == MACHINE_QUARANTINED && for_our_sake(m))))
		return;
	d->nodes++;
	d->leaving += s > MACHINE_SERVING || n->meta.deletion_timestamp || decided;
}

int64_t disruption_budget_allow(const struct node_pool *p, const char *reason, int64_t nodes,
				int64_t now)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < p->spec.disruption.budgets.n; i++) {
		const struct node_pool_budget *b = &p->spec.disruption.budgets.v[i];
		int64_t n = most(str_or(b->nodes, "0"), nodes);

		if (for_reason(b, reason) &&
		    (!b->schedule || disruption_budget_window(b->schedule, b->duration, now)) &&
		    n < least)
			least = n;
	}
	return least;
}
