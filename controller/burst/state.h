#ifndef CONTROLLER_BURST_STATE_H
#define CONTROLLER_BURST_STATE_H

#include "base/data/json.h"
#include "base/err.h"
#include "planner/burst/burst.h"

/*
 * state: the input of burst_decide() without the policies as JSON: the object BurstState
 * (drover.dev/v1alpha1). It exists in files and in the leader's view (GET /v1/burst), not in the
 * API. docs/burst.md describes its members. Times are rounded down to seconds.
 * Tests: tests/unit/controller/burst/test_state.c
 */

/* Decodes the members metadata and spec of a BurstState into *out, whose lists are allocated in the
 * arena; policies and npolicies become 0. Unknown members are errors. */
int burst_state_decode(const json_t *body, struct burst_input *out, struct arena *a, struct err *e)
	__attribute__((warn_unused_result));

/* burst_state_spec() returns the member spec of the BurstState of this input without the list
 * `work`; burst_state_work() returns one element of that list. Both are owned by the caller. */
json_t *burst_state_spec(const struct burst_input *in);
json_t *burst_state_work(const struct burst_work *w);

#endif
