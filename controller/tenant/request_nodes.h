#ifndef CONTROLLER_TENANT_REQUEST_NODES_H
#define CONTROLLER_TENANT_REQUEST_NODES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * request_nodes: the Nodes of a tenant on which plans keep seats, for ProvisioningRequests and for
 * pods that wait until a Node that just joined takes them (planner/room.h). Such a Node does not
 * count as empty; it counts as empty from the first plan on that keeps no seat there.
 * Tests: tests/world/test_requests.c
 */
struct tenant;
struct request_nodes;
struct request_nodes *request_nodes_new(struct tenant *t);
void request_nodes_free(struct request_nodes *n);
void request_nodes_clear(struct request_nodes *n);

/* A plan keeps those that are named between the two, and no others. */
void request_nodes_begin(struct request_nodes *n);
void request_nodes_keep(struct request_nodes *n, const char *node);
void request_nodes_end(struct request_nodes *n);

/* Whether seats are kept there; *since: wall ms since when none is, 0: as long as is known. */
bool request_nodes_keeps(const struct request_nodes *n, const char *node, int64_t *since);

#endif
