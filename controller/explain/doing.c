/*
 * doing: explains the state of a machine in words, and why the Node of a serving machine
 * takes no pods or is not released.
 * Tests: tests/unit/cli/test_explain.c
 */
#include <stdio.h>

#include "api/annotations.h"
#include "api/machine.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/str.h"
#include "controller/explain/explain.h"
#include "controller/rules/disruption_budget.h"
#include "controller/rules/machine.h"

#define MINUTE_MS INT64_C(60000)
/* how far budget_opens() searches, in minutes: longer than a week, so that a weekly schedule
 * recurs */
#define AHEAD_MINUTES (8 * 24 * 60)

static const char *const doing[MACHINE_STATES] = {
	[MACHINE_KNOWN] =
		"recorded; once an operator approves it, drover wipes it, or adopts it with its "
		"claim",
	[MACHINE_FREE] = "clean and ready for the next claim",
	[MACHINE_CLAIMED] =
		"assigned to a claim; drover proves that it is off and clean before booting it",
	[MACHINE_IMAGING] = "the agent is writing the image to its disk",
	[MACHINE_ATTACHING] = "drover is moving its switch port into the tenant's network",
	[MACHINE_BOOTING] = "switched on; its operating system is starting",
	[MACHINE_JOINING] = "drover waits for its Node to join the tenant's cluster",
	[MACHINE_GATING] =
		"its Node has joined; drover waits until the Node is Ready with all promised "
		"devices",
	[MACHINE_SERVING] = "in service for its tenant",
	[MACHINE_DRAINING] = "drover is evicting its pods",
	[MACHINE_STOPPING] = "drover is switching it off and waits for proof that it is off",
	[MACHINE_ISOLATING] = "drover is moving its switch port out of the tenant's network",
	[MACHINE_LEAVING] = "drover is deleting its volume attachments, Node and bootstrap token",
	[MACHINE_DIRTY] = "drover is booting its agent on it, to wipe it",
	[MACHINE_INSPECTING] = "the agent is listing its drives",
	[MACHINE_WIPING] = "the agent is wiping its drives",
	[MACHINE_VERIFYING] = "the agent is reading its drives, to prove that they are wiped",
	[MACHINE_QUARANTINED] = "out of use until the cause of its quarantine is resolved",
	[MACHINE_RETIRED] = "not managed by drover",
	[MACHINE_GONE] = MACHINE_RELEASED,
};

/* The states in which drover does something else with a cloud instance; NULL: as in doing[] */
static const char *const doing_elastic[MACHINE_STATES] = {
	[MACHINE_CLAIMED] = "assigned to a claim; drover is launching its instance",
	[MACHINE_BOOTING] = "launched; drover waits until the cloud reports that it runs",
	[MACHINE_STOPPING] =
		"drover is terminating its instance and waits until the cloud reports that it is "
		"gone",
	[MACHINE_LEAVING] = MACHINE_RELEASED
	"; drover is deleting its volume attachments, Node and bootstrap token",
	[MACHINE_QUARANTINED] = "its instance is not proved terminated, so it may still be billed",
};

static void put(json_t *o, const char *key, const char *text)
{
	if (!str_empty(text))
		json_object_set_new(o, key, json_string(text));
}

static const char *leaving_ends(const struct machine *m, struct arena *a)
{
	char t[STR_TIME_SIZE];

	return arena_printf(
		a,
		"the tenant's API server until %s; after that, drover continues with the machine "
		"and cleans up in the tenant's cluster later",
		str_time(t, m->status.state_since + MACHINE_TENANT_PATIENCE_MS));
}

const char *explain_state(enum machine_state s)
{
	return doing[s];
}

/* True if the machine in state leaving waits for its tenant and for nothing else. */
static bool waits_for_tenant(const json_t *answer, const struct machine *m, int64_t now)
{
	const char *reason = json_str_at(answer, "lastError", "reason");

	return m->status.state_since && now < m->status.state_since + MACHINE_TENANT_PATIENCE_MS &&
	       (!json_object_get(answer, "waitingFor") || str_eq(reason, "TenantUnreachable"));
}

void explain_activity(json_t *answer, const struct machine *m, int64_t now)
{
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));
	OWN(arena) a = arena_new();

	if (s == MACHINE_STATE_NONE)
		return;
	put(answer, "doing", m->spec.elastic && doing_elastic[s] ? doing_elastic[s] : doing[s]);
	if (s != MACHINE_LEAVING || !waits_for_tenant(answer, m, now))
		return;
	put(answer, "waitingFor", leaving_ends(m, a));
	json_object_del(answer, "deadline");
	json_object_del(answer, "then");
}

/* Returns the wall ms from which the budgets of p allow an empty Node to be released; 0: not within
 * AHEAD_MINUTES. */
static int64_t budget_opens(const struct node_pool *p, int64_t now)
{
	for (int i = 1; i <= AHEAD_MINUTES; i++) {
		int64_t t = (now / MINUTE_MS + i) * MINUTE_MS;

		if (disruption_budget_allow(p, LEAVE_EMPTY, p->status.nodes, t) > 0)
			return t;
	}
	return 0;
}

void explain_serving(json_t *answer, const struct node_claim *n, const struct node_pool *p,
		     int64_t now)
{
	const struct condition *ready = condition_get(&n->status.conditions, "Ready");
	OWN(arena) a = arena_new();
	char t[STR_TIME_SIZE];
	int64_t opens;

	if (ready && ready->status == CONDITION_FALSE)
		put(answer, "node", ready->message);
	if (!p || disruption_budget_allow(p, LEAVE_EMPTY, p->status.nodes, now) > 0)
		return;
	opens = budget_opens(p, now);
	put(answer, "budget",
	    arena_printf(a,
			 "drover releases no empty Node of pool %s%s%s, because "
			 "spec.disruption.budgets of the pool allow no disruption; change the "
			 "budgets, or release the Node with drover drain",
			 p->meta.name, opens ? " before " : " in the next 8 days",
			 opens ? str_time(t, opens) : ""));
}
