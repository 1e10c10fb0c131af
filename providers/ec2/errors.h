#ifndef PROVIDERS_EC2_ERRORS_H
#define PROVIDERS_EC2_ERRORS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"

/*
 * errors: translates error codes of EC2 and STS to kind, scope and retry time. Pure functions.
 *
 * A code that is not in the table is judged by the HTTP status: 5xx and 429 are failures of the
 * service, other 4xx are errors of the request. If the service fails (5xx) during a call that
 * changes something, it is unknown whether the call was carried out, so the error is ERR_TIMEOUT.
 *
 * The clock is checked before the code: if a signature is refused while the Date of the reply
 * differs from this host's clock by more than EC2_SKEW_MS, the clock counts as the cause. The
 * error is then ERR_UNAVAILABLE (scope ERR_PROVIDER), not a refusal of the credentials.
 * Tests: tests/unit/providers/ec2/test_errors.c
 */
#define EC2_SKEW_MS 240000 /* AWS accepts a difference of five minutes */

struct ec2_failure {
	int status;
	/* Code and text of the error in the reply's body; code NULL: the body contains no error */
	const char *code, *message;
	/* Retry time from the reply's header, in ms; 0: no such header */
	uint32_t retry_after_ms;
	/* True: the failed call changes something in the cloud */
	bool changes;
	/* Cloud's clock minus the clock with which the call was signed, in ms; 0: unknown. */
	int64_t skew_ms;
};
int ec2_error(const struct ec2_failure *f, struct err *e) __attribute__((warn_unused_result));

/* True if the call was denied because this host's clock and the cloud's clock differ. */
bool ec2_is_of_clock(const struct ec2_failure *f);

/* True if the error code means that the credentials have expired and must be renewed. */
bool ec2_is_expired(const char *code);

#endif
