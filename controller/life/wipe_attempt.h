#ifndef CONTROLLER_LIFE_WIPE_ATTEMPT_H
#define CONTROLLER_LIFE_WIPE_ATTEMPT_H

#include "controller/life/journal.h"
#include "wipe/evidence.h"

/*
 * wipe_attempt: creates one WipeRecord for each attempt to wipe, failed ones included.
 * Tests: tests/world/test_evidence.c
 */

/* Returns the digest of the len bytes at data as text, "sha256:...", allocated in a. */
const char *life_digest(struct arena *a, const void *data, size_t len);
/* Writes the nonce of a wipe to out. Canaries (known patterns on the drives) and sample positions
 * are derived from it. Every leader derives the same nonce for one boot of one operation. */
void life_wipe_nonce(const struct life *l, const char *operation, int64_t boot,
		     char out[static 65]);
/* Returns status.wipeAttempt for the next attempt (its number, the name of its record, the previous
 * record), as a new reference that the caller owns. NULL: the API server is being asked whether the
 * number is free. */
json_t *life_attempt_begin(struct life *l, const char *nonce_digest);
/* Fills *ev with what drover knows of the attempt. The agent adds its results and signs. */
void life_attempt_brief(const struct life *l, struct evidence *ev, struct arena *a);
/* Returns the parts other than drives that must be covered by the wipe according to the Provider,
 * or to a NodePool that uses the Provider. The agent skips other parts, because each takes time. */
struct strings life_attempt_parts(const struct life *l, struct arena *a);
/* Returns the record of the current attempt; NULL: not created yet. */
const struct wipe_record *life_attempt_record(const struct life *l);
/* Checks that the agent's envelope (signed evidence) matches *want, which the agent was given. Then
 * countersigns the envelope and creates the WipeRecord, whatever the verdict. Quarantines the
 * machine on a mismatch. */
enum life_decision life_attempt_keep(struct life *l, const char *envelope,
				     const struct evidence *want);
/* True if no wipe attempt lacks its record, or the step may continue without the record. An attempt
 * that ended without the agent's evidence gets a record signed by drover alone. False: the step
 * must wait. */
bool life_ensure_attempt_settled(struct life *l);

#endif
