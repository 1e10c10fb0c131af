#ifndef CONTROLLER_CLAIMS_OWNERS_H
#define CONTROLLER_CLAIMS_OWNERS_H

#include "controller/core/context.h"

/*
 * owners: deletes the claims of a deleted VirtualCluster or NodePool (a claim's spec is frozen, so
 * nothing else depends on these objects). Claims of a tenant are deleted all at once; claims of a
 * pool within its budgets (claims/budget.h), one request at a time.
 *
 * That an owner was deleted is read from the API server itself. An object of the same name with
 * another UID is no deletion, because a restored backup must not stop work. The
 * CustomResourceDefinition of the owner's kind has to be older than the claim: if the definition
 * was deleted and applied again, nobody meant to delete the claims.
 *
 * Nothing is deleted while one of drover's CustomResourceDefinitions is being deleted, or while the
 * VirtualCluster is paused. On the loop thread.
 * Tests: tests/unit/controller/claims/test_owners.c, tests/world/test_leave.c
 */
/* A NULL pointer is allowed while a controller is being freed: kicks do nothing. */
struct owners;
struct owners *owners_new(struct context *c);
void owners_free(struct owners *os);
/* Schedules a check of the tenant's claims; NULL: of all claims. */
void owners_kick(struct owners *os, const char *tenant);

/* True if the deletion of this claim was sent because its pool was deleted, and is not answered
 * yet. */
bool owners_deletes(const struct owners *os, const struct node_claim *n);

#endif
