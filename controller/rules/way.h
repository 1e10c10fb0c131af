#ifndef CONTROLLER_RULES_WAY_H
#define CONTROLLER_RULES_WAY_H

#include "api/kinds.h"

/*
 * way: the path from a tenant's machines to its API server, from spec.network.apiServer of the
 * VirtualCluster.
 *
 * Pure. Tests: tests/unit/controller/rules/test_way.c
 */

/* Returns the address at which machines reach the API server, HOST:PORT, from spec or as found.
 * NULL: apiServer is not set, or the address is unknown yet. */
const char *way_address(const struct virtual_cluster *vc);
/* Returns the address if only the tenant's own network reaches it, so that other machines may be
 * probed with it; else NULL. An address with via: address may be reachable for all. */
const char *way_own_address(const struct virtual_cluster *vc);
/* Returns the name of the Provider whose fabric must have a load balancer; NULL: none. */
const char *way_balanced_by(const struct virtual_cluster *vc);
/* Returns a key of all settings that a check of the path depends on, in the arena. A result is void
 * once the key changes. */
const char *way_key(const struct virtual_cluster *vc, struct arena *a);

#endif
