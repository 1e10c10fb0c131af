#ifndef CONTROLLER_STEPS_REQUESTS_H
#define CONTROLLER_STEPS_REQUESTS_H

#include "controller/life/life.h"

/*
 * requests: what a person asks of drover by an annotation; the verbs of the
 * command line write nothing else, and kubectl annotate does the same.
 *
 * A value is acted on once: it is compared with what status says was acted on
 * last, so any new value (the verbs write the time) is a new request.  Values longer than
 * 253 bytes are ignored.
 * Tests: tests/world/test_verbs.c
 */

/* Acts on REQUEST_RETRY; true: something was written. */
bool request_retry(struct life *l);

/* What is to become of a machine that serves nobody: DRAIN_RELEASE (nothing), DRAIN_QUARANTINE or DRAIN_RETIRE, by
 * status.leave, by a Drain or by annotation; why goes to *text, "" when nobody said. */
enum drain_then request_fate(const struct life *l, const char **text);
/* Write an annotation, or take it away (value NULL). */
void request_annotate(struct life *l, const char *key, const char *value);

#endif
