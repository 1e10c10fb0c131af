#ifndef SIM_AGENT_AGENT_H
#define SIM_AGENT_AGENT_H

#include "sim/machine/machine.h"

/*
 * agent: a simulated drover-agent, written from the protocol in wipe/proto.h without using code of
 * the real agent; it works on the drives of a sim_machine. It implements hello, orders, progress,
 * inspect, wipe (canaries, erase), verify (canaries, samples, signed evidence), write (fetch image,
 * check digest, unpack, append config drive, stamps), probe and poweroff.
 */
struct sim_agent;
/* Starts the agent. block: the boot block in the medium from which the machine booted,
 * PROTO_BOOT_BLOCK bytes. NULL with *e if the block is not valid. */
struct sim_agent *sim_agent_new(struct loop_group *g, struct sim_machine *m, const char *block,
				size_t len, struct err *e);
/* Stops the agent at once, as a power loss does. */
void sim_agent_free(struct sim_agent *a);

#endif
