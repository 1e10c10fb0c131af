#ifndef TESTS_WORLD_NETRIS_H
#define TESTS_WORLD_NETRIS_H

#include "sim/netris.h"
#include "tests/world/world.h"

/*
 * netris: a world whose Provider moves machines by a Netris controller (sim/netris.h). A server's
 * port is where the controller's switch has it: b->segment follows eth1, b->infiniband and
 * b->nvlink what their managers did.
 */
#define WORLD_NETRIS "https://netris"

struct world_netris {
	struct sim_world *w;
	struct loop_group *group;
	struct httpd *httpd;
	struct sim_netris *sim;
};

/* Before a replica: tenants' clusters have InfiniBand and NVLink, too. */
void world_netris_fabrics(struct sim_world *w);
/* After world_start(), before a replica. */
void world_netris_start(struct world_netris *n, struct sim_world *w, int64_t latency_ms,
			bool loose);
/* and the world */
void world_netris_stop(struct world_netris *n);

#endif
