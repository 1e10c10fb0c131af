#ifndef SIM_NODE_IMPL_H
#define SIM_NODE_IMPL_H

#include "base/arena.h"
#include "base/data/json.h"
#include "base/data/scan.h"
#include "base/list.h"
#include "base/map.h"
#include "sim/node.h"
#include "sim/rack.h"

/*
 * node_impl: node.c (boot, Node, Lease), node_join.c (whom to trust) and node_pods.c among themselves.
 */
struct node_pods;

struct sim_node {
	struct loop_group *group;
	struct sim_machine *machine;
	struct arena *arena;
	/* from the config drive and the image */
	const char *endpoint, *token, *ca_hash, *name, *provider_id, *labels, *taints, *reserved;
	const char *kube_reserved, *max_pods, *kubelet;
	char origin[300];

	struct http_peer *peer; /* NULL: the cluster's CA is not known yet */
	struct secret *bearer;
	struct list calls;
	struct loop_timer timer; /* what the kubelet does next */
	bool asking, registered, ready, gpus, wrong_uuid;
	int64_t ready_at, gpus_at, lease_at, status_at;
	int64_t booted, ready_since; /* Unix ms */

	struct http_peer *stranger; /* asked for cluster-info, believed in nothing else */
	struct http_req *discovery;
	void (*discovered)(struct sim_node *n);
	struct node_pods *pods;
};

typedef void node_done_fn(struct sim_node *n, int status, const json_t *o, void *arg);
/* body: taken; PATCH is a merge patch.  status 0: no answer.  Never answered from inside. */
void node_ask(struct sim_node *n, const char *method, const char *path, json_t *body,
	      node_done_fn *done, void *arg);
bool node_reaches(const struct sim_node *n);
int64_t node_now(const struct sim_node *n);
const char *node_time(const struct sim_node *n, char *out);

/* Makes n->peer, at once or after a while; done(n) when it is there or was not found this time. */
void node_find_cluster(struct sim_node *n, void (*done)(struct sim_node *n));

struct node_pods *node_pods_new(struct sim_node *n); /* begins to watch */
void node_pods_free(struct node_pods *p);

#endif
