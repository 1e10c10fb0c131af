#ifndef CONTROLLER_HARDWARE_SEGMENTS_H
#define CONTROLLER_HARDWARE_SEGMENTS_H

#include "controller/core/context.h"
#include "controller/hardware/driver.h"

/*
 * segments: removes what fabrics created for a tenant's segment (a VPC, a server cluster) when the
 * tenant's VirtualCluster is deleted and its last machine has left.
 *
 * Asks each Provider whose network driver creates such objects to remove them, one Provider after
 * the other, and retries a failure after 30 s. 10 min after the deletion the module gives up with
 * an event that names what may be left over, so that an unreachable network controller does not
 * block the deletion for ever.
 *
 * On the loop thread; only the leader asks.
 * Tests: tests/world/test_netris.c
 */
struct segments;

/* Creates the module. changed() is called with the name of a tenant for which the result of
 * segments_block_deletion() may have changed. */
struct segments *segments_new(struct context *c, const struct drivers *ds,
			      void (*changed)(const char *tenant, void *arg), void *arg);
/* Frees the module. Call after drivers_free(). */
void segments_free(struct segments *s);

/* True if vc must keep drover's finalizer because objects of its segment may exist. gone: true if
 * vc is being deleted and has no other reason to keep the finalizer; the call then starts or
 * continues the removal. */
bool segments_block_deletion(struct segments *s, const struct virtual_cluster *vc, bool gone);

/* Writes to out the name by which fabrics know the tenant's segment: "tenant/" followed by
 * spec.network.segment, or by the VirtualCluster's name if that is not set. */
#define SEGMENT_TENANTS "tenant/"
#define TENANT_SEGMENT 256
void segment_of_tenant(const struct virtual_cluster *vc, char out[static TENANT_SEGMENT]);

#endif
