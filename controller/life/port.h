#ifndef CONTROLLER_LIFE_PORT_H
#define CONTROLLER_LIFE_PORT_H

#include "controller/life/life.h"

/*
 * port: where the machine's port is, and moving it.
 * Tests: tests/world/test_leave.c, tests/world/test_restore.c
 */

/* There is a look at the fabric that was begun after the last act and is not older than max_age_ms;
 * as of the BMC, that of one which the state wanted counts from its answer. False: one is on its
 * way. */
bool life_ensure_port_looked(struct life *l, int64_t max_age_ms);

/* In that segment, proved as far as the fabric can; starts what is missing. */
bool life_ensure_placed(struct life *l, const char *segment);

/* Its state is another: looks that it wanted before are not what it wants now. */
void life_place_over(struct life *l);
/* At the last look it was in a segment of a tenant, proved or not. */
bool life_in_tenants_segment(const struct life *l);
/* ... in one of our own two segments, where no tenant is, and that is proved. */
bool life_kept_apart(const struct life *l);

/* What was seen: it is looked at again. */
void life_place_forget(struct life *l);
/* ... and what is on its way: the fabric is gone. */
void life_place_drop(struct life *l);

#endif
