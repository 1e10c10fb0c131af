#ifndef CONTROLLER_LIFE_POWER_H
#define CONTROLLER_LIFE_POWER_H

#include "controller/life/act.h"
#include "controller/life/life.h"

/*
 * power: switches the machine through its BMC, and accepts an operator's confirmation of off where
 * the BMC cannot be read.
 * Tests: tests/world/test_bmc.c, tests/world/test_verbs.c
 */

/* True if an operator confirmed that the machine is off for this operation (annotation
 * REQUEST_CONFIRM_OFF). The confirmation replaces reads of the BMC, but never contradicts a BMC
 * that reports On: that voids it, and the operation gets a new id. Writes status.power.confirmedBy
 * and an event, once. Reads the BMC itself. False: not confirmed, or not written yet. */
bool life_ensure_off_confirmed(struct life *l);

/* Switches the machine on or off through the BMC; power-on waits for its turn (life/power_turn.h).
 * Does nothing while an act is in flight. */
void life_power(struct life *l, bool on);

/* For acts at the BMC. life_bmc_act(): life_act() with the checks for a BMC. life_bmc_call(): the
 * provider_call for the act; the call reads the BMC itself and acts only on the approved machine.
 * life_bmc_acted(): its done(); life is call.arg. */
enum life_turn life_bmc_act(struct life *l, const char *step, enum life_class cls,
			    int64_t patience_ms);
struct provider_call life_bmc_call(struct life *l);
void life_bmc_acted(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *life);

#endif
