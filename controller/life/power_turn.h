#ifndef CONTROLLER_LIFE_POWER_TURN_H
#define CONTROLLER_LIFE_POWER_TURN_H

#include "controller/life/life.h"

/*
 * power_turn: lets a machine wait for its turn to be switched on (hardware/power_pacing.h).
 *
 * A wait of more than 5 s is written to status: waitingFor Rate, begun at lastError.time. The
 * state's deadline does not run while the machine has its place in the queue. When its turn comes,
 * or the place is lost (another leader, a turn not used), the deadline is moved by the time waited
 * and runs again. The queue drops every place in bounded time, so a machine neither misses its
 * deadline in the queue nor keeps the deadline stopped for ever.
 * Tests: tests/world/test_power_pacing.c
 */

/* True if the machine waits in the queue. Reads of its BMC are of no use until its turn comes. */
bool life_waits_for_power(struct life *l);

/* True if it is the machine's turn to be switched on. patience_ms: as for life_act(); a power-on
 * that was already sent needs no turn. */
bool life_ensure_power_turn(struct life *l, int64_t patience_ms);

/* True unless status shows a wait that is over. Otherwise moves the deadline by the wait, and
 * returns false. */
bool life_ensure_wait_settled(struct life *l);

#endif
