#ifndef CONTROLLER_CLAIMS_AVOIDED_H
#define CONTROLLER_CLAIMS_AVOIDED_H

#include "controller/core/context.h"

/*
 * avoided: list of machines that did not accept the claim made for them. The plan does not offer
 * such a machine for 10 min, after the next failure for 20 min, and so on up to 160 min.
 * avoided_add() adds a machine; avoided_forget() removes a machine that accepts claims again;
 * avoided_is() is true while the machine must not be offered.
 *
 * The list is kept in this process only. NOTICE_OFFER is sent when a machine is added and when its
 * time is over.
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
