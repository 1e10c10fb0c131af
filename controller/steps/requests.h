#ifndef CONTROLLER_STEPS_REQUESTS_H
#define CONTROLLER_STEPS_REQUESTS_H

#include "controller/life/journal.h"

/*
 * requests: requests of an operator to drover by annotation. The verbs of the command line only
 * write these annotations; kubectl annotate works as well.
 *
 * A value is acted on once: it is compared with the last value acted on, in status, so that each
 * new value (the verbs write the time) is a new request. Values longer than 253 bytes are ignored.
 * Tests: tests/world/test_verbs.c
 */

/* True if there is no new REQUEST_RETRY. Otherwise acts on it and returns false; *d is the
 * decision, if any. */
bool request_ensure_retried(struct life *l, enum life_decision *d);

/* Returns what becomes of a machine that serves nobody: DRAIN_RELEASE (nothing),
 * DRAIN_QUARANTINE or DRAIN_RETIRE, as set by status.leave, a Drain or an annotation. *text:
 * why, "" if not given. */
enum drain_then request_fate(const struct life *l, const char **text);

#endif
