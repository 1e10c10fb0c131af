#ifndef TESTS_CONTRACT_FAKE_HEAD_H
#define TESTS_CONTRACT_FAKE_HEAD_H

#include "base/httpd/http_mem.h"
#include "providers/provider.h"
#include "sim/head.h"
#include "tests/contract/fake_bmc.h"

/*
 * fake_head: a simulated BCM head node in front of fake BMCs: what it switches shows at them. Node
 * i, "n0" and so on, has the BMC 10.0.8.(17 + i).
 */
#define FAKE_HEAD "https://head:8081"
#define FAKE_HEAD_PASSWORD "battery staple"

#define FAKE_HEAD_NODES 64

/* What a BMC switched is told to the node in front of it. */
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
	/* how drover reaches it, by login */
	struct provider_manager manager;
};
void fake_head_start(struct fake_head *h, struct http_mem_net *net, struct loop_group *g);
struct sim_head_node *fake_head_add(struct fake_head *h, struct fake_bmc *b, int i);
/* before its BMCs */
void fake_head_done(struct fake_head *h);

#endif
