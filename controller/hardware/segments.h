#ifndef CONTROLLER_HARDWARE_SEGMENTS_H
#define CONTROLLER_HARDWARE_SEGMENTS_H

#include "controller/core/context.h"
#include "controller/hardware/driver.h"

/*
 * segments: what fabrics made for a tenant (a VPC, a server cluster) is removed when its
 * VirtualCluster is deleted and the last machine has left.
 *
 * Every Provider whose network driver makes such things is asked, one after the other, until each
 * says that nothing is left; after a failure again in 30 s. 10 min after the deletion it is given
 * up with an event that names what may be left, so that a network's controller that is gone keeps
 * no VirtualCluster.
 *
 * On the loop thread; only the leader asks.
 * Tests: tests/world/test_netris.c
 */
struct segments;

/* changed: what segments_hold() says of this tenant may be another. */
struct segments *segments_new(struct context *c, const struct drivers *ds,
			      void (*changed)(const char *tenant, void *arg), void *arg);
/* after the drivers */
void segments_free(struct segments *s);

/* Does its VirtualCluster have to stay for this? gone: it is being deleted, and nothing else keeps
 * it: what was made is being removed from now on. */
bool segments_hold(struct segments *s, const struct virtual_cluster *vc, bool gone);

/* How fabrics call that tenant's segment: "tenant/" and spec.network.segment, or its name. */
#define SEGMENT_TENANTS "tenant/"
#define TENANT_SEGMENT 256
void segment_of_tenant(const struct virtual_cluster *vc, char out[static TENANT_SEGMENT]);

#endif
