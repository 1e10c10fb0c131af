#ifndef CONTROLLER_STEPS_ELASTIC_H
#define CONTROLLER_STEPS_ELASTIC_H

#include "controller/life/journal.h"

/*
 * elastic: the states of a cloud instance, that is, of a Machine that drover created for one claim
 * at an elastic Provider.
 *
 *   claimed -> booting -> joining -> gating -> serving -> draining -> stopping -> leaving -> gone
 *   launch     Running    as for every machine                       terminated   Node, claim
 *
 * Before a launch is sent, status.instance contains the token of the launch, and a list of the
 * cloud has shown no instance of the claim. After a lost reply the list is read again, and the
 * launch is repeated with the same token. A launch with the next offer gets a new token. It is sent
 * only when an instance of an earlier launch, whose result is unknown, would be in the list by now.
 * Tests: tests/world/test_elastic.c
 */
enum life_decision elastic_step(struct life *l);
/* Forgets what was observed of the instance. Call when another replica leads or the Provider is
 * detached. */
void elastic_forget(struct life *l);
/* Writes how the cloud's last list shows the instance, as text for the operator. */
void elastic_seen(const struct life *l, char *text, size_t size);

#endif
