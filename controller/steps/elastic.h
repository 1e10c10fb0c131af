#ifndef CONTROLLER_STEPS_ELASTIC_H
#define CONTROLLER_STEPS_ELASTIC_H

#include "controller/life/journal.h"

/*
 * elastic: the states of a Machine that drover made for one claim, of an elastic Provider (class
 * E).
 *
 *   claimed -> booting -> joining -> gating -> serving -> draining -> stopping -> leaving -> gone
 *   launch     Running    as every machine                             ended, seen gone   Node, claim
 *
 * Before a launch goes out status.instance names its token, and a list says that nothing of the
 * claim is there. A lost reply is followed by another list and the same token; the next offer by
 * another one, once no list shows anything of a launch whose end was not known.
 * Tests: tests/world/test_elastic.c
 */
enum life_decision elastic_step(struct life *l);
/* Another leads, or its provider is another: what was heard is worth nothing. */
void elastic_forget(struct life *l);

#endif
