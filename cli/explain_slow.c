/*
 * explain_slow: a machine that has been in a state for longer than nearly all machines are, though
 * nothing has failed yet: what a person can look at before its deadline passes.
 * Tests: tests/unit/cli/test_why.c
 */
#include "api/machine_states.h"
#include "base/str.h"
#include "cli/answer.h"
#include "cli/explain.h"

#define AGENT                                                                                      \
	"look at its console: the agent's medium has to come through its BMC, and the agent to reach spec.agent.endpoint of its provider"
#define PORT                                                                                       \
	"see where its port is: spec.network of its provider names what moves it; drover retry %s asks again now"
#define KUBELET                                                                                    \
	"look at its console: its system has to start, and kubelet to reach spec.joinEndpoint of its tenant"

/* Seconds from which on it is told; 0: never by the time alone. */
static const struct {
	int64_t after_s;
	const char *help;
} slow[MACHINE_STATES] = {
	[MACHINE_CLAIMED] = {300, AGENT},
	[MACHINE_IMAGING] =
		{600, "look at its console: the agent has to reach the address of the image"},
	[MACHINE_ATTACHING] = {60, PORT},
	[MACHINE_BOOTING] = {420, KUBELET},
	[MACHINE_JOINING] = {180, KUBELET},
	[MACHINE_GATING] =
		{180, "see its Node in the tenant: kubectl describe node says what is missing"},
	[MACHINE_STOPPING] = {60,
			      "look at its BMC; if you see that it is off: drover confirm-off %s"},
	[MACHINE_ISOLATING] = {60, PORT},
	[MACHINE_DIRTY] = {300, AGENT},
	[MACHINE_INSPECTING] =
		{120, "look at its console: the agent does not come to an end with its drives"},
};

void explain_slow(json_t *answer, const struct machine *m, int64_t now)
{
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));
	const struct machine_operation *op = m->status.operation;
	int64_t since = m->status.state_since;

	if (s == MACHINE_STATE_NONE || !slow[s].after_s || !since || m->status.quarantine ||
	    now - since < slow[s].after_s * 1000)
		return;
	if (op && (op->last_error.reason || (op->deadline && now > op->deadline)))
		return; /* it says more, or is late */
	json_object_set_new(answer, "slow", json_true());
	answer_help(answer, slow[s].help, m->meta.name);
}
