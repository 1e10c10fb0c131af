#ifndef PROVIDERS_EC2_ERRORS_H
#define PROVIDERS_EC2_ERRORS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"

/*
 * errors: what a code of EC2's or STS's means: kind, scope, and when to ask again. Pure.
 *
 * A code that has no row is judged by its form and the status: Invalid... and other 4xx are of the
 * request, 5xx of the service. A failure of the service while it was told to change something tells
 * nothing of whether it did: ERR_TIMEOUT then.
 *
 * Clocks come first: a signature that is refused while the Date of the answer is more than
 * EC2_SKEW_MS from ours is refused for that, and no credential is blamed (ERR_UNAVAILABLE, scope
 * ERR_PROVIDER).
 * Tests: tests/unit/providers/ec2/test_errors.c
 */
#define EC2_SKEW_MS 240000 /* AWS takes five minutes */

struct ec2_failure {
	int status;
	/* code NULL: the body had none */
	const char *code, *message;
	/* from the header; 0: none */
	uint32_t retry_after_ms;
	/* of a call that changes something */
	bool changes;
	/* the cloud's clock less the one that was signed by; 0: not known */
	int64_t skew_ms;
};
int ec2_error(const struct ec2_failure *f, struct err *e) __attribute__((warn_unused_result));

/* It is the clock that this is of. */
bool ec2_is_of_clock(const struct ec2_failure *f);

/* The credentials themselves have ended: others are to be got. */
bool ec2_is_expired(const char *code);

#endif
