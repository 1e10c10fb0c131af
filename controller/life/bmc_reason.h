#ifndef CONTROLLER_LIFE_BMC_REASON_H
#define CONTROLLER_LIFE_BMC_REASON_H

#include "api/reasons.h"
#include "base/err.h"

/*
 * bmc_reason: maps an error of a BMC to a reason of api/reasons.def.
 * Tests: tests/unit/controller/life/test_bmc_reason.c
 */

/* Returns the reason that describes an error of a BMC or of its manager. */
enum reason life_bmc_reason(const struct err *e);
/* Returns the reason that describes an error of the act `step`: MediaNotMounted if a BMC refused a
 * medium, otherwise the result of life_bmc_reason(). */
enum reason life_act_reason(const char *step, const struct err *e);

#endif
