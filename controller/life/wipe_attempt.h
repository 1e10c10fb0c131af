#ifndef CONTROLLER_LIFE_WIPE_ATTEMPT_H
#define CONTROLLER_LIFE_WIPE_ATTEMPT_H

#include "controller/life/journal.h"
#include "wipe/evidence.h"

/*
 * wipe_attempt: creates one WipeRecord for each attempt to wipe, failed ones included.
 * Tests: tests/world/test_evidence.c
 */

/* Returns "sha256:..." of these bytes, in the arena. */
const char *life_digest(struct arena *a, const void *data, size_t len);
/* Writes the nonce from which canaries and sample positions are derived. Every leader derives the
 * same nonce for one boot of one operation. */
void life_wipe_nonce(const struct life *l, const char *operation, int64_t boot,
		     char out[static 65]);
/* Returns status.wipeAttempt for the next attempt: its number, the name of its record, the previous
 * record. NULL while the API server is asked whether the number is free. The caller owns the
 * reference. */
json_t *life_attempt_begin(struct life *l, const char *nonce_digest);
/* Fills ev with what drover knows of the attempt; the agent signs it with the rest. */
void life_attempt_brief(const struct life *l, struct evidence *ev, struct arena *a);
/* Returns the parts other than drives that a policy wants covered (of its Provider, or of a
 * NodePool that uses the Provider). Other parts are not done, because they take time. */
struct strings life_attempt_parts(const struct life *l, struct arena *a);
/* Returns the record of the current attempt; NULL: not created yet. */
const struct wipe_record *life_attempt_record(const struct life *l);
/* Checks that the agent's envelope matches what it was briefed with (want), countersigns it and
 * creates the WipeRecord, whatever the verdict. Quarantines on a mismatch. */
enum life_decision life_attempt_keep(struct life *l, const char *envelope,
				     const struct evidence *want);
/* True if no attempt lacks its record. An attempt that ended without the agent's evidence gets a
 * record signed by drover alone. False: the step must wait. */
bool life_ensure_attempt_settled(struct life *l);

#endif
