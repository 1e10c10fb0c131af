#ifndef CONTROLLER_LIFE_POWER_H
#define CONTROLLER_LIFE_POWER_H

#include "controller/life/act.h"
#include "controller/life/life.h"

/*
 * power: switches the machine through its BMC, and takes a person's word where the BMC cannot be
 * read.
 * Tests: tests/world/test_bmc.c, tests/world/test_verbs.c
 */

/* A person saw it off (REQUEST_CONFIRM_OFF names this operation): stands in for reads, never
 * against a BMC that answers On. Writes who is believed into status.power.confirmedBy and an event,
 * once; a BMC that answers On voids it: the operation gets a new id. Looks at the BMC itself;
 * false: not confirmed, or not written yet. */
bool life_ensure_off_confirmed(struct life *l);

/* Switch it on or off through the BMC; power-on waits for its turn (life/power_turn.h). Does
 * nothing while a request is out. */
void life_power(struct life *l, bool on);

/* For acts at the BMC: may this one go out, the call for it (which looks itself, and acts on no
 * other machine than the one that was approved), and what its done() passes on (life: call.arg). */
enum life_turn life_bmc_act(struct life *l, const char *step, enum life_class cls,
			    int64_t patience_ms);
struct provider_call life_bmc_call(struct life *l);
void life_bmc_acted(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *life);

#endif
