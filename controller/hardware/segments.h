#ifndef CONTROLLER_HARDWARE_SEGMENTS_H
#define CONTROLLER_HARDWARE_SEGMENTS_H

#include "controller/core/context.h"
#include "controller/hardware/driver.h"

/*
 * segments: removes what fabrics created for a tenant (a VPC, a server cluster) when its
 * VirtualCluster is deleted and the last machine has left.
 *
 * Asks the Providers whose network driver creates such objects, one after the other, until each
 * reports that nothing is left; retries a failure after 30 s. 10 min after the deletion it gives up
 * with an event that names what may be left over, so that an unreachable network controller does
 * not block the deletion for ever.
 *
 * On the loop thread; only the leader asks.
 * Tests: tests/world/test_netris.c
 */
struct segments;

/* changed: called when the result of segments_hold() for this tenant may have changed. */
struct segments *segments_new(struct context *c, const struct drivers *ds,
			      void (*changed)(const char *tenant, void *arg), void *arg);
/* Call after drivers_free(). */
void segments_free(struct segments *s);

/* True if vc must keep drover's finalizer because of its segment. gone: vc is being deleted and
 * nothing else keeps it; the call then starts or continues the removal. */
bool segments_hold(struct segments *s, const struct virtual_cluster *vc, bool gone);

/* Writes the name by which fabrics know the tenant's segment: "tenant/" and spec.network.segment,
 * or the VirtualCluster's name. */
#define SEGMENT_TENANTS "tenant/"
#define TENANT_SEGMENT 256
void segment_of_tenant(const struct virtual_cluster *vc, char out[static TENANT_SEGMENT]);

#endif
