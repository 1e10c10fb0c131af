#ifndef CONTROLLER_LIFE_CLEAN_PROOF_H
#define CONTROLLER_LIFE_CLEAN_PROOF_H

#include "controller/life/life.h"

/*
 * clean_proof: is this machine clean, for its Provider and for this claim?  (S1)
 * Tests: tests/world/test_evidence.c
 */

/* A valid WipeRecord of the present tenancy stands: both signatures good, the shown fields are the
 * signed ones, every expected drive at its medium's minimum level, agent trust at the floor of the
 * Provider and (floor not NULL) of the claim. -1 says what is missing. */
int life_clean(const struct life *l, const struct object_wipe_floor *floor, struct err *e);
/* The newest record of this machine's present tenancy; NULL: none. */
const struct wipe_record *life_record(const struct life *l);
/* drover-evidence-key can be used.  False: the machine waits, and says so. */
bool life_ensure_signable(struct life *l);

#endif
