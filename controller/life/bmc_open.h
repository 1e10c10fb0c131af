#ifndef CONTROLLER_LIFE_BMC_OPEN_H
#define CONTROLLER_LIFE_BMC_OPEN_H

#include "controller/life/life.h"

/*
 * bmc_open: decides whether drover may contact the machine's BMC. The BMC must be trusted, its
 * credentials present, and no BMC may have refused the login with this version of the Secret. Only
 * reads and acts at the BMC depend on this; network moves, the tenant side of a drain and retiring
 * continue.
 * Tests: tests/world/test_login_guard.c
 */

/* True if the BMC may be contacted. On false, *why is the reason for which an operator must act,
 * with a message in text; REASON_NONE: will resolve by itself soon. */
bool life_bmc_is_open(struct life *l, enum reason *why, char text[static 400]);

/* Like life_bmc_is_open(), but also writes the reason to status with life_wait(). quietly: writes
 * it only if status shows no other reason. */
bool life_ensure_bmc_open(struct life *l, bool quietly);

#endif
