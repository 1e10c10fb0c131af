#ifndef CONTROLLER_LIFE_TOLD_H
#define CONTROLLER_LIFE_TOLD_H

#include "controller/life/life.h"

/*
 * told: clears status.operation.waitingFor and lastError once they no longer apply.
 *
 * A change of state or a new act clears them anyway. This module handles recovery in between, and
 * at rest, where nothing changes for days:
 *   a BMC that could not be read: cleared after a later read succeeds;
 *   in a state without a deadline, any other reason: cleared if not reported again for longer than
 *   any back-off.
 * The error of an act stays until the act has been tried again. A quarantined machine shows why it
 * is quarantined.
 *
 * True if there is nothing to clear; false while that is being written.
 * Tests: tests/unit/controller/life/test_told.c, tests/world/test_bmc.c
 */
bool life_ensure_told(struct life *l);

/* Returns {"waitingFor": ..., "lastError": {...}} for status.quarantine (as JSON), as a new
 * reference that the caller owns. */
json_t *life_told_quarantine(const json_t *quarantine);

#endif
