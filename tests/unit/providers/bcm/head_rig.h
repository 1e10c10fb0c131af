#ifndef TESTS_UNIT_PROVIDERS_BCM_HEAD_RIG_H
#define TESTS_UNIT_PROVIDERS_BCM_HEAD_RIG_H

#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "providers/bcm/client.h"
#include "sim/bcm/head.h"

/* head_rig: a simulated BCM head node with the node n1, and a client whose certificate the head
 * node accepts. */
#define HEAD "https://head:8081"

struct head_rig {
	struct loop *loop;
	struct loop_group *server, *group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct sim_head *head;
	struct sim_head_node *node;
	struct bcm *bcm;
};
void head_rig_start(struct head_rig *r);
void head_rig_end(struct head_rig *r);
void head_rig_fault(struct head_rig *r, const char *json);
/* Runs the loop until *flag is not 0, at most for limit_ms. */
void head_rig_wait(struct head_rig *r, const unsigned *flag, int64_t limit_ms);

#endif
