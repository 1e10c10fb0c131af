#ifndef CONTROLLER_LIFE_BMC_FACTS_H
#define CONTROLLER_LIFE_BMC_FACTS_H

#include "controller/life/life.h"

/*
 * bmc_facts: writes facts about the machine's BMC to status.bmc, for humans: make, firmware, quirks
 * (differences of the BMC model from the standard), boot medium, login method, latency, and
 * requests per trip (from leaving state free until the return to it). These facts affect no
 * decision, with one exception: a BMC that does not list its drives (drivesNotListed) is not asked
 * for the list again for a while (listing.h).
 * Tests: tests/world/test_bmc_facts.c
 */

/* Returns the members of status.bmc that changed, as a new reference that the caller owns; NULL: no
 * change. A latency counts as changed if it differs by a quarter or more. A change of the latency
 * alone is returned at most once in 10 min. Changes that were not stored are returned again after
 * 10 min. */
json_t *life_bmc_changes(struct life *l);
/* Returns a patch of status that records whether the BMC lists its drives (from l->listing), or
 * NULL if status is up to date or nothing is known. */
json_t *life_bmc_unlisted(const struct life *l);
/* Sets all fact members in `bmc`, a patch of status.bmc, to null. Call when the machine gets a
 * different BMC. */
void life_bmc_unknown(json_t *bmc);
/* Counts BMC requests by trip; call at each change of state (to: the new state). Leaving free
 * starts a trip. Returning to free ends the trip, and adds its number of BMC requests to the patch
 * `status`. */
void life_bmc_trip(struct life *l, enum machine_state to, json_t *status);
/* Adds the requests of the present attachment to l->facts.calls. Call before detaching from the
 * BMC. */
void life_bmc_left(struct life *l);
/* Frees the members of l->facts. */
void life_bmc_facts_done(struct life *l);
/* Drops the count of the present trip. Call when another replica may have led during a part of the
 * trip. */
void life_bmc_trip_lost(struct life *l);

#endif
