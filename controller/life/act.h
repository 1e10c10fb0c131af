#ifndef CONTROLLER_LIFE_ACT_H
#define CONTROLLER_LIFE_ACT_H

#include "controller/life/life.h"

/*
 * act: sends an act (a request that changes hardware, network or a tenant) only after the journal,
 * status.operation, names it.
 *
 * 	switch (life_act(l, "power-on", LIFE_IDEMPOTENT, patience)) {
 * 	case LIFE_GO: provider_power(..., on_acted)	the journal names the act: send it now
 * 	case LIFE_HOLD: return				being written, in flight, or backing off
 * 	}
 *
 * Tests: tests/world/test_bmc.c, tests/world/test_crash.c
 */
enum life_class { LIFE_IDEMPOTENT, LIFE_PROBE_FIRST };
enum life_turn { LIFE_HOLD, LIFE_GO };

/* Returns LIFE_GO if the caller must send the act `step` now. Returns LIFE_HOLD while the act is
 * being written to the journal, is in flight, backs off, or must not be sent. cls: class of the act
 * for the journal. patience_ms: time after sending in which the act is not repeated. */
enum life_turn life_act(struct life *l, const char *step, enum life_class cls, int64_t patience_ms);

/* True if destructive requests may be sent (ctx_may_act()). Logs the first refusal with the name
 * `act`. */
bool life_ensure_may_act(struct life *l, const char *act);

/* Records that the act in flight has ended; e NULL: with success. An error is written to
 * status.operation.lastError, and the act may be sent again after a back-off (2 s to 5 min). */
void life_acted(struct life *l, const struct err *e);

/* Initialises the act state of a new life. */
void life_act_init(struct life *l);
/* Resets the back-off that follows a failed act, so that the next act can be sent at once. */
void life_act_retry(struct life *l);
/* Forgets the current act and resets the back-off. Call after a change of state. */
void life_act_over(struct life *l);
/* Forgets which act this process has journaled or sent. Call when another replica leads, or when
 * the operation starts again. */
void life_act_forget(struct life *l);
/* Marks the current act as no longer in flight. Call if the answer to its request will never
 * come. */
void life_act_unanswered(struct life *l);
/* Marks the current act as not sent, so that it is sent again without waiting for the patience_ms
 * of life_act(). */
void life_act_unsent(struct life *l);

#endif
