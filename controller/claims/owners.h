#ifndef CONTROLLER_CLAIMS_OWNERS_H
#define CONTROLLER_CLAIMS_OWNERS_H

#include "controller/core/context.h"

/*
 * owners: deletes the claims of a deleted VirtualCluster or NodePool. (A claim's spec is frozen, so
 * no other part of drover needs these objects to exist.) Claims of a deleted tenant are deleted all
 * at once. Claims of a deleted pool are deleted within its budgets (claims/budget.h), one request
 * at a time.
 *
 * Before a claim is deleted, the API server itself has to confirm that the owner was deleted. If
 * an object of the same name but with another UID exists, the owner does not count as deleted,
 * because a restored backup must not stop work. The CustomResourceDefinition of the owner's kind
 * has to be older than the claim. A younger CustomResourceDefinition was deleted and applied again,
 * and nobody meant to delete the claims.
 *
 * Nothing is deleted while one of drover's CustomResourceDefinitions is being deleted, or while the
 * VirtualCluster is paused. On the loop thread.
 * Tests: tests/unit/controller/claims/test_owners.c, tests/world/test_leave.c
 */
/* owners_kick() accepts NULL for os and then does nothing: this happens while a controller is being
 * freed. */
struct owners;
struct owners *owners_new(struct context *c);
void owners_free(struct owners *os);
/* Schedules a check of the claims of this tenant; tenant NULL: of all claims. */
void owners_kick(struct owners *os, const char *tenant);

/* True if a request to delete claim n, because its pool was deleted, is in flight. */
bool owners_deletes(const struct owners *os, const struct node_claim *n);

#endif
