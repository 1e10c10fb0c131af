#ifndef CONTROLLER_RULES_WAY_H
#define CONTROLLER_RULES_WAY_H

#include "api/kinds.h"

/*
 * way: what spec.network.apiServer of a VirtualCluster says of the way from its machines to its API
 * server.
 *
 * Pure. Tests: tests/unit/controller/rules/test_way.c
 */

/* Where machines reach it, HOST:PORT: as its spec says, or as it was found; NULL: there is no such
 * way, or it is not known yet. */
const char *way_address(const struct virtual_cluster *vc);
/* An address that only the tenant's own network reaches, by which other machines may be judged;
 * NULL: none. One that was given as it is (via address) may be for all. */
const char *way_own_address(const struct virtual_cluster *vc);
/* The Provider whose fabric is to make a load balancer; NULL: none. */
const char *way_balanced_by(const struct virtual_cluster *vc);
/* What an answer about it holds for: another text, another way.  In the arena. */
const char *way_key(const struct virtual_cluster *vc, struct arena *a);

#endif
