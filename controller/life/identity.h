#ifndef CONTROLLER_LIFE_IDENTITY_H
#define CONTROLLER_LIFE_IDENTITY_H

#include "controller/life/life.h"

/*
 * identity: does the BMC identify its machine as the one that was approved?
 * Tests: tests/world/test_identity.c
 */

/* What the BMC says it is equals spec.identity; -1: ERR_CONFLICT (another machine), ERR_NOT_FOUND (not approved). */
int life_identity(const struct life *l, struct err *e);

#endif
