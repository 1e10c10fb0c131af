#ifndef CONTROLLER_LIFE_TENANCY_H
#define CONTROLLER_LIFE_TENANCY_H

#include "controller/life/life.h"

/*
 * tenancy: finds the highest tenancy known of a machine, and whether status is older (a restored
 * backup).
 * Tests: tests/world/test_restore.c, tests/world/test_evidence.c
 */

/* True if records or claims show a later tenancy than status: a backup was restored
 * (life_begin_again()). */
bool life_outdated(const struct life *l);

/* Returns the highest tenancy that any record, claim or this process knows for this machine or its
 * system UUID. */
int64_t life_tenancy_known(const struct life *l);

#endif
