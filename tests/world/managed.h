#ifndef TESTS_WORLD_MANAGED_H
#define TESTS_WORLD_MANAGED_H

#include "sim/head.h"
#include "tests/world/world.h"

/*
 * managed: all machines of a world are nodes of a BCM head node: n1 is gpu-1. Their Machines name
 * the Provider bcm-1, and the pool its category. The head node is reached from provisioning alone.
 * After world_start(), before the first replica.
 */
#define MANAGED_HEAD "https://head:8081"

struct managed {
	struct sim_world *world;
	struct sim_head *head;
	struct httpd *httpd;
	struct secret *password;
	/* the devices, as BCM had them */
	char *before[WORLD_BOXES];
};
void managed_start(struct managed *m, struct sim_world *w);
/* before world_stop() */
void managed_end(struct managed *m);
void managed_fault(struct managed *m, const char *json);
/* BCM has this node as it had it at the start, and nobody holds it. */
bool managed_is_back(const struct managed *m, const struct server *b);

#endif
