#ifndef CONTROLLER_BURST_GANGS_H
#define CONTROLLER_BURST_GANGS_H

#include "controller/core/context.h"

/*
 * gangs: the instances that a BurstPolicy decided on for one gang (claims with spec.burst and
 * spec.gang) are either all kept or all deleted.
 *
 * Until spec.gang.holdUntil a claim is deleted as soon as another claim of the gang is refused,
 * fails or is deleted, or is still missing some seconds after the claim was created. After that
 * time a claim is deleted if another claim of the gang is missing or not Ready. The exception is a
 * claim whose own Node runs a pod: the gang has started then, and later losses are handled
 * elsewhere.
 * Tests: tests/world/test_burst_gangs.c
 */
struct tenants;
/* True if claim n has to be deleted because its gang is incomplete; why then contains the cause:
 * another claim of the gang failed, was refused or deleted, or not all became Ready in time.
 * *next_ms: ms until the next check; 0: no check needed. */
bool burst_gang_broken(const struct context *c, const struct tenants *ts,
		       const struct node_claim *n, int64_t *next_ms, char why[static 160]);

#endif
