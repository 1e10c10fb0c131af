#ifndef CONTROLLER_LIFE_BMC_REASON_H
#define CONTROLLER_LIFE_BMC_REASON_H

#include "api/reasons.h"
#include "base/err.h"

/*
 * bmc_reason: the closed list's name for an error of a BMC.
 * Tests: tests/unit/controller/life/test_bmc_reason.c
 */

/* The closed list's name for a BMC's error. */
enum reason life_bmc_reason(const struct err *e);
/* ... of this act: what was refused to a medium is told as such. */
enum reason life_act_reason(const char *step, const struct err *e);

#endif
