#ifndef CONTROLLER_LIFE_TENANCY_H
#define CONTROLLER_LIFE_TENANCY_H

#include "controller/life/life.h"

/*
 * tenancy: the highest tenancy that is known of a machine, and whether its status is older than that (a
 * restored backup).
 * Tests: tests/world/test_restore.c, tests/world/test_evidence.c
 */

/* Records or claims tell of a later tenancy than status does: a backup was put back.  True: it begins again, as known. */
bool life_outdated(struct life *l);

/* Known, in a tenancy past every one that is known of: what it held is not clean.  why: for the log. */
void life_begin(struct life *l, const char *why);

/* The highest tenancy that any record, any claim or this process knows of for this machine or its system UUID. */
int64_t life_tenancy_known(const struct life *l);

#endif
