#ifndef CONTROLLER_LIFE_TOLD_H
#define CONTROLLER_LIFE_TOLD_H

#include "controller/life/life.h"

/*
 * told: status.operation.waitingFor and lastError are taken back when what they say is over.
 *
 * A change of state, and a new act, take them back anyway; here is what recovers in between, and at
 * rest, where nothing changes for days:
 *   a BMC that could not be asked: a look that was asked for since was answered;
 *   in a state without a deadline, any other: it was not said again for longer than any back-off lasts.
 * What an act told stays until the act has been tried again. A quarantined machine says why it is
 * quarantined.
 * Tests: tests/unit/controller/life/test_told.c, tests/world/test_bmc.c
 */
bool life_ensure_told(struct life *l);

/* Of a quarantine (status.quarantine as JSON): {"waitingFor": ..., "lastError": {...}}; gives. */
json_t *life_told_quarantine(const json_t *quarantine);

#endif
