#ifndef CONTROLLER_LIFE_IDENTITY_H
#define CONTROLLER_LIFE_IDENTITY_H

#include "controller/life/life.h"

/*
 * identity: checks that the BMC reports the identity of the approved machine.
 * Tests: tests/world/test_identity.c
 */

/* Returns 0 if the identity last reported by the BMC equals spec.identity; otherwise -1 with the
 * errors of identity_bmc() (rules/identity.h). */
int life_identity(const struct life *l, struct err *e);

/* True if the BMC reported the identity of a different machine; e then names the difference. False
 * if the BMC reports no identity. */
bool life_identity_differs(const struct life *l, struct err *e);

/* Returns the system UUID by which to search for the machine: as reported by the BMC, or
 * spec.identity if the BMC does not report one. "": unknown. */
const char *life_uuid(const struct life *l);

#endif
