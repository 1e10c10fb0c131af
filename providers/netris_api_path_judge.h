#ifndef PROVIDERS_NETRIS_API_PATH_JUDGE_H
#define PROVIDERS_NETRIS_API_PATH_JUDGE_H

#include "netris/netris.h"
#include "providers/fabric.h"

/*
 * netris_api_path_judge: judges from the objects of a Netris controller whether a tenant's machines
 * can reach the tenant's API server.
 *
 * A load balancer must be in the tenant's VPC, enabled, configured as wanted, and report at least
 * one healthy backend. The words that a release uses for health are not published (data types:
 * netrisai/netriswebapi, v2/types/l4lb). "healthy", "up", "ok" and "active" count as healthy. Any
 * other word, or none, does not count as healthy and is quoted in the message. A release that does
 * not report the VPC of a load balancer may have put it where every tenant reaches it, so such a
 * load balancer is not used.
 *
 * A VIP (virtual IP address) is announced by ARP (kube-vip). It needs a layer-2 V-net that contains
 * the hosts of the control plane, and an address in the subnet of that V-net that is neither the
 * gateway nor assigned by DHCP. If a release does not report one of these facts, the message names
 * the fact, and only the probe packets of the machine can check it (controller/life/probe.h).
 *
 * Pure.
 * Tests: tests/unit/providers/test_netris_api_path_judge.c
 */
#define NETRIS_API_PATH_WHY 256

/* Judges load balancer b for path w. vpc: id of the tenant's VPC. Writes the result to *out, except
 * out->address, and the message to why (NETRIS_API_PATH_WHY bytes). */
void netris_judge_lb(const struct netris_l4lb *b, int64_t vpc, const struct fabric_api_path *w,
		     struct fabric_api_path_state *out, char *why);
/* True if load balancer b is not configured as w requires. Health and VPC are not compared. */
bool netris_lb_differs(const struct netris_l4lb *b, const struct fabric_api_path *w);

/* True if the address management (IPAM) of the site can assign a load balancer the address
 * `wanted`, or any address if wanted is NULL. False: why names what is missing. Also true if no
 * subnet reports its purpose, because then only the attempt to create a load balancer shows whether
 * an address is available. */
bool netris_judge_lb_subnets(const struct netris_subnet *v, size_t n, const char *wanted,
			     char *why);

/* Judges the virtual IP address vip. c: the tenant's server cluster, with its members; vnets: the n
 * V-nets of c. Writes the result to *out, and the message to why (NETRIS_API_PATH_WHY bytes). */
void netris_judge_vip(const struct netris_cluster *c, const struct netris_vnet *vnets, size_t n,
		      const char *vip, struct fabric_api_path_state *out, char *why);

#endif
