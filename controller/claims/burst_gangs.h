#ifndef CONTROLLER_CLAIMS_BURST_GANGS_H
#define CONTROLLER_CLAIMS_BURST_GANGS_H

#include "controller/core/context.h"

/*
 * burst_gangs: the instances that a policy decided on for one gang (spec.burst, spec.gang) are
 * either all launched or all given back.
 *
 * Until spec.gang.holdUntil a claim is deleted as soon as another claim of the gang is refused,
 * fails or is deleted. Afterwards it is deleted if another claim is missing or not Ready, unless a
 * pod runs on its own Node: then the gang has started, and later losses are handled elsewhere.
 * Tests: tests/world/test_burst_gangs.c
 */
struct tenants;
/* True if the claim has to be deleted; why then names the other claim and its trouble. *next_ms: ms
 * until the next check; 0: no check needed. */
bool burst_gang_broken(const struct context *c, const struct tenants *ts,
		       const struct node_claim *n, int64_t *next_ms, char why[static 160]);

#endif
