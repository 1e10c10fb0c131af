#ifndef CONTROLLER_LIFE_WIPE_ATTEMPT_H
#define CONTROLLER_LIFE_WIPE_ATTEMPT_H

#include "controller/life/journal.h"
#include "wipe/evidence.h"

/*
 * wipe_attempt: one WipeRecord for each attempt to wipe, failed ones too.
 * Tests: tests/world/test_evidence.c
 */

/* "sha256:..." of these bytes. */
const char *life_digest(struct arena *a, const void *data, size_t len);
/* Canaries and places are derived from it; any leader derives the same for one boot of one
 * operation. */
void life_wipe_nonce(const struct life *l, const char *operation, int64_t boot,
		     char out[static 65]);
/* status.wipeAttempt for the next attempt: its number, its record's name, the record before.
 * NULL: the API is being asked whether the number is free. */
json_t *life_attempt_begin(struct life *l, const char *nonce_digest);
/* What drover knows of the attempt and the agent signs with the rest. */
void life_attempt_brief(const struct life *l, struct evidence *ev, struct arena *a);
/* The parts beside the drives that a policy wants covered: of its Provider, or of a NodePool that
 * takes machines of it. No other is done, as they take their time. */
struct strings life_attempt_parts(const struct life *l, struct arena *a);
/* The record of the attempt that is under way; NULL: there is none yet. */
const struct wipe_record *life_attempt_record(const struct life *l);
/* Countersign what the agent signed, and keep it whatever the verdict; it must be as it was
 * briefed. */
enum life_decision life_attempt_keep(struct life *l, const char *envelope,
				     const struct evidence *want);
/* No attempt is left without its record: one that ended without the agent's word gets a record of
 * drover's alone. False: the step has to wait. */
bool life_ensure_attempt_settled(struct life *l);

#endif
