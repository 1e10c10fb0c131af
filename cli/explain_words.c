/*
 * explain_words: what a machine does in its state, and what a serving one waits for unseen.
 * Tests: tests/unit/cli/test_explain.c
 */
#include <stdio.h>

#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/str.h"
#include "cli/explain.h"
#include "controller/rules/disruption_budget.h"
#include "controller/rules/machine.h"

#define MINUTE_MS INT64_C(60000)
#define AHEAD_MINUTES (8 * 24 * 60) /* a schedule of weeks comes round */

static const char *const doing[MACHINE_STATES] = {
	[MACHINE_KNOWN] =
		"it was found: it serves the claim that it is adopted for, or is wiped first",
	[MACHINE_FREE] = "clean, and there for the next claim",
	[MACHINE_CLAIMED] = "a claim has it; it is proved to be off and clean before it is booted",
	[MACHINE_IMAGING] = "its image is written to its disk",
	[MACHINE_ATTACHING] = "its port is moved into its tenant's network",
	[MACHINE_BOOTING] = "it is switched on, and its system starts",
	[MACHINE_JOINING] = "its Node is waited for in its tenant's cluster",
	[MACHINE_GATING] = "its Node is there, and has to be Ready with all that was promised",
	[MACHINE_SERVING] = "it serves its tenant",
	[MACHINE_DRAINING] = "its pods are asked to go",
	[MACHINE_STOPPING] = "it is switched off, and proved to be",
	[MACHINE_ISOLATING] = "its port is moved out of its tenant's network",
	[MACHINE_LEAVING] =
		"volumes, Node and bootstrap token are taken down in its tenant's cluster",
	[MACHINE_DIRTY] = "the agent is booted on it, to wipe it",
	[MACHINE_INSPECTING] = "the agent looks for its drives",
	[MACHINE_WIPING] = "its drives are wiped",
	[MACHINE_VERIFYING] = "its drives are read, to prove the wipe",
	[MACHINE_QUARANTINED] = "nobody gets it before its reason is settled",
	[MACHINE_RETIRED] = "drover leaves it alone",
	[MACHINE_GONE] = "it was given back to where it came from",
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
		a, "its tenant; what it has not done by %s is owed to it, and the machine goes on",
		str_time(t, m->status.state_since + MACHINE_TENANT_PATIENCE_MS));
}

void explain_doing(json_t *answer, const struct machine *m)
{
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));
	OWN(arena) a = arena_new();

	if (s == MACHINE_STATE_NONE)
		return;
	put(answer, "doing", doing[s]);
	if (s == MACHINE_LEAVING && m->status.state_since && !json_object_get(answer, "waitingFor"))
		put(answer, "waitingFor", leaving_ends(m, a));
}

/* From when on one may leave again; 0: not for a long time. */
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
	    arena_printf(
		    a,
		    "no empty Node of pool %s is given back%s%s: spec.disruption.budgets allow none; change "
		    "them, or drover drain what is to go",
		    p->meta.name, opens ? " before " : " as things are",
		    opens ? str_time(t, opens) : ""));
}
