#ifndef CONTROLLER_CLAIMS_PROVISIONER_H
#define CONTROLLER_CLAIMS_PROVISIONER_H

#include "controller/core/context.h"

/*
 * provisioner: creates NodeClaims for pods that need machines. Shortly after a change it makes a
 * plan with the planner's world of world_sync, creates the plan's NodeClaims, and lets pod_events
 * report to each waiting pod (claims/pod_events.h). A burst of pods is planned together
 * (claims/batch.h), a single pod at once. A long plan is followed by a pause, so that endless
 * changes use at most a fifth of a processor.
 *
 * A plan is acted on only while this process is the leader. A claim that is being created counts as
 * in progress in the next plan (core/sending.h). So no pod is served twice, and the next plan
 * does not wait until the claims of this plan are created. A claim's machine accepts the claim by
 * itself (life/life.h). A claim that no machine accepted within 30 s is deleted (claims/claims.h).
 */
struct avoided;
struct changes;
struct drivers;
struct eta;
struct fleet;
struct homeward;
struct bursts;
struct last_plan;
struct permits;
struct provisioner;
struct tenants;
struct replacements;
struct underused;
struct reclaims;
struct unwanted;
struct waiting;
struct world_sync;
struct provisioner *provisioner_new(struct context *c, const struct tenants *tenants,
				    const struct eta *eta, const struct drivers *drivers,
				    struct fleet *fleet);
void provisioner_free(struct provisioner *s);
/* Schedules a plan, shortly after this call or after the pause that follows the last plan. */
void provisioner_kick(struct provisioner *s);

/* provisioner_changes() to provisioner_bursts() return the parts of the provisioner, for callers
 * that report changes to these parts or query them. The parts are valid as long as the
 * provisioner. */
const struct changes *provisioner_changes(const struct provisioner *s);
struct world_sync *provisioner_sync(struct provisioner *s);
struct avoided *provisioner_avoided(struct provisioner *s);
struct unwanted *provisioner_unwanted(struct provisioner *s);
struct underused *provisioner_underused(struct provisioner *s);
struct replacements *provisioner_replacements(struct provisioner *s);
struct homeward *provisioner_homeward(struct provisioner *s);
struct reclaims *provisioner_reclaims(struct provisioner *s);
struct permits *provisioner_permits(struct provisioner *s);
const struct waiting *provisioner_waiting(const struct provisioner *s);
const struct last_plan *provisioner_last_plan(const struct provisioner *s);
struct bursts *provisioner_bursts(struct provisioner *s);

#endif
