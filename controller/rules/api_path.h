#ifndef CONTROLLER_RULES_API_PATH_H
#define CONTROLLER_RULES_API_PATH_H

#include "api/kinds.h"

/*
 * api_path: the network path from a tenant's machines to the tenant's API server, as
 * spec.network.apiServer of the VirtualCluster defines it.
 *
 * Pure functions. Tests: tests/unit/controller/rules/test_api_path.c
 */

/* Returns the IP:PORT at which machines reach the tenant's API server, from spec, or from status if
 * drover chose it. NULL: spec.network.apiServer is not set, or the address is not known yet. */
const char *api_path_address(const struct virtual_cluster *vc);
/* Returns the address of api_path_address() if only the tenant's own network reaches it; otherwise
 * NULL, as an address with `via: address` may be reachable for all. If a machine outside the
 * tenant's segment reaches the returned address, that is a leak. */
const char *api_path_own_address(const struct virtual_cluster *vc);
/* Returns the name of the Provider whose fabric must have a load balancer for the tenant; NULL:
 * none. */
const char *api_path_balancer(const struct virtual_cluster *vc);
/* Returns a text of all settings on which a check of the path depends, in the arena; "" if
 * spec.network.apiServer is not set. A result of a check is void once the text changes. */
const char *api_path_key(const struct virtual_cluster *vc, struct arena *a);

#endif
