#ifndef TESTS_WORLD_MANAGED_H
#define TESTS_WORLD_MANAGED_H

#include "sim/bcm/head.h"
#include "tests/world/world.h"

/*
 * managed: a world in which all machines are nodes of a BCM head node; node n1 is gpu-1. Their
 * Machines name the Provider bcm-1, and the pool names their BCM category, "kubernetes". The head
 * node is reachable only from the provisioning segment. Call managed_start() after world_start()
 * and before the first replica.
 */
#define MANAGED_HEAD "https://head:8081"

struct managed {
	struct sim_world *world;
	struct sim_head *head;
	struct httpd *httpd;
	struct secret *password;
	/* JSON of each device as BCM reported it at the start. */
	char *before[WORLD_BOXES];
};
void managed_start(struct managed *m, struct sim_world *w);
/* Frees the head node. Call before world_stop(). */
void managed_end(struct managed *m);
void managed_fault(struct managed *m, const char *json);
/* True if BCM reports the node of b as it was at the start, and the node is not reserved. */
bool managed_is_back(const struct managed *m, const struct server *b);

#endif
