#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "sim/machine.h"

/*
 * node: what the operating system on the root drive does (docs/image-contract.md): reads
 * drover-join.cfg from the config drive, registers a Node with the bootstrap token, keeps its Lease and
 * Ready condition, and runs the pods bound to it: Running after a while, traces of them on the
 * drives, Succeeded for Jobs' pods when the annotation sim.drover.dev/run-for has passed, gone after their grace when deleted.
 *
 * It reaches its cluster only while the switch has its port in that tenant's segment.
 */
struct sim_node;
/* NULL: the root drive holds no image that it knows, or no config drive. */
struct sim_node *sim_node_new(struct loop_group *g, struct sim_machine *m, struct err *e);
void sim_node_free(struct sim_node *n); /* as power loss does */

#endif
