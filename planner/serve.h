#ifndef PLANNER_SERVE_H
#define PLANNER_SERVE_H

#include "planner/queue.h"

/*
 * serve: the turn of one pod in the queue.
 *
 * The pod goes into the first bin (candidate node, bins.h) of its tenant that fits. If none fits, a
 * new bin is opened on a free machine. If no machine suits, the pod gets one reason per pool.
 * Results are stored in the pod's class (pods with equal constraints and requests) and reused for
 * its other pods.
 * Tests: tests/unit/planner/test_plan.c, tests/unit/planner/test_budget.c
 */

/* Work units (computing time, plan.h) charged for a step that is done once for each pod. */
#define POD_WORK 20

/* Places the pod of entry q on the claim that was made for it, if the pod still fits there. Does
 * nothing for a pod without a gang once the claim's node serves, because kube-scheduler binds that
 * pod there, or the pod needs a new decision. */
void serve_seat(struct planning *p, struct queued *q);
/* Serves queue entry q and writes the result to *out. Returns true if the pod was not placed now,
 * but may be placed after other pods. */
bool serve_pod(struct planning *p, struct queued *q, struct plan_pod *out);
/* True if the pod's topology constraints admit at least one location now. The answer may have been
 * false before, if the pod's affinity requires a pod that was not yet placed. */
bool serve_may_go_on(const struct queued *q);
/* True if free machines would not help a pod that is not placed: the pod can be placed only after
 * the pod itself, its gang, its tenant, the pools or the instance types change. Such a pod gets no
 * position in the queue. */
bool serve_fits_nothing(const struct plan_pod *p);

#endif
