#ifndef CONTROLLER_TENANT_PENDING_CLEANUP_H
#define CONTROLLER_TENANT_PENDING_CLEANUP_H

#include "controller/core/context.h"

/*
 * pending_cleanup: pending cleanups in tenants' clusters: Nodes (by UID) and bootstrap tokens that
 * drover still has to delete. A cleanup is pending because the cluster could not be reached when
 * the machine left, a webhook refused the deletion, or a finalizer still prevents the deletion of
 * the Node.
 *
 * Pending cleanups are stored in VirtualCluster.status.debts before the machine continues
 * (steps/leaving.c). Once the tenant's API server answers again, the objects are deleted, one call
 * at a time, and each cleanup is removed from the list by a write with the resourceVersion. After
 * 24 h a cleanup is abandoned with an event that names the remaining objects. Time during which the
 * tenant is known to sleep (tenant/sleep.h) does not count: the 24 h start again when it wakes. A
 * Node with a different UID belongs to another owner and is not deleted, with one exception: a Node
 * whose providerID is drover's, and whose name no claim has, is deleted, because drover never saw
 * its UID or its kubelet registered it again.
 *
 * This module also maintains the finalizer drover.dev/virtual-cluster. The finalizer is set while
 * claims, cleanups or a bill exist, or while held() returns true. When a VirtualCluster is being
 * deleted, its claims are deleted (claims/owners.h), cleanups are tried for 10 min, the objects of
 * its network are removed (hardware/segments.h) and its bill is saved
 * (controller/rules/kept_bills.h); then the finalizer is removed.
 *
 * None of this happens while one of drover's CustomResourceDefinitions is being deleted. Nothing is
 * deleted while the VirtualCluster is paused.
 * Tests: tests/unit/controller/tenant/test_pending_cleanup.c, tests/world/test_leave_tenant.c
 */
/* Maximum number of pending cleanups per tenant. At the limit, a new cleanup replaces the oldest,
 * so that no machine or claim has to wait. */
#define PENDING_CLEANUP_MAX 250

/* pending_cleanup_kick() and pending_cleanup_hang_up() accept NULL and then do nothing, for use
 * while a controller is being destroyed. */
struct pending_cleanup;
struct tenants;
/* Creates the module. held() returns true if another module still needs the VirtualCluster. Its
 * argument `gone` is true if the VirtualCluster is being deleted and this module no longer needs
 * it. held NULL: no other module needs a VirtualCluster. */
struct pending_cleanup *pending_cleanup_new(struct context *c, const struct tenants *tenants,
					    bool (*held)(const struct virtual_cluster *vc,
							 bool gone, void *arg),
					    void *arg);
void pending_cleanup_free(struct pending_cleanup *d);
/* Schedules the reconciliation of this tenant; tenant NULL: of all tenants. */
void pending_cleanup_kick(struct pending_cleanup *d, const char *tenant);
/* Drops the call in flight that uses this tenant's client. Call before the client is freed. */
void pending_cleanup_hang_up(struct pending_cleanup *d, const char *tenant);

/* Returns a new list for a patch: status.debts without the cleanup of this Node. The caller owns
 * the list. */
json_t *pending_cleanup_without(const struct virtual_cluster *vc, const char *node);

#endif
