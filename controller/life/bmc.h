#ifndef CONTROLLER_LIFE_BMC_H
#define CONTROLLER_LIFE_BMC_H

#include "controller/life/life.h"

/*
 * bmc: reads the BMC, and proves by two reads that the machine is off.
 * Tests: tests/world/test_leave.c, tests/unit/controller/life/test_conditions.c
 */

/* A look at the BMC that is newer than the last act and max_age_ms; false: one is on its way. */
bool life_seen(struct life *l, int64_t max_age_ms);

/* Off, proved: two reads that say so, settle_ms apart, with no other answer between them, of one
 * identity, both later than the last power request. */
bool life_off_proved(struct life *l);

#endif
