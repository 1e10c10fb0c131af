#ifndef CONTROLLER_LIFE_LOG_OUT_H
#define CONTROLLER_LIFE_LOG_OUT_H

#include "controller/life/life.h"

/*
 * log_out: closes the BMC session of a machine that retires.
 * Tests: tests/world/test_login_guard.c
 */

/* True if the session in status.bmc.sessionURI is closed, or could not be closed and was given up.
 * Tries once to close it. */
bool life_ensure_logged_out(struct life *l);

#endif
