#ifndef CONTROLLER_TENANT_SLEEP_H
#define CONTROLLER_TENANT_SLEEP_H

#include "controller/tenant/tenant.h"

/*
 * sleep: determines whether a tenant sleeps, since when, and whether it has slept long enough for
 * drover to release its machines.
 *
 * A tenant whose API server does not answer is unreachable, which alone has no consequences. The
 * tenant is asleep if, in addition, the host cluster shows that the control plane named in
 * spec.controlPlane of its VirtualCluster is stopped: a StatefulSet or Deployment with
 * spec.replicas 0, whose controller has observed this (status.observedGeneration) and has no pod
 * left (status.replicas). If the object may not be read, does not exist or is being deleted, the
 * tenant is not known to sleep.
 *
 * An observation reads the VirtualCluster, then the control plane object: every 30 s while the
 * tenant does not answer, else every 5 min, so that a missing permission is reported before it
 * matters. Only the leader observes.
 *
 * status.asleepSince is when the tenant was first seen asleep. The UID and generation of the
 * control plane object are stored with it, because each scaling increases the generation. If the
 * tenant was awake between two observations, or while no controller ran, the generation differs and
 * the time starts again. The condition Asleep reports the result in words.
 *
 * vCluster: `vcluster pause` scales objects with the label app=vcluster to 0, waits for
 * status.replicas 0, and sets the annotations loft.sh/paused "true" and loft.sh/paused-replicas;
 * `vcluster resume` reverses that. A restore from a snapshot does the same under loft.sh/restoring,
 * and is not sleep. Where workload sleep is configured, pausing leaves the control plane running:
 * such a tenant answers, and is awake. (loft-sh/vcluster pkg/lifecycle/lifecycle.go,
 * pkg/constants/annotation.go, pkg/cli/pause_helm.go) drover uses the number of replicas, whoever
 * set it; loft.sh/paused only appears in messages.
 *
 * Tests: tests/unit/controller/tenant/test_sleep.c, tests/world/test_sleep.c
 */
/* Sleep state of one tenant. */
struct tenant_sleep;
/* Creates the state. changed() is called when the observed state has changed, so that the status
 * and the planner are updated. */
struct tenant_sleep *tenant_sleep_new(struct tenant *t, void (*changed)(struct tenant *t));
void tenant_sleep_free(struct tenant_sleep *s);
/* Schedules the next observation. Call after a change of the VirtualCluster, the tenant's health or
 * leadership. */
void tenant_sleep_kick(struct tenant_sleep *s);

/* True if the tenant was asleep at the last observation and does not answer. For messages only;
 * drover must not act on it. */
bool tenant_sleep_now(const struct tenant *t);
/* True if drover may act on the sleep: the tenant has slept without interruption for longer than
 * sleepGrace, both objects in the host cluster were read less than 10 s ago, and the tenant's API
 * server did not answer the last probe. If the observation is older, returns false and starts a new
 * one; when that ends, all machines of the tenant are reconciled. */
bool tenant_sleep_too_long(struct tenant *t);

/* Sets asleep_since and asleep_object in *out, and sets or removes the condition Asleep in cs (the
 * array cs->v must have room for one more condition). Returns true if anything differs from the
 * status in vc. */
bool tenant_sleep_status(const struct tenant *t, const struct virtual_cluster *vc, struct arena *a,
			 struct conditions *cs, struct virtual_cluster_status *out);

#endif
