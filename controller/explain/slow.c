/*
 * slow: finds a machine that has been in its state for longer than nearly all machines are. If
 * nothing has failed, adds what the operator can check before the deadline of the state passes.
 * Tests: tests/unit/cli/test_why.c
 */
#include "api/machine_states.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "controller/explain/explain.h"

#define AGENT                                                                                      \
	"check its console: the BMC must serve the agent's boot medium, and the agent must reach " \
	"spec.agent.endpoint of its Provider"
#define PORT                                                                                       \
	"check its switch port in the fabric that spec.network of its Provider names; to try "     \
	"again now: drover retry %s"
#define KUBELET                                                                                    \
	"check its console: its operating system must start, and its kubelet must reach "          \
	"spec.joinEndpoint of its tenant"

/* For each state: seconds after which a machine in it counts as slow (after_s; 0: never), and what
 * the operator can check. */
static const struct {
	int64_t after_s;
	const char *help;
} slow[MACHINE_STATES] = {
	[MACHINE_CLAIMED] = {300, AGENT},
	[MACHINE_IMAGING] = {600, "check its console: the agent must reach the URL of the image"},
	[MACHINE_ATTACHING] = {60, PORT},
	[MACHINE_BOOTING] = {420, KUBELET},
	[MACHINE_JOINING] = {180, KUBELET},
	[MACHINE_GATING] =
		{180, "check its Node in the tenant's cluster: kubectl describe node shows what is "
		      "missing"},
	[MACHINE_STOPPING] = {60, "check its BMC; to try again now: drover retry %s"},
	[MACHINE_ISOLATING] = {60, PORT},
	[MACHINE_DIRTY] = {300, AGENT},
	[MACHINE_INSPECTING] =
		{120, "check its console: the agent has listed its drives for more than 2 min"},
};

void explain_slow(json_t *answer, const struct machine *m, int64_t now)
{
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));
	const struct machine_operation *op = m->status.operation;
	int64_t since = m->status.state_since;

	if (s == MACHINE_STATE_NONE || !slow[s].after_s || !since || m->status.quarantine ||
	    now - since < slow[s].after_s * 1000)
		return;
	if (op && op->deadline && now > op->deadline)
		return; /* the machine is already reported as late */
	json_object_set_new(answer, "slow", json_true());
	if (!op || !op->last_error.reason) /* the help for an error is more precise */
		answer_help(answer, slow[s].help, m->meta.name);
}
