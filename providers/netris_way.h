#ifndef PROVIDERS_NETRIS_WAY_H
#define PROVIDERS_NETRIS_WAY_H

#include "providers/netris_make.h"
#include "providers/netris_way_judge.h"

/*
 * netris_way: the way to a tenant's API server at a Netris controller: an L4 load balancer of ours,
 * or what a VIP needs.
 *
 *   lists --> (make VPC and cluster --> lists) --> load balancer: (POST, PUT or DELETE --> list) --> judged
 *                                             '-> VIP: the cluster, its V-nets --> judged
 *
 * Load balancers have no tags: the one of ours is known by its name, PREFIX-SEGMENT-api-UID, which
 * has the UID of the tenant's object, so that nobody else's has it. A create is not idempotent and
 * its answer may be lost, so no answer is believed: what is listed afterwards decides. Should there
 * be two of that name, since a request took effect after it was given up, the one with the lowest
 * id stays. Maintenance of backends that an operator set stays as it is.
 *
 * Lists are read for all ways that wait, one reading at a time, NETRIS_WAY_GAP_MS between two: five
 * hundred tenants cost as many requests as one, but for what is changed, and for the cluster and
 * V-nets of a VIP.
 *
 * On the loop thread; done() exactly once, never inside the call.
 * Tests: tests/contract/test_netris_way.c
 */
struct netris_way_spec {
	/* of its VPC and cluster; its done does not count, arg is may_act()'s */
	struct netris_make_spec make;
	struct fabric_way way;
	/* s NULL with e, and when a load balancer was to be removed. */
	void (*done)(const struct fabric_way_seen *s, const struct err *e, void *arg);
	void *arg;
};
#define NETRIS_WAY_GAP_MS 2000

struct netris_ways;
struct netris_ways *netris_ways_new(struct loop_group *g, struct netris *n);
/* after its ways; also inside a done() */
void netris_ways_free(struct netris_ways *ws);

struct netris_way;

/* What s points to is borrowed until done().  remove: what was made goes. */
struct netris_way *netris_way(struct netris_ways *ws, const struct netris_way_spec *s, bool remove);
/* ends without done(); NULL is fine */
void netris_way_free(struct netris_way *w);

#define NETRIS_WAY_NAME 400
/* name: of the tenant's cluster */
void netris_way_name(char out[static NETRIS_WAY_NAME], const char *name, const char *uid);

#endif
