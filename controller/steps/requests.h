#ifndef CONTROLLER_STEPS_REQUESTS_H
#define CONTROLLER_STEPS_REQUESTS_H

#include "controller/life/journal.h"

/*
 * requests: what a person asks of drover by an annotation; the verbs of the
 * command line write nothing else, and kubectl annotate does the same.
 *
 * A value is acted on once: it is compared with what status says was acted on
 * last, so any new value (the verbs write the time) is a new request.  Values longer than
 * 253 bytes are ignored.
 * Tests: tests/world/test_verbs.c
 */

/* REQUEST_RETRY was acted on, if anybody asked.  False: that was started, or decided (*d). */
bool request_ensure_retried(struct life *l, enum life_decision *d);

/* What is to become of a machine that serves nobody: DRAIN_RELEASE (nothing), DRAIN_QUARANTINE or
 * DRAIN_RETIRE, by status.leave, by a Drain or by annotation; why goes to *text, "" when nobody
 * said. */
enum drain_then request_fate(const struct life *l, const char **text);

#endif
