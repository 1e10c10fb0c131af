#ifndef CONTROLLER_CLAIMS_AVOIDED_H
#define CONTROLLER_CLAIMS_AVOIDED_H

#include "controller/core/context.h"

/*
 * avoided: machines that did not take the claim that was made for them. Such a machine is not
 * offered for 10 min, then 20 min, up to 2 h. One that takes a claim is forgotten here.
 *
 * Remembered by this process alone. NOTICE_OFFER tells when one begins or ends to be avoided.
 * Tests: tests/unit/controller/claims/test_provisioner.c,
 * tests/unit/controller/claims/test_claims.c
 */
struct avoided;
struct avoided *avoided_new(struct context *c);
void avoided_free(struct avoided *a);

void avoided_add(struct avoided *a, const char *machine);
void avoided_forget(struct avoided *a, const char *machine);
bool avoided_is(const struct avoided *a, const char *machine);

#endif
