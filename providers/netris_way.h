#ifndef PROVIDERS_NETRIS_WAY_H
#define PROVIDERS_NETRIS_WAY_H

#include "providers/netris_make.h"
#include "providers/netris_way_judge.h"

/*
 * netris_way: the path to a tenant's API server at a Netris controller: an L4 load balancer that
 * drover creates, or a check of what a VIP needs.
 *
 *   lists --> (create VPC and cluster --> lists) --> one of:
 *     load balancer: (POST, PUT or DELETE --> list) --> judged
 *     VIP: the cluster, its V-nets --> judged
 *
 * Load balancers have no tags, so drover recognizes its own by the name PREFIX-SEGMENT-api-UID,
 * which contains the UID of the VirtualCluster. A create is not idempotent and its answer may be
 * lost, so no answer counts: only the list read afterwards does. If two load balancers have that
 * name, because a request took effect after it was abandoned, the one with the lowest id stays. The
 * maintenance flag of backends that an operator set stays unchanged.
 *
 * One read of the lists serves all waiting ways, with NETRIS_WAY_GAP_MS between two reads. So five
 * hundred tenants cost as many requests as one, apart from changes and the cluster and V-nets of a
 * VIP.
 *
 * On the loop thread; calls done() exactly once, never inside the call.
 * Tests: tests/contract/test_netris_way.c
 */
struct netris_way_spec {
	/* For the VPC and the server cluster; done is ignored, arg is passed to may_act(). */
	struct netris_make_spec make;
	struct fabric_way way;
	/* s is NULL with e, and after a removal. */
	void (*done)(const struct fabric_way_seen *s, const struct err *e, void *arg);
	void *arg;
};
#define NETRIS_WAY_GAP_MS 2000

struct netris_ways;
struct netris_ways *netris_ways_new(struct loop_group *g, struct netris *n);
/* Call after all ways have ended or were freed; may be called inside a done(). */
void netris_ways_free(struct netris_ways *ws);

struct netris_way;

/* remove: deletes the load balancer instead. What s points to is borrowed until done(). */
struct netris_way *netris_way(struct netris_ways *ws, const struct netris_way_spec *s, bool remove);
/* Stops without calling done(); NULL is allowed. */
void netris_way_free(struct netris_way *w);

#define NETRIS_WAY_NAME 400
/* Writes the name of the load balancer. name: server cluster of the tenant; uid: of the
 * VirtualCluster. */
void netris_way_name(char out[static NETRIS_WAY_NAME], const char *name, const char *uid);

#endif
