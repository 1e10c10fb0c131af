#ifndef CONTROLLER_CLAIMS_BURST_GANGS_H
#define CONTROLLER_CLAIMS_BURST_GANGS_H

#include "controller/core/context.h"

/*
 * burst_gangs: instances that a policy decided on for one gang (spec.burst, spec.gang) come whole,
 * or are all given back.
 *
 * Until spec.gang.holdUntil a claim goes as soon as one of the others is refused, has failed or has
 * gone. From then on it goes where one of them is missing or not Ready, unless a pod runs on its
 * own Node: the gang has begun, and what it loses later is another matter.
 * Tests: tests/world/test_burst_gangs.c
 */
struct tenants;
/* The claim is to go: why says of which other one. *next_ms: when to look again; 0: not for
 * this. */
bool burst_gang_broken(const struct context *c, const struct tenants *ts,
		       const struct node_claim *n, int64_t *next_ms, char why[static 160]);

#endif
