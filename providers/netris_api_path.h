#ifndef PROVIDERS_NETRIS_API_PATH_H
#define PROVIDERS_NETRIS_API_PATH_H

#include "providers/netris_api_path_judge.h"
#include "providers/netris_make.h"

/*
 * netris_api_path: provides the path to a tenant's API server at a Netris controller. The path
 * is an L4 load balancer that drover creates, or a VIP (virtual IP address), for which drover only
 * checks that the network meets its needs.
 *
 *   lists --> (create VPC and cluster --> lists) --> one of:
 *     load balancer: (POST, PUT or DELETE --> list) --> judged
 *     VIP: the cluster, its V-nets --> judged
 *
 * Load balancers have no tags. So drover recognizes its own by the name PREFIX-SEGMENT-api-UID,
 * which contains the UID of the VirtualCluster. A create request is not idempotent, and its answer
 * may be lost. So no answer counts, only the list that is read afterwards. If a create request
 * takes effect after drover abandoned it, two load balancers have that name; drover keeps the one
 * with the lowest id. The maintenance flag that an operator set on a backend stays unchanged.
 *
 * One read of the lists serves all waiting calls, with NETRIS_API_PATH_GAP_MS between two reads. So
 * five hundred tenants cost as many requests as one, apart from changes and from the reads of the
 * cluster and V-nets of a VIP.
 *
 * On the loop thread; calls done() exactly once, never inside the call.
 * Tests: tests/contract/test_netris_api_path.c
 */
struct netris_api_path_spec {
	/* What to create if the VPC or the server cluster is missing. make.done is ignored;
	 * make.arg is passed to make.may_act(). */
	struct netris_make_spec make;
	struct fabric_api_path path;
	/* Called when the call has ended. s: state of the path; NULL with an error, and after a
	 * removal. */
	void (*done)(const struct fabric_api_path_state *s, const struct err *e, void *arg);
	void *arg;
};
#define NETRIS_API_PATH_GAP_MS 2000

struct netris_api_paths;
struct netris_api_paths *netris_api_paths_new(struct loop_group *g, struct netris *n);
/* Frees the shared state. The caller must do this after all calls have ended or were freed; it may
 * do it inside a done(). */
void netris_api_paths_free(struct netris_api_paths *ws);

struct netris_api_path;

/* Creates or checks the path described by s, and reports its state. remove: true deletes the load
 * balancer instead. What s points to is borrowed until done(). */
struct netris_api_path *netris_api_path_start(struct netris_api_paths *ws,
					      const struct netris_api_path_spec *s, bool remove);
/* Stops the call without done(). w may be NULL. */
void netris_api_path_free(struct netris_api_path *w);

#define NETRIS_API_PATH_NAME 400
/* Writes the name of the load balancer to out. name: name of the tenant's server cluster; uid: UID
 * of the VirtualCluster. */
void netris_api_path_name(char out[static NETRIS_API_PATH_NAME], const char *name, const char *uid);

#endif
