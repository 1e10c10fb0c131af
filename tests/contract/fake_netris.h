#ifndef TESTS_CONTRACT_FAKE_NETRIS_H
#define TESTS_CONTRACT_FAKE_NETRIS_H

#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "providers/fabric.h"
#include "sim/netris/netris.h"

/*
 * fake_netris: a simulated Netris controller (sim/netris/netris.h) on the simulated loop, with the
 * configuration that a fabric needs to reach it.
 */
#define FAKE_NETRIS "https://netris.example"
#define FAKE_NETRIS_PASSWORD "horse\"staple"

struct fake_netris {
	struct loop *loop;
	struct loop_group *group;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct secret *password;
	struct sim_netris *sim;
	struct fabric_netris config;
	/* moves: number of changes of a server's cluster. looks: number of V-net lists that were
	 * read */
	unsigned moves, looks;
	unsigned balancer_lists;
	/* Fault of the next request that changes something; HTTP_MEM_WELL: none */
	enum http_mem_fault_kind fate;
};

/* Starts the controller. client: loop group of the fabric that uses f->config. */
void fake_netris_init(struct fake_netris *f, struct loop *l, struct loop_group *client,
		      unsigned servers, int64_t latency_ms, bool loose);
/* Frees f. The fabric that uses f->config must be freed before. */
void fake_netris_done(struct fake_netris *f);

#endif
