#ifndef TESTS_WORLD_NETRIS_H
#define TESTS_WORLD_NETRIS_H

#include "sim/netris/netris.h"
#include "tests/world/world.h"

/*
 * netris: a world whose Provider moves ports with a Netris controller (sim/netris/netris.h). A
 * server's ports follow the controller: b->segment is the segment of its Ethernet port eth1;
 * b->infiniband and b->nvlink are set by the managers of those fabrics.
 */
#define WORLD_NETRIS "https://netris"

struct world_netris {
	struct sim_world *w;
	struct loop_group *group;
	struct httpd *httpd;
	struct sim_netris *sim;
};

/* Adds InfiniBand and NVLink networks to the tenants' clusters. Call before the first replica. */
void world_netris_fabrics(struct sim_world *w);
/* Starts the controller. latency_ms: time until its answers. loose: the form of its answers varies
 * (sim/netris/netris.h). Call after world_start() and before the first replica. */
void world_netris_start(struct world_netris *n, struct sim_world *w, int64_t latency_ms,
			bool loose);
/* Stops the controller and the world. */
void world_netris_stop(struct world_netris *n);

#endif
