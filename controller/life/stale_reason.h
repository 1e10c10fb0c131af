#ifndef CONTROLLER_LIFE_STALE_REASON_H
#define CONTROLLER_LIFE_STALE_REASON_H

#include "controller/life/life.h"

/*
 * stale_reason: clears status.operation.waitingFor and lastError once they no longer apply.
 *
 * A change of state or a new act clears them anyway. This module clears them if the machine
 * recovers without either, also in a state of rest, where nothing changes for days. If the BMC
 * could not be used, the reason is cleared after a later read of the BMC succeeded. Any other
 * reason is cleared in a state without a time limit, if it was not reported again for longer than
 * any back-off. The error of an act stays until the act has been tried again. The reason of a
 * quarantine stays as long as the quarantine.
 *
 * life_ensure_reason_current() returns true if there is nothing to change. Otherwise it starts the
 * write, and returns false.
 * Tests: tests/unit/controller/life/test_stale_reason.c, tests/world/test_bmc.c
 */
bool life_ensure_reason_current(struct life *l);

/* Returns the members {"waitingFor": ..., "lastError": {...}} of status.operation that show the
 * quarantine (`quarantine` is status.quarantine as JSON), as a new reference that the caller
 * owns. */
json_t *life_quarantine_reason(const json_t *quarantine);

#endif
