#ifndef CONTROLLER_STEPS_WARM_H
#define CONTROLLER_STEPS_WARM_H

#include "controller/life/journal.h"

/*
 * warm: a free machine that is kept on, with the agent running in the provisioning network
 * (claims/warm_pool.h says which).
 *
 *   off --warmFor, new operation--> booted like at claim --> agent polls --claim--> claimed, same operation
 *                                      ^                      ^ | silent, rebooted      |
 *                                      '-------- backoff ------|-' (3 boots, off 30 min) |
 *                                                             '------ claim withdrawn ---'
 *
 * The agent's session is that of status.operation {id, bootNumber}, which the claim takes over, so
 * the agent need not be booted again: identity, inventory and stamps are looked at then as ever. A
 * machine that somebody else switched off stays off for 30 min as well.
 * Tests: tests/world/test_warm.c, tests/world/test_warm_claim.c, tests/world/test_warm_crash.c
 */

/* In free, with nothing else to do: as wished. */
enum life_decision life_warm(struct life *l);
/* It is not being switched off after it was warm. False until that end is written down; a claim
 * waits as long. */
bool life_ensure_warm_ended(struct life *l);
/* Off, if it was warm, before it is retired.  False: it takes a while. */
bool life_ensure_warm_left(struct life *l);
/* On, and by our doing: our medium is in, or its agent was heard. */
bool life_warm_may_be_on(const struct life *l);
/* In claimed, of one that was warm: its agent was asked whether it is there, and said so. False: it
 * is waited for, or booted as usual. */
bool life_ensure_warm_answer(struct life *l, enum life_decision *d);
/* In claimed, whose claim was withdrawn: one whose agent is still the one that it was warm with
 * goes back to free as it is, since nothing was written and its stamps stand. What happened to it
 * meanwhile is found there, as ever; the next claim has it inspected anew. False: it was booted for
 * the claim, or was still coming up, and is to be off. */
bool life_warm_release(struct life *l, enum life_decision *d);

#endif
