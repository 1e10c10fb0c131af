#ifndef CONTROLLER_TENANT_REQUEST_NODES_H
#define CONTROLLER_TENANT_REQUEST_NODES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * request_nodes: the Nodes of a tenant on which plans reserve pod slots (room for one pod each).
 * Slots are reserved for ProvisioningRequests and for pods that wait until a Node that just joined
 * accepts them (planner/open_bins.h). A Node with reserved slots does not count as empty.
 * Tests: tests/world/test_requests.c
 */
struct tenant;
struct request_nodes;
struct request_nodes *request_nodes_new(struct tenant *t);
void request_nodes_free(struct request_nodes *n);
void request_nodes_clear(struct request_nodes *n);

/* request_nodes_begin(), _keep() and _end() set the Nodes on which the plan reserves pod slots:
 * exactly the Nodes that are passed to _keep() between begin and end. */
void request_nodes_begin(struct request_nodes *n);
void request_nodes_reserve(struct request_nodes *n, const char *node);
void request_nodes_end(struct request_nodes *n);

/* True if pod slots are reserved on the Node. *since: wall ms when the last slot was released; 0 if
 * slots are reserved, or were never seen reserved. */
bool request_nodes_is_reserved(const struct request_nodes *n, const char *node, int64_t *since);

#endif
