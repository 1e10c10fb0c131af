#ifndef CONTROLLER_LIFE_CLEAN_PROOF_H
#define CONTROLLER_LIFE_CLEAN_PROOF_H

#include "controller/life/life.h"

/*
 * life_wipe: judging evidence.  Is this machine clean, for its Provider and
 * for this claim?  (S1)  And keeping it: one record for each attempt (life/wipe_attempt.c).
 * Tests: tests/world/test_evidence.c, tests/unit/controller/rules/test_wipe_judge.c
 */

/* A valid WipeRecord of the present tenancy stands: both signatures good, the shown fields are the signed
 * ones, every expected drive at its medium's minimum level, agent trust at the floor of the
 * Provider and (floor not NULL) of the claim.  -1 says what is missing. */
int life_clean(const struct life *l, const struct object_wipe_floor *floor, struct err *e);
/* The newest record of this machine's present tenancy; NULL: none. */
const struct wipe_record *life_record(const struct life *l);
/* The highest tenancy that any record, any claim or this process knows of for this machine or its system UUID. */
int64_t life_tenancy_known(const struct life *l);
/* drover-evidence-key can be used.  False: the machine waits, and says so. */
bool life_can_sign(struct life *l);

/* "sha256:..." of these bytes. */
const char *life_digest(struct arena *a, const void *data, size_t len);
/* status.wipeAttempt for the next attempt: its number, its record's name, the record before.
 * NULL: the API is being asked whether the number is free. */
json_t *life_attempt_begin(struct life *l, const char *nonce_digest);
/* What drover knows of the attempt and the agent signs with the rest. */
void life_attempt_brief(const struct life *l, struct evidence *ev);
/* The record of the attempt that is under way; NULL: there is none yet. */
const struct wipe_record *life_attempt_record(const struct life *l);
/* Countersign what the agent signed, and keep it whatever the verdict; it must be as it was briefed. */
void life_attempt_keep(struct life *l, const char *envelope, const struct evidence *want);
/* An attempt that ended without the agent's word gets a record of drover's alone.  True: the step has to wait. */
bool life_attempt_settle(struct life *l);

#endif
