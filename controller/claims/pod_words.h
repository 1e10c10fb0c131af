#ifndef CONTROLLER_CLAIMS_POD_WORDS_H
#define CONTROLLER_CLAIMS_POD_WORDS_H

#include "base/arena.h"
#include "planner/plan.h"

/*
 * pod_words: the reason why a plan has no machine for a pod, as one reason name and one text.
 * Tests: tests/unit/controller/claims/test_pod_words.c
 */

/* Returns the reason name for an event or a condition: the reason of the pool that came nearest to
 * serving the pod. */
const char *pod_words_reason(const struct plan_pod *p);
/* Returns the message, in the arena: one part per pool, at most five, then the number of other
 * pools per reason. A part contains its reason name only if that differs from pod_words_reason(),
 * because every message is shown after that name. */
const char *pod_words_why(const struct plan_pod *p, struct arena *a);
/* Returns the part of the message whose change is worth an event at once, in the arena. It leaves
 * out numbers that change with other tenants' pods. */
const char *pod_words_news(const struct plan_pod *p, struct arena *a);

/* Returns the message for a pod whose machine this claim prepares, in the arena. */
const char *pod_words_coming(const char *machine, const char *pool, const char *claim,
			     struct arena *a);

#endif
