#ifndef CONTROLLER_LIFE_AGENT_BOOT_H
#define CONTROLLER_LIFE_AGENT_BOOT_H

#include "controller/life/journal.h"

/*
 * agent_boot: the agent of an operation: booted, given orders, taken away again.
 * Tests: tests/world/test_http_boot.c, tests/world/test_boot.c
 */

/* The agent of this operation is there: media in, override set, powered on, hello heard. A second
 * caller with its secret ends the operation (*d). A hello counts only after off was seen, power
 * came by drover for this boot (status.power.agentBoot), and on was seen. */
bool life_ensure_agent(struct life *l, enum life_decision *d);

/* Nobody else showed the boot secret of this operation, also after its agent was dismissed; asked
 * in every turn. Else the operation ends (*d): nothing that was done in this boot counts. */
bool life_ensure_alone(struct life *l, enum life_decision *d);

/* Its id: OPERATION/BOOT/NAME. */
#define LIFE_ORDER_ID 128
void life_order_id(const struct life *l, const char *name, char out[static LIFE_ORDER_ID]);

/* Give the order ("inspect", or "CLAIM/check" where the same boot may be asked again for another
 * one; o->id is filled in) and wait for its end. NULL: under way. */
const struct proto_report *life_order(struct life *l, struct proto_order *o, const char *name);

/* The agent has gone: power off, media out, override cleared, all read back. Starts what is
 * missing, after it took the agent's key out of status: its orders are all done, and no other
 * leader waits for it. */
bool life_ensure_agent_gone(struct life *l);

/* A boot by HTTP that an off ended does not stand in the journal any more. False: that is being
 * written down. */
bool life_ensure_boot_ended(struct life *l);

/* Its port may be moved for an agent: it is off, or what is on is ours, or nobody can reach that.
 * Else it waits, since a journal that was put back may be of before a tenant. */
bool life_ensure_movable(struct life *l);

/* What the journal says of a boot by HTTP is held against the network; false: that is being
 * asked. */
bool life_ensure_boot_followed(struct life *l);
/* that was written down */
bool life_agent_dismissed(const struct life *l);

/* Why its order failed, in the agent's word where that is on the list. */
enum reason agent_reason(const struct proto_report *r, enum reason otherwise);

#endif
