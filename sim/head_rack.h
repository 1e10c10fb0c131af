#ifndef SIM_HEAD_RACK_H
#define SIM_HEAD_RACK_H

#include "sim/head.h"
#include "sim/rack.h"

/*
 * head_rack: a BCM head node whose nodes are the machines of a rack: each has its machine's name,
 * and the BMC 127.10.H.L.
 *
 * It is reached from the segment "provisioning", and from "" where no switch is driven. What it
 * installs is an image as the rack's machines boot it (SIM_NODE_MAGIC), on drive 0.
 * Tests: tests/unit/sim/test_head.c
 */
struct sim_head_rack;
struct sim_head_rack *sim_head_rack_new(struct sim_rack *r, const struct sim_head_spec *s);
/* before the rack, after the httpd that has its routes */
void sim_head_rack_free(struct sim_head_rack *h);
struct sim_head *sim_head_rack_head(struct sim_head_rack *h);

#endif
