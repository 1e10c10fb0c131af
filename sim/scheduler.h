#ifndef SIM_SCHEDULER_H
#define SIM_SCHEDULER_H

#include "sim/rounds.h"

/*
 * scheduler: what a virtual cluster of the demo needs of kube-scheduler. It looks at the API server
 * twice a second and gives each pod that has no node to the first one, by name, that is Ready, not
 * cordoned, fits its nodeSelector, required node affinity and tolerations, and has room for its
 * requests; those of higher priority first, then the older. A pod that fits nowhere gets the
 * condition PodScheduled False, reason Unschedulable, and a message in kube-scheduler's words.
 *
 * Not looked at: pod affinity, topology spread, volumes, host ports, preferences; it evicts nobody.
 * Pods with scheduling gates or another schedulerName are left alone.
 */
struct sim_scheduler;
struct sim_scheduler *sim_scheduler_new(struct loop_group *g, const struct sim_rounds_spec *spec,
					struct err *e);
void sim_scheduler_free(struct sim_scheduler *s);
DEFINE_OWN(sim_scheduler)

/* For tests: does this pod fit this node, beside those that are there (an array of pods)? NULL: it
 * does; else why not, as kube-scheduler puts it. */
const char *sim_scheduler_misfit(const json_t *pod, const json_t *node, const json_t *pods);

#endif
