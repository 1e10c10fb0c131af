#ifndef CONTROLLER_CLAIMS_AVOIDED_H
#define CONTROLLER_CLAIMS_AVOIDED_H

#include "controller/core/context.h"

/*
 * avoided: machines that did not accept the claim made for them. Such a machine is not offered for
 * 10 min, then 20 min, up to 160 min. A machine that accepts a claim is removed from the list.
 *
 * Kept in this process only. NOTICE_OFFER is sent when a machine begins or ends to be avoided.
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
