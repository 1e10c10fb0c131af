#ifndef PROVIDERS_NETRIS_WAY_JUDGE_H
#define PROVIDERS_NETRIS_WAY_JUDGE_H

#include "netris/netris.h"
#include "providers/fabric.h"

/*
 * netris_way_judge: whether the objects of a Netris controller let a tenant's machines reach its
 * API server.
 *
 * A load balancer: in the tenant's VPC, enabled, as wanted, and at least one backend is said to be
 * healthy. Which words a release has for that is not published (shapes: netrisai/netriswebapi,
 * v2/types/l4lb): "healthy", "up", "ok" and "active" count, any other word does not and is quoted,
 * and so is none at all. A release that does not say in which VPC a load balancer is may have it
 * where every tenant reaches it: it is not used.
 *
 * A VIP is announced by ARP (kube-vip): it needs a V-net of layer 2 that the hosts of the control
 * plane are in, an address of that V-net's subnet that is not its gateway's, and that DHCP gives to
 * nobody. What a release does not say is told, and left to the packets of the machine itself
 * (controller/life/probe.h).
 *
 * Pure. Tests: tests/unit/providers/test_netris_way_judge.c
 */
#define NETRIS_WAY_WHY 256

/* What it says for itself goes to why, of that size; out->address is not filled in. */
void netris_judge_lb(const struct netris_l4lb *b, int64_t vpc, const struct fabric_way *w,
		     struct fabric_way_seen *out, char *why);
/* Is the load balancer another one than is wanted, but for its health and its VPC? */
bool netris_lb_differs(const struct netris_l4lb *b, const struct fabric_way *w);

/* May the site's IPAM give a load balancer its address? wanted: that address alone; NULL: any.
 * false: why says what is missing. A release whose subnets do not say what they are for is taken at
 * its word only when it makes one. */
bool netris_judge_lb_subnets(const struct netris_subnet *v, size_t n, const char *wanted,
			     char *why);

/* c: the tenant's server cluster, with its members.  vnets: those of it. */
void netris_judge_vip(const struct netris_cluster *c, const struct netris_vnet *vnets, size_t n,
		      const char *vip, struct fabric_way_seen *out, char *why);

#endif
