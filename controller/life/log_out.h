#ifndef CONTROLLER_LIFE_LOG_OUT_H
#define CONTROLLER_LIFE_LOG_OUT_H

#include "controller/life/life.h"

/*
 * log_out: a machine that is retired keeps no session at its BMC.
 * Tests: tests/world/test_login_guard.c
 */

/* The session that the journal names is closed, as far as its BMC can be asked: tried once, for 60
 * s at the longest. */
bool life_ensure_logged_out(struct life *l);

#endif
