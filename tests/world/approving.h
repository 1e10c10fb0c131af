#ifndef TESTS_WORLD_APPROVING_H
#define TESTS_WORLD_APPROVING_H

#include "tests/world/world.h"

/*
 * approving: helpers for tests of claims that need an approval. The tenant is team-a.
 */
#define APPROVING_CLAIMS "nodeclaims.drover.dev/"

/* Sets spec.approval of the tenant. Takes ownership of approval. */
void approving_ask(struct sim_world *w, json_t *approval);
/* Returns the first claim, owned by the caller; NULL: there is none. */
json_t *approving_first(struct sim_world *w);
/* Returns member `member` of the condition Approved of claim o; "": the claim has no such
 * condition. */
const char *approving_at(const json_t *o, const char *member);
/* Waits until the condition Approved of the first claim has this reason. */
void approving_wait(struct sim_world *w, const char *reason);
/* Writes a decision as `drover approve` and `drover deny` do, as user alice. hold_until: RFC 3339,
 * or NULL. */
void approving_decide(struct sim_world *w, const char *claim, const char *decision,
		      const char *hold_until);
void approving_decide_first(struct sim_world *w, const char *decision);
/* Asserts that all machines are free and off. */
void approving_all_rest(struct sim_world *w);

#endif
