#ifndef CONTROLLER_CLAIMS_AVOIDED_H
#define CONTROLLER_CLAIMS_AVOIDED_H

#include "controller/core/context.h"

/*
 * avoided: machines that did not take the claim that was made for them.  They are not offered for 10
 * minutes, then 20, up to 2 hours; one that takes a claim is as good as any again.
 *
 * Remembered by this process alone.  NOTICE_OFFER tells when one begins or ends to be avoided.
 * Tests: tests/unit/controller/claims/test_provisioner.c, tests/unit/controller/claims/test_claims.c
 */
struct avoided;
struct avoided *avoided_new(struct context *c);
void avoided_free(struct avoided *a);

void avoided_add(struct avoided *a, const char *machine);
void avoided_forget(struct avoided *a, const char *machine);
bool avoided_is(const struct avoided *a, const char *machine);

#endif
