#ifndef CONTROLLER_HARDWARE_WAY_LOOKS_H
#define CONTROLLER_HARDWARE_WAY_LOOKS_H

#include "controller/core/context.h"
#include "controller/core/ways.h"
#include "controller/hardware/driver.h"

/*
 * way_looks: asks the networks of Providers for the ways to tenants' API servers, again and again:
 * a load balancer is made, corrected and looked at, what a VIP needs is looked at
 * (providers/fabric.h). What came out is in core/ways.h.
 *
 * A load balancer is written down in status.apiServer of the VirtualCluster, under its finalizer,
 * before it is asked for. It is removed when the VirtualCluster is deleted, before its segment is,
 * and when its spec wants no such one any more. 10 min after a deletion it is given up with an
 * event that names what may be left.
 *
 * Every WAY_LOOK_MS, and WAY_VIP_MS where nothing is made. A network that does not answer changes
 * nothing for WAY_HOLD_MS; then nothing is known, and no machine joins. On the loop thread; only
 * the leader asks.
 * Tests: tests/world/test_way.c
 */
#define WAY_LOOK_MS 30000
#define WAY_VIP_MS 300000 /* of a VIP that has what it needs: that does not change by itself */
#define WAY_HOLD_MS 90000

struct way_looks;

/* changed: what is known of this tenant's way is another now, or whether its VirtualCluster has to
 * stay for it. */
struct way_looks *way_looks_new(struct context *c, const struct drivers *ds,
				void (*changed)(const char *tenant, void *arg), void *arg);
/* after the drivers */
void way_looks_free(struct way_looks *w);
/* Its object is another one, or gone.  tenant NULL: all. */
void way_looks_kick(struct way_looks *w, const char *tenant);
/* Does its VirtualCluster have to stay for a load balancer? gone: it is being deleted, and nothing
 * else keeps it: the load balancer is being removed from now on. */
bool way_looks_hold(struct way_looks *w, const struct virtual_cluster *vc, bool gone);

#endif
