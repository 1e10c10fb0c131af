#ifndef CONTROLLER_STEPS_WARM_H
#define CONTROLLER_STEPS_WARM_H

#include "controller/life/journal.h"

/*
 * warm: a free machine that is kept on, with the agent running in the provisioning segment, so that
 * a claim need not wait for its boot (claims/warm_pool.h chooses the machines).
 *
 *   off --status.warmFor, new operation--> booting --agent calls--> warm --claim--> claimed
 *
 *   booting, warm --agent silent, or machine rebooted--> booting, after a back-off;
 *                                                        after 3 boots: off for 30 min
 *   claimed --claim withdrawn--> warm
 *
 * The agent's session belongs to the operation and boot number in status.operation. A claim keeps
 * both, so that the session continues and the agent need not be booted again. Once the machine is
 * claimed, its identity, inventory and clean stamps are checked as for any machine. A machine that
 * another party switched off also stays off for 30 min.
 * Tests: tests/world/test_warm.c, tests/world/test_warm_claim.c, tests/world/test_warm_crash.c
 */

/* Runs one turn of a free machine that no claim wants: begins, keeps or ends its warm boot as the
 * warm pool decides. */
enum life_decision life_warm(struct life *l);
/* True unless the machine was warm and is being switched off. In that case continues to switch the
 * machine off, and returns false. A claim waits until status records the end of the warm boot. */
bool life_ensure_warm_ended(struct life *l);
/* True if the machine is not warm any more, or its BMC cannot be used to switch it off. Otherwise
 * switches it off and returns false. Call before the machine retires. */
bool life_ensure_warm_left(struct life *l);
/* True if the machine may be on because it is warm: its boot medium is inserted, or its agent was
 * heard recently. */
bool life_warm_may_be_on(const struct life *l);
/* In claimed: true if the machine was not warm, or its agent has answered since it was claimed.
 * False while the answer is pending, or while the machine is being booted as usual instead. */
bool life_ensure_warm_answer(struct life *l, enum life_decision *d);
/* Call in claimed after the claim was withdrawn. If the agent of the warm boot has called and was
 * not dismissed, returns true, and sets *d to change the machine back to free without switching it
 * off; while an act is in flight, returns true without setting *d. Staying on is safe: nothing was
 * written to the machine, its clean stamps are intact, and the next claim has the agent inspect it
 * again. False: the machine was not warm, or was still booting, and must be switched off. */
bool life_warm_release(struct life *l, enum life_decision *d);

#endif
