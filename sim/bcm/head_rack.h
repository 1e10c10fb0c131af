#ifndef SIM_BCM_HEAD_RACK_H
#define SIM_BCM_HEAD_RACK_H

#include "sim/bcm/head.h"
#include "sim/rack/rack.h"

/*
 * head_rack: a BCM head node whose nodes are the machines of a rack. Each node has the name of its
 * machine, and the address 127.10.H.L of its BMC (rack.h).
 *
 * Machines reach the head node from the segment "provisioning", and from "" if no switch is
 * configured. An install writes an image that the rack's machines boot (SIM_NODE_MAGIC) to drive 0.
 * Tests: tests/unit/sim/bcm/test_head.c
 */
struct sim_head_rack;
struct sim_head_rack *sim_head_rack_new(struct sim_rack *r, const struct sim_head_spec *s);
/* Frees h. Call it before the rack is freed, and after the httpd that has its routes. */
void sim_head_rack_free(struct sim_head_rack *h);
struct sim_head *sim_head_rack_head(struct sim_head_rack *h);

#endif
