#ifndef CONTROLLER_CLAIMS_OWNERS_H
#define CONTROLLER_CLAIMS_OWNERS_H

#include "controller/core/context.h"

/*
 * owners: claims of a VirtualCluster or NodePool that was deleted are deleted (a claim's spec is
 * frozen, so nothing else hangs on these). Those of a tenant all at once; those of a pool within
 * its budgets (claims/budget.h), one request at a time.
 *
 * That an owner has gone is read from the API itself (one of the same name and another UID has not:
 * a backup that was put back must not stop work); and the definition of its kind has to be older
 * than the claim, for when that was deleted and came back nobody wanted the claims to go.
 *
 * None of this happens while one of our CustomResourceDefinitions is being deleted, or while the
 * VirtualCluster is paused. On the loop thread.
 * Tests: tests/unit/controller/claims/test_owners.c, tests/world/test_leave.c
 */
/* NULL where a controller is taken apart: kicks do nothing */
struct owners;
struct owners *owners_new(struct context *c);
void owners_free(struct owners *os);
/* look at its claims; NULL: at all */
void owners_kick(struct owners *os, const char *tenant);

/* The deletion of this claim was sent for its pool's sake, and is not answered yet. */
bool owners_deletes(const struct owners *os, const struct node_claim *n);

#endif
