#ifndef PROVIDERS_NETRIS_WAY_JUDGE_H
#define PROVIDERS_NETRIS_WAY_JUDGE_H

#include "netris/netris.h"
#include "providers/fabric.h"

/*
 * netris_way_judge: judges from the objects of a Netris controller whether a tenant's machines can
 * reach its API server.
 *
 * A load balancer must be in the tenant's VPC, enabled, configured as wanted, and report at least
 * one healthy backend. The words that a release uses for health are not published (shapes:
 * netrisai/netriswebapi, v2/types/l4lb): "healthy", "up", "ok" and "active" count as healthy; any
 * other word or none does not, and is quoted. A release that does not report the VPC of a load
 * balancer may place it where every tenant reaches it, so such a load balancer is not used.
 *
 * A VIP is announced by ARP (kube-vip). It needs a layer-2 V-net that contains the hosts of the
 * control plane, and an address in the subnet of that V-net that is neither the gateway nor
 * assigned by DHCP. Facts that a release does not report are named, and left to the packets of the
 * machine (controller/life/probe.h).
 *
 * Pure. Tests: tests/unit/providers/test_netris_way_judge.c
 */
#define NETRIS_WAY_WHY 256

/* Judges load balancer b. Writes the message to why (NETRIS_WAY_WHY bytes); out->address is not
 * set. */
void netris_judge_lb(const struct netris_l4lb *b, int64_t vpc, const struct fabric_way *w,
		     struct fabric_way_seen *out, char *why);
/* Returns true if the load balancer is not configured as wanted; health and VPC are not
 * compared. */
bool netris_lb_differs(const struct netris_l4lb *b, const struct fabric_way *w);

/* Returns true if the IPAM of the site can assign an address to a load balancer: the address
 * wanted, or any if wanted is NULL. False: why contains what is missing. Also true if no subnet
 * reports its purpose; then only the creation shows it. */
bool netris_judge_lb_subnets(const struct netris_subnet *v, size_t n, const char *wanted,
			     char *why);

/* c: the tenant's server cluster, with its members. vnets: the V-nets of c. */
void netris_judge_vip(const struct netris_cluster *c, const struct netris_vnet *vnets, size_t n,
		      const char *vip, struct fabric_way_seen *out, char *why);

#endif
