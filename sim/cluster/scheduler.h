#ifndef SIM_CLUSTER_SCHEDULER_H
#define SIM_CLUSTER_SCHEDULER_H

#include "sim/cluster/rounds.h"

/*
 * scheduler: a small substitute for kube-scheduler in the virtual clusters of the demo. Twice a
 * second it lists the pods without a node, and binds each of them to the first node, by name, that
 * fits. A node fits if it is Ready, not cordoned, matches nodeSelector, required node affinity and
 * tolerations, and has enough free resources. Pods of higher priority come first, then older ones.
 * A pod that fits no node gets the condition PodScheduled False with reason Unschedulable and
 * kube-scheduler's message.
 *
 * Ignored: pod affinity, topology spread, volumes, host ports, preferences. There is no preemption.
 * Pods with scheduling gates or a different schedulerName are left alone.
 */
struct sim_scheduler;
struct sim_scheduler *sim_scheduler_new(struct loop_group *g, const struct sim_rounds_spec *spec,
					struct err *e);
void sim_scheduler_free(struct sim_scheduler *s);
DEFINE_OWN(sim_scheduler)

/* Returns why the pod does not fit the node, in kube-scheduler's words; NULL: it fits. pods: an
 * array of all pods, whose requests count. For tests. */
const char *sim_scheduler_misfit(const json_t *pod, const json_t *node, const json_t *pods);

#endif
