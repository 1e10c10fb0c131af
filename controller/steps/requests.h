#ifndef CONTROLLER_STEPS_REQUESTS_H
#define CONTROLLER_STEPS_REQUESTS_H

#include "controller/life/journal.h"

/*
 * requests: requests of an operator to drover by annotation. The verbs of the command line only
 * write these annotations; kubectl annotate works as well.
 *
 * Each value is acted on once. Status stores the last value that drover acted on, so each new value
 * is a new request; the verbs write the time as the value. Values longer than 253 bytes are
 * ignored.
 * Tests: tests/world/test_verbs.c
 */

/* True if there is no new request for a retry (annotation REQUEST_RETRY), or if the machine is
 * paused, so that the request must wait. Otherwise acts on the request and returns false; *d is the
 * change of state, if the retry needs one. */
bool request_ensure_retried(struct life *l, enum life_decision *d);

/* Returns what happens to a machine once it serves no tenant: DRAIN_RELEASE (nothing special),
 * DRAIN_QUARANTINE or DRAIN_RETIRE. The answer comes from status.leave, a Drain or an annotation.
 * *text: the reason; "" if none is given. */
enum drain_then request_end_state(const struct life *l, const char **text);

#endif
