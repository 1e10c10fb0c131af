#ifndef CONTROLLER_LIFE_AGENT_BOOT_H
#define CONTROLLER_LIFE_AGENT_BOOT_H

#include "controller/life/journal.h"

/*
 * agent_boot: boots the agent (the program that inspects and wipes the machine) of an operation,
 * gives it orders, and removes all traces of its boot.
 * Tests: tests/world/test_http_boot.c, tests/world/test_boot.c
 */

/* True if the agent of this operation runs and has said hello. Otherwise starts the next step of
 * its boot: insert the boot medium, set the boot override, power on. A hello counts only after the
 * machine was seen off, drover switched it on for this boot (status.power.agentBoot), and it was
 * seen on. If a second caller presents the boot secret, returns false and sets *d to LIFE_CHANGE:
 * the operation ends. */
bool life_ensure_agent(struct life *l, enum life_decision *d);

/* True if no second caller has presented the boot secret of this operation. Otherwise returns false
 * and sets *d to LIFE_CHANGE: the operation ends, because nothing done in this boot can be trusted.
 * Callers are also checked after the agent was dismissed. Call in every turn. */
bool life_ensure_alone(struct life *l, enum life_decision *d);

/* Writes the id of an order, OPERATION/BOOT/NAME, to out. */
#define LIFE_ORDER_ID 128
void life_order_id(const struct life *l, const char *name, char out[static LIFE_ORDER_ID]);

/* Gives the agent the order *o and returns the agent's final report; NULL: the order is in
 * progress. name: name of the order, such as "inspect". It contains the claim ("CLAIM/check") if
 * one boot gets the same order for several claims. Sets o->id. */
const struct proto_report *life_order(struct life *l, struct proto_order *o, const char *name);

/* True if nothing is left of the agent: power off, medium ejected, boot override and HTTP boot URL
 * cleared, all read back. Otherwise starts the next of these steps and returns false. Before the
 * first step, marks the agent as dismissed in status. This tells a later leader that all orders are
 * done and that it need not wait for the agent. */
bool life_ensure_agent_gone(struct life *l);

/* True unless the machine is off and status.power.httpBoot names an earlier boot. In that case
 * starts to clear the field, and returns false until the field is cleared. */
bool life_ensure_boot_ended(struct life *l);

/* True if the port may be moved for the agent: the Provider has no fabric, or the machine is off,
 * runs drover's boot medium, or has its port proved in one of drover's own segments. Otherwise
 * waits and returns false, because status restored from a backup may be older than a tenant that
 * still runs on the machine. */
bool life_ensure_movable(struct life *l);

/* Checks an HTTP boot that status or the BMC shows but this process did not start: in which segment
 * the port is, and whether a tenant's Node may run on the machine. Sets l->boot.by_http if the boot
 * is drover's. True if there is nothing to check, or the check is done; false while it waits for
 * the fabric. */
bool life_ensure_boot_followed(struct life *l);
/* True if status.agent shows that the agent was dismissed. */
bool life_agent_dismissed(const struct life *l);

/* Returns the reason that the agent reported for its failed order. Returns `otherwise` if drover
 * does not know that reason. */
enum reason agent_reason(const struct proto_report *r, enum reason otherwise);

#endif
