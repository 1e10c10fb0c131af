#ifndef CONTROLLER_LIFE_BMC_OPEN_H
#define CONTROLLER_LIFE_BMC_OPEN_H

#include "controller/life/life.h"

/*
 * bmc_open: may its BMC be asked? It is trusted, its credentials are there, and no BMC refused the
 * login of that Secret. Only looks and acts at the BMC wait for it: the network, a tenant's side of
 * a drain and retiring go on.
 * Tests: tests/world/test_login_guard.c
 */

/* It may. False: in *why, for which a person has to do something, or REASON_NONE: it will be open
 * soon. */
bool life_bmc_is_open(struct life *l, enum reason *why, char text[static 400]);

/* The same, said; quietly: only where nothing else is said. */
bool life_ensure_bmc_open(struct life *l, bool quietly);

#endif
