#ifndef CONTROLLER_LIFE_IDENTITY_H
#define CONTROLLER_LIFE_IDENTITY_H

#include "controller/life/life.h"

/*
 * identity: does the BMC identify its machine as the one that was approved?
 * Tests: tests/world/test_identity.c
 */

/* What the BMC said last that it is equals spec.identity; -1: as identity_bmc()
 * (rules/identity.h). */
int life_identity(const struct life *l, struct err *e);

/* It said that it is another one, which is more than that it did not say. */
bool life_is_another(const struct life *l, struct err *e);

/* The system UUID to look for the machine by: what the BMC said, or where it withholds it,
 * spec.identity. "": none. */
const char *life_uuid(const struct life *l);

#endif
