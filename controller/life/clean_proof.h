#ifndef CONTROLLER_LIFE_CLEAN_PROOF_H
#define CONTROLLER_LIFE_CLEAN_PROOF_H

#include "controller/life/life.h"

/*
 * clean_proof: decides whether this machine is proved clean for its Provider and for a claim (S1).
 * Tests: tests/world/test_evidence.c
 */

/* Returns 0 if a valid WipeRecord of the present tenancy exists: both signatures are valid, the
 * displayed fields equal the signed ones, every expected drive reached the minimum level of its
 * medium, and the agent trust meets the floor of the Provider and of the claim (floor; NULL: none).
 * Returns -1 and says in e what is missing. */
int life_clean(const struct life *l, const struct object_wipe_floor *floor, struct err *e);
/* Returns the newest record of this machine's present tenancy; NULL: none. */
const struct wipe_record *life_record(const struct life *l);
/* True if the key in Secret drover-evidence-key can be used. Otherwise the machine waits with
 * reason EvidenceKeyMissing. */
bool life_ensure_signable(struct life *l);

#endif
