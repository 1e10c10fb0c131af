#ifndef CONTROLLER_STEPS_REQUESTS_H
#define CONTROLLER_STEPS_REQUESTS_H

#include "controller/life/life.h"

/*
 * requests: what a person asks of drover by an annotation; the verbs of the
 * command line write nothing else, and kubectl annotate does the same.
 *
 * A value is acted on once: it is compared with what status says was acted on
 * last, so any new value (the verbs write the time) is a new request.  Values longer than
 * 253 bytes are nobody's.
 * Tests: tests/world/test_verbs.c
 */

/* On a Machine.  Try again now: back-off and quarantine of exit auto end, a refused login is tried once
 * more.  Done when status.requests.retry is the value. */
#define REQUEST_RETRY "drover.dev/retry"
/* On a Machine.  End a hold: the Node is uncordoned, and a Drain that holds it is let go of; or let a machine that
 * a person put in quarantine go on (it is wiped again).  Done when status.requests.release is the value. */
#define REQUEST_RELEASE "drover.dev/release"
/* On a Machine.  A person saw that it is off: stands in for reads of a dead BMC.  The value is
 * status.operation.id, so that it counts for this operation alone. */
#define REQUEST_CONFIRM_OFF "drover.dev/confirm-off"
/* On a Machine.  Out of use as soon as no tenant is on it, with the value as the reason, until it is
 * removed (`drover release`).  A Drain with then: Quarantine writes it when its machine is free. */
#define REQUEST_QUARANTINE "drover.dev/quarantine"
/* On a NodePool or Provider.  The line stopped for the wrong reason or the cause is gone: claims go on (claims/stop_line.h).
 * The value is the time, RFC 3339: failures before it do not count. */
#define REQUEST_RESUME "drover.dev/resume"

/* The value of that annotation when it is not the one acted on last, or NULL. */
const char *request_new(const struct machine *m, const char *key, const char *acted_on);

/* Acts on REQUEST_RETRY; true: something was written. */
bool request_retry(struct life *l);
/* Another Machine has its identity or its BMC: says so (life_wait) and gives true. */
bool request_is_double(struct life *l);

/* What is to become of a machine that serves nobody: DRAIN_RELEASE (nothing), DRAIN_QUARANTINE or DRAIN_RETIRE, by
 * status.leave, by a Drain or by annotation; why goes to *text, "" when nobody said. */
enum drain_then request_fate(const struct life *l, const char **text);
/* The planner must not count on it. */
bool request_not_offered(const struct controller *c, const struct machine *m);
/* Write an annotation, or take it away (value NULL). */
void request_annotate(struct life *l, const char *key, const char *value);

#endif
