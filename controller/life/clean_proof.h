#ifndef CONTROLLER_LIFE_CLEAN_PROOF_H
#define CONTROLLER_LIFE_CLEAN_PROOF_H

#include "controller/life/life.h"

/*
 * clean_proof: decides whether this machine is proved clean for its Provider and for a claim
 * (safety invariant S1 of docs/architecture.md).
 * Tests: tests/world/test_evidence.c
 */

/* Returns 0 if a valid WipeRecord of the present tenancy proves the machine clean: both
 * signatures are valid, the displayed fields equal the signed ones, every expected drive reached
 * the minimum level of its medium, and the trust in the agent meets the floor of the Provider
 * and of the claim. Otherwise returns -1, and e names what is missing. floor: requirements of
 * the claim; NULL: none. */
int life_clean(const struct life *l, const struct object_wipe_floor *floor, struct err *e);
/* Returns the newest WipeRecord of this machine's present tenancy; NULL: none. */
const struct wipe_record *life_record(const struct life *l);
/* True if the key in Secret drover-evidence-key can sign WipeRecords. Otherwise the machine waits
 * with reason EvidenceKeyMissing. */
bool life_ensure_signable(struct life *l);

#endif
