#ifndef CONTROLLER_LIFE_TENANCY_H
#define CONTROLLER_LIFE_TENANCY_H

#include "controller/life/life.h"

/*
 * tenancy: finds the highest known tenancy of a machine (a number that grows with each tenant that
 * uses the machine), and whether status shows a lower one, as after the restore of a backup.
 * Tests: tests/unit/controller/life/test_tenancy.c, tests/world/test_restore.c,
 * tests/world/test_evidence.c
 */

/* True if WipeRecords or claims show a higher tenancy than status. A backup was then restored; call
 * life_begin_again(). */
bool life_outdated(const struct life *l);

/* Returns the highest tenancy of this machine: in its claims, in WipeRecords of its name or
 * identity, or seen in status by this process. */
int64_t life_tenancy_known(const struct life *l);

#endif
