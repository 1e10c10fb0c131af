#ifndef CONTROLLER_LIFE_BMC_H
#define CONTROLLER_LIFE_BMC_H

#include "controller/life/life.h"

/*
 * bmc: reads the BMC, and proves by two reads that the machine is off.
 * Tests: tests/world/test_leave.c, tests/unit/controller/life/test_conditions.c
 */

/* There is a look at the BMC that is newer than the last act and than max_age_ms.  False: one is on its way. */
bool life_ensure_looked(struct life *l, int64_t max_age_ms);

/* Off, proved: two reads that say so, settle_ms apart, with no other answer between them, of one
 * identity, both later than the last power request. */
bool life_ensure_off_proved(struct life *l);

#endif
