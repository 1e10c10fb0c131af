#ifndef CONTROLLER_STEPS_WARM_H
#define CONTROLLER_STEPS_WARM_H

#include "controller/life/journal.h"

/*
 * warm: a free machine that is kept on, with the agent running in the provisioning segment
 * (claims/warm_pool.h chooses the machines).
 *
 *   off --status.warmFor, new operation--> booting --agent calls--> warm --claim--> claimed
 *
 *   booting, warm --agent silent, or machine rebooted--> booting, after a back-off;
 *                                                        after 3 boots: off for 30 min
 *   claimed --claim withdrawn--> warm
 *
 * The agent's session is that of status.operation {id, bootNumber}. The claim takes it over, so
 * that the agent need not be booted again; identity, inventory and stamps are checked then as
 * usual. A machine that was switched off by another party stays off for 30 min as well.
 * Tests: tests/world/test_warm.c, tests/world/test_warm_claim.c, tests/world/test_warm_crash.c
 */

/* Runs a free machine without a claim: begins, keeps or ends its warm boot as the warm pool
 * wants. */
enum life_decision life_warm(struct life *l);
/* True unless the machine is being switched off after it was warm. False until the end is written;
 * a claim waits for it. */
bool life_ensure_warm_ended(struct life *l);
/* True if the machine is not warm any more, as required before it retires. False while it is being
 * switched off. */
bool life_ensure_warm_left(struct life *l);
/* True if drover may have the machine on: its boot medium is inserted, or its agent was heard. */
bool life_warm_may_be_on(const struct life *l);
/* In claimed, for a machine that was warm: true once its agent has answered. False while its answer
 * is pending, or the machine is booted as usual. */
bool life_ensure_warm_answer(struct life *l, enum life_decision *d);
/* In claimed, after the claim was withdrawn: returns a machine whose agent is still the one it was
 * warm with to free as it is, because nothing was written and its stamps are intact. What happened
 * to it meanwhile is detected in free as usual; the next claim has it inspected anew. False: it was
 * booted for the claim, or was still booting, and must be switched off. */
bool life_warm_release(struct life *l, enum life_decision *d);

#endif
