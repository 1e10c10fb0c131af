#ifndef CONTROLLER_LIFE_BMC_FACTS_H
#define CONTROLLER_LIFE_BMC_FACTS_H

#include "controller/life/life.h"

/*
 * bmc_facts: what is known of a machine's BMC goes into status.bmc, for people: make, firmware,
 * quirks in force, the way of boot media, login, latency, requests of a trip. Nothing is decided by
 * these. That it does not list its drives is there too, and listing.h does not ask for them then.
 * Tests: tests/world/test_bmc_facts.c
 */

/* Members of status.bmc that are others now (given to the caller), or NULL. A latency alone is news
 * when it is another by a quarter, and then once in 10 min at most; as the same news are given
 * again, should they not have been kept. */
json_t *life_bmc_news(struct life *l);
/* A patch of status with what l->listing says of the BMC itself, or NULL: that is written already,
 * or it says nothing. */
json_t *life_bmc_unlisted(const struct life *l);
/* Those members, as null: it is another BMC from now on.  bmc: a patch of status.bmc. */
void life_bmc_unknown(json_t *bmc);
/* Its state becomes `to`, which `status` says: a trip begins, or ends and is counted. */
void life_bmc_trip(struct life *l, enum machine_state to, json_t *status);
/* Before it is detached. */
void life_bmc_left(struct life *l);
/* The life is over. */
void life_bmc_facts_done(struct life *l);
/* Another replica may lead: the trip is not seen whole. */
void life_bmc_trip_lost(struct life *l);

#endif
