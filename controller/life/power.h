#ifndef CONTROLLER_LIFE_POWER_H
#define CONTROLLER_LIFE_POWER_H

#include "controller/life/act.h"
#include "controller/life/life.h"
#include "providers/provider.h"

/*
 * power: switches the machine through its BMC, and accepts an operator's confirmation of off where
 * the BMC cannot be read.
 * Tests: tests/world/test_bmc.c, tests/world/test_verbs.c
 */

/* True if an operator confirmed that the machine is off in this operation (annotation
 * REQUEST_CONFIRM_OFF), and status.power.confirmedBy records the confirmation. The confirmation
 * replaces reads of the BMC, but never overrules a BMC that reports On. Such a BMC voids the
 * confirmation: the operation gets a new id. Writes status.power.confirmedBy and an event, once.
 * Reads the BMC itself. */
bool life_ensure_off_confirmed(struct life *l);

/* Switches the machine on or off through the BMC. A power-on first waits for the machine's turn
 * (life/power_turn.h). Does nothing while an act is in flight. */
void life_power(struct life *l, bool on);

/* life_bmc_act() works like life_act(), for an act at the BMC. It also checks that the BMC may be
 * contacted and that no request of an earlier leader is in flight there.
 *
 * life_bmc_call() returns the provider_call for the act. The call reads the BMC itself and acts
 * only on the approved machine.
 *
 * life_bmc_acted() is the done() of that call, and ends the act. life: call.arg. */
enum life_turn life_bmc_act(struct life *l, const char *step, enum life_class cls,
			    int64_t patience_ms);
struct provider_call life_bmc_call(struct life *l);
void life_bmc_acted(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *life);

#endif
