#ifndef CONTROLLER_TENANT_SLEEP_H
#define CONTROLLER_TENANT_SLEEP_H

#include "controller/tenant/tenant.h"

/*
 * sleep: whether a tenant sleeps, since when, and whether that is long enough for its machines to
 * go back.
 *
 * A tenant that does not answer is unreachable, and nothing follows. It is asleep when besides that
 * the host cluster says so of what its VirtualCluster names in spec.controlPlane: a StatefulSet or
 * Deployment with spec.replicas 0, whose controller has seen that (status.observedGeneration) and
 * has no pod of it left (status.replicas). What may not be looked at, is not there, or is being
 * deleted is not known to sleep.
 *
 *   look: VirtualCluster --> control plane	every 30 s while it does not answer, else every 5 min, for
 *         a missing permission to be told before it is needed.  Only the replica that leads looks.
 *
 * status.asleepSince is when it was first seen so; the object's UID and generation are kept beside
 * it, for each scaling makes a new generation: a tenant that was awake between two looks, or while
 * no controller ran, is seen to have been, and its time begins anew. The condition Asleep says the
 * rest.
 *
 * vCluster: `vcluster pause` scales to 0 what has the label app=vcluster, waits for status.replicas
 * 0, and leaves the annotations loft.sh/paused "true" and loft.sh/paused-replicas; `vcluster
 * resume` takes both back. A restore from a snapshot does the same under loft.sh/restoring, and is
 * no sleep. Where workload sleep is configured, pausing leaves the control plane running: such a
 * tenant answers, and is awake. (loft-sh/vcluster pkg/lifecycle/lifecycle.go,
 * pkg/constants/annotation.go, pkg/cli/pause_helm.go) The number decides here, whoever wrote it;
 * loft.sh/paused only tells people who did.
 *
 * Tests: tests/unit/controller/tenant/test_sleep.c, tests/world/test_sleep.c
 */
/* of one tenant */
struct tenant_sleep;
/* changed: what was seen is another now; status and planner have to know. */
struct tenant_sleep *tenant_sleep_new(struct tenant *t, void (*changed)(struct tenant *t));
void tenant_sleep_free(struct tenant_sleep *s);
/* Its object, its health or who leads has changed: the next look may be due earlier. */
void tenant_sleep_kick(struct tenant_sleep *s);

/* Seen asleep at the last look, and it does not answer. For messages; no act may follow from it. */
bool tenant_sleep_now(const struct tenant *t);
/* May an act follow? It has slept without a break for longer than sleepGrace, by a look at both
 * objects in the host cluster that was begun less than 10 s ago, and its API did not answer at the
 * last try. False when the look is older: then a new one is on its way, and all machines are kicked
 * when it is in. */
bool tenant_sleep_too_long(struct tenant *t);

/* What status has to say of it: asleepSince and asleepObject, and the condition, which is put into
 * cs (with room for one more) or taken out. True: something differs from vc. */
bool tenant_sleep_status(const struct tenant *t, const struct virtual_cluster *vc, struct arena *a,
			 struct conditions *cs, struct virtual_cluster_status *out);

#endif
