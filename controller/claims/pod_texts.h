#ifndef CONTROLLER_CLAIMS_POD_TEXTS_H
#define CONTROLLER_CLAIMS_POD_TEXTS_H

#include "api/machine_states.h"
#include "base/arena.h"
#include "planner/plan.h"

/*
 * pod_texts: texts for a waiting pod. The reason why a plan has no machine for it is given as one
 * reason name and one message.
 * Tests: tests/unit/controller/claims/test_pod_texts.c
 */

/* Returns the reason name for an event or a condition. It is the reason of the pool that came
 * nearest to serving the pod. */
const char *pod_texts_reason(const struct plan_pod *p);
/* Returns the message that says why the pod has no machine, in the arena. It has one part per pool,
 * at most five, then the number of other pools per reason. A part contains its reason name only if
 * that differs from pod_texts_reason(), because every message is shown after that name. */
const char *pod_texts_why(const struct plan_pod *p, struct arena *a);
/* Returns a short text, in the arena, that changes only if the message changed enough for an event
 * at once. It leaves out numbers that change with other tenants' pods. */
const char *pod_texts_news(const struct plan_pod *p, struct arena *a);

/* Returns the message for a pod whose machine is being prepared for this claim, in the arena. */
const char *pod_texts_coming(const char *machine, const char *pool, const char *claim,
			     struct arena *a);
/* Returns what a machine in state s that starts for a claim has not reached yet, for the pod's
 * tenant: a constant text without the reason, addresses or other tenants. NULL: a machine in state
 * s does not start for a claim. */
const char *pod_texts_delay(enum machine_state s);

#endif
