#ifndef CONTROLLER_LIFE_BMC_OPEN_H
#define CONTROLLER_LIFE_BMC_OPEN_H

#include "controller/life/life.h"

/*
 * bmc_open: decides whether drover may contact the machine's BMC. The BMC must be trusted, its
 * credentials must be present, and no BMC may have refused the login with this version of the
 * Secret. Only reads and acts at the BMC depend on this. Moves of the port, the tenant side of a
 * drain, and retiring continue without the BMC.
 * Tests: tests/world/test_login_guard.c
 */

/* True if the BMC may be contacted. On false, *why is the reason for which an operator must act,
 * and text is its message. *why is REASON_NONE if the obstacle will soon disappear by itself. */
bool life_bmc_is_open(struct life *l, enum reason *why, char text[static 400]);

/* True if the BMC may be contacted (life_bmc_is_open()). Otherwise also writes the reason to
 * status with life_wait(), or schedules another turn. quietly: does not replace another reason
 * in status. */
bool life_ensure_bmc_open(struct life *l, bool quietly);

#endif
