#ifndef CONTROLLER_LIFE_POWER_TURN_H
#define CONTROLLER_LIFE_POWER_TURN_H

#include "controller/life/life.h"

/*
 * power_turn: a machine waits for its turn to be switched on (hardware/power_pacing.h).
 *
 * A wait of more than 5 s stands in the journal: waitingFor Rate, begun at lastError.time. The
 * state's deadline stands still for exactly as long as the machine has its place: when it is called
 * and asks, or has lost the place (another leader, a turn not taken), the deadline is moved by the
 * time that passed, and counts again. The place itself is given up in bounded time, so neither does
 * a machine run out of its deadline in the queue, nor does the deadline sleep for ever.
 * Tests: tests/world/test_power_pacing.c
 */

/* It stands in the queue: no look at its BMC is worth anything before it is called. */
bool life_waits_for_power(struct life *l);

/* It is its turn to be switched on. patience_ms: as of life_act(); what is asked for already needs
 * no turn. */
bool life_ensure_power_turn(struct life *l, int64_t patience_ms);

/* A wait that the journal tells of is over, and the deadline was moved by it; or it goes on. */
bool life_ensure_wait_settled(struct life *l);

#endif
