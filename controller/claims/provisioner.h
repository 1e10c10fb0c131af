#ifndef CONTROLLER_CLAIMS_PROVISIONER_H
#define CONTROLLER_CLAIMS_PROVISIONER_H

#include "controller/core/context.h"

/*
 * provisioner: makes NodeClaims of demand. Shortly after anything changed it plans on the world
 * that world_sync keeps, creates NodeClaims, and has each waiting pod told by an event
 * (claims/pod_events.h). A burst of pods is planned together (claims/batch.h), a lone one at once.
 * A plan that took long is followed by a rest, so that changes that never end take a fifth of a
 * processor at most.
 *
 * A plan is acted on only while leading. A claim that is being created is on its way to the next
 * plan (claims/sending.h), so that no demand is served twice and none waits for another one's
 * claim. A claim's machine takes it up by itself (life/life.h); one that no machine took within 30
 * s is withdrawn.
 */
struct avoided;
struct drivers;
struct eta;
struct fleet;
struct permits;
struct provisioner;
struct tenants;
struct stand_ins;
struct underused;
struct reclaims;
struct unwanted;
struct waiting;
struct world_sync;
struct provisioner *provisioner_new(struct context *c, const struct tenants *tenants,
				    const struct eta *eta, const struct drivers *drivers,
				    struct fleet *fleet);
void provisioner_free(struct provisioner *s);
/* plan soon */
void provisioner_kick(struct provisioner *s);

/* Its parts, for who tells it of changes and who avoids a machine; they live as long as it does. */
struct world_sync *provisioner_sync(struct provisioner *s);
struct avoided *provisioner_avoided(struct provisioner *s);
struct unwanted *provisioner_unwanted(struct provisioner *s);
struct underused *provisioner_underused(struct provisioner *s);
struct stand_ins *provisioner_stand_ins(struct provisioner *s);
struct reclaims *provisioner_reclaims(struct provisioner *s);
struct permits *provisioner_permits(struct provisioner *s);
const struct waiting *provisioner_waiting(const struct provisioner *s);

#endif
