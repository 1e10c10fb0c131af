#ifndef CONTROLLER_LIFE_POWER_TURN_H
#define CONTROLLER_LIFE_POWER_TURN_H

#include "controller/life/life.h"

/*
 * power_turn: lets a machine wait for its turn to be switched on (hardware/power_pacing.h).
 *
 * A wait of more than 5 s is written to status as waitingFor Rate; lastError.time is the begin of
 * the wait. The state's deadline does not run while the machine is in the queue. When the machine's
 * turn comes, or the machine loses its position in the queue (another leader, a turn not used), the
 * deadline is moved by the time waited and runs again. No machine stays in the queue for an
 * unlimited time. Therefore a machine neither misses its deadline in the queue nor stops the
 * deadline for ever.
 * Tests: tests/world/test_power_pacing.c
 */

/* True if the machine waits in the queue for its power-on. The caller need not read the BMC until
 * the machine's turn comes. Also writes a longer wait to status. */
bool life_waits_for_power(struct life *l);

/* True if it is the machine's turn to be switched on, or if the power-on was sent already.
 * patience_ms: time after sending in which the power-on is not repeated. Otherwise queues the
 * machine and returns false. */
bool life_ensure_power_turn(struct life *l, int64_t patience_ms);

/* True unless status shows a wait for power-on that is over. In that case moves the deadline by the
 * time waited, clears the wait, and returns false. */
bool life_ensure_wait_settled(struct life *l);

#endif
