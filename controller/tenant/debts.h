#ifndef CONTROLLER_TENANT_DEBTS_H
#define CONTROLLER_TENANT_DEBTS_H

#include "controller/core/context.h"

/*
 * debts: Nodes (by UID) and bootstrap tokens that drover still has to delete in tenant clusters.
 * The cluster could not be reached when the machine left, a webhook refused, or a finalizer keeps
 * the Node.
 *
 * They stand in VirtualCluster.status.debts, written before the machine goes on (steps/leaving.c).
 * As soon as the tenant answers again they are paid, one call at a time, and struck off by a write
 * with the resourceVersion. After 24 h one is written off with an event that names what is left;
 * time that the tenant is known to sleep (tenant/sleep.h) does not count, and they begin anew when
 * it wakes. A Node whose UID is another one is somebody else's and stays. But one of that name is
 * ours, whatever its UID, when its providerID is one of drover's and no claim has the name: drover
 * never saw its UID, or its kubelet registered it again.
 *
 * Also the finalizer drover.dev/virtual-cluster: put on while claims, debts or a bill exist, or
 * something else keeps it (held); a VirtualCluster that is being deleted has its claims deleted
 * (claims/owners.h), its debts tried for 10 min, what was made for its network removed
 * (hardware/segments.h), its bill kept (controller/rules/kept_bills.h), and then the finalizer
 * taken off.
 *
 * None of this happens while one of our CustomResourceDefinitions is being deleted; nothing is
 * deleted while the VirtualCluster is paused.
 * Tests: tests/unit/controller/tenant/test_debts.c, tests/world/test_leave_tenant.c
 */
/* of a tenant; the oldest gives way to a new one, so that no machine or claim is held up */
#define DEBTS_MAX 250

/* NULL where a controller is taken apart: kicks do nothing */
struct debts;
struct tenants;
/* held: something else keeps a VirtualCluster, too; gone: it is being deleted, and nothing here
 * keeps it. NULL: nothing. */
struct debts *debts_new(struct context *c, const struct tenants *tenants,
			bool (*held)(const struct virtual_cluster *vc, bool gone, void *arg),
			void *arg);
void debts_free(struct debts *d);
/* NULL: look at all */
void debts_kick(struct debts *d, const char *tenant);
/* The client of this tenant is about to be freed: calls through it are as if never made. */
void debts_hang_up(struct debts *d, const char *tenant);

/* status.debts as a patch may write them, all but that of this Node; gives. */
json_t *debts_without(const struct virtual_cluster *vc, const char *node);

#endif
