#ifndef CONTROLLER_LIFE_ACT_H
#define CONTROLLER_LIFE_ACT_H

#include "controller/life/life.h"

/*
 * act: an act goes out only after status.operation names it.
 *
 *	switch (life_act(l, "power-on", LIFE_IDEMPOTENT, patience)) {
 *	case LIFE_GO: provider_power(..., on_acted)	written down: do it now, once
 *	case LIFE_HOLD: return				being written, under way, or backing off
 *	}
 * Tests: tests/world/test_bmc.c, tests/world/test_crash.c
 */
enum life_class { LIFE_IDEMPOTENT, LIFE_PROBE_FIRST, LIFE_ONCE };
enum life_turn { LIFE_HOLD, LIFE_GO };

/* patience_ms: how long after it went out the act is not repeated. */
enum life_turn life_act(struct life *l, const char *step, enum life_class cls, int64_t patience_ms);

/* Returns ctx_may_act().  Logs the first refusal. */
bool life_ensure_may_act(struct life *l, const char *act);

/* The act ended. An error is written down; the act goes out again after a backoff (2 s to 5
 * min). */
void life_acted(struct life *l, const struct err *e);

/* Of a new life. */
void life_act_init(struct life *l);
/* The next one need not wait for the backoff. */
void life_act_retry(struct life *l);
/* Its state is another: what was done for the one before is past. */
void life_act_over(struct life *l);
/* What this process has begun is worth nothing: another leads, or it begins anew. */
void life_act_forget(struct life *l);
/* No answer to it will come. */
void life_act_unanswered(struct life *l);
/* It did not go out after all. */
void life_act_unsent(struct life *l);

#endif
