#ifndef CONTROLLER_CLAIMS_POD_WORDS_H
#define CONTROLLER_CLAIMS_POD_WORDS_H

#include "base/arena.h"
#include "planner/plan.h"

/*
 * pod_words: the reason for which a plan has nothing for a pod, as one name and one text.
 * Tests: tests/unit/controller/claims/test_pod_words.c
 */

/* The reason of an event or a condition: that of the nearest miss. */
const char *pod_words_reason(const struct plan_pod *p);
/* Its message: one part for each pool, five at most, then how many others there are. A part names
 * its reason only if that is not pod_words_reason(), which whoever shows the message shows before
 * it. In the arena. */
const char *pod_words_why(const struct plan_pod *p, struct arena *a);
/* What of it is news when it changes: without the numbers that any tenant's pods move. In the
 * arena. */
const char *pod_words_news(const struct plan_pod *p, struct arena *a);

/* The message for a pod whose machine comes by this claim. */
const char *pod_words_coming(const char *machine, const char *pool, const char *claim,
			     struct arena *a);

#endif
