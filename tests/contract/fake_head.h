#ifndef TESTS_CONTRACT_FAKE_HEAD_H
#define TESTS_CONTRACT_FAKE_HEAD_H

#include "tests/simulated/http_mem.h"
#include "providers/bcm/provider.h"
#include "sim/bcm/head.h"
#include "tests/contract/fake_bmc.h"

/*
 * fake_head: a simulated BCM head node in front of fake BMCs. Power that is switched at the head
 * node changes the fake BMC. Node number i ("n0", ...) has the BMC 10.0.8.(17 + i).
 */
#define FAKE_HEAD "https://head:8081"
#define FAKE_HEAD_PASSWORD "battery staple"

#define FAKE_HEAD_NODES 64

/* A node and its BMC; the node learns of power changes at the BMC */
struct fake_head_pair {
	struct sim_head_node *node;
	struct fake_bmc *bmc;
};

struct fake_head {
	struct fake_head_pair pairs[FAKE_HEAD_NODES];
	size_t n;
	struct sim_head *head;
	struct httpd *httpd;
	struct secret *password;
	/* Address and login of the head node, for drover */
	struct provider_manager manager;
};
void fake_head_start(struct fake_head *h, struct http_mem_net *net, struct loop_group *g);
struct sim_head_node *fake_head_add(struct fake_head *h, struct fake_bmc *b, int i);
/* Frees h. Call it before fake_bmc_done() of its BMCs. */
void fake_head_done(struct fake_head *h);

#endif
