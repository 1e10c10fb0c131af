#ifndef SIM_AGENT_H
#define SIM_AGENT_H

#include "sim/machine.h"

/*
 * agent: drover-agent's side of wipe/proto.h, written from that header alone, on the drives of a
 * sim_machine: hello, orders, progress, inspect, wipe (canaries, erase), verify (canaries, samples,
 * evidence signed), write (image fetched, digest checked, unpacked, config drive appended, stamps),
 * probe, poweroff.
 */
struct sim_agent;
/* block: the PROTO_BOOT_BLOCK bytes that it was started with. NULL with *e when it cannot be
 * read. */
struct sim_agent *sim_agent_new(struct loop_group *g, struct sim_machine *m, const char *block,
				size_t len, struct err *e);
/* as power loss does */
void sim_agent_free(struct sim_agent *a);

#endif
