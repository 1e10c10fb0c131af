#ifndef CONTROLLER_LIFE_TENANCY_H
#define CONTROLLER_LIFE_TENANCY_H

#include "controller/life/life.h"

/*
 * tenancy: the highest tenancy that is known of a machine, and whether its status is older than
 * that (a restored backup).
 * Tests: tests/world/test_restore.c, tests/world/test_evidence.c
 */

/* Records or claims tell of a later tenancy than status does: a backup was put back
 * (life_begin_again()). */
bool life_outdated(const struct life *l);

/* The highest tenancy that any record, any claim or this process knows of for this machine or its
 * system UUID. */
int64_t life_tenancy_known(const struct life *l);

#endif
