#ifndef TESTS_WORLD_CLUSTER_H
#define TESTS_WORLD_CLUSTER_H

#include "base/httpd/http_mem.h"
#include "base/data/json.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/store/store.h"
#include "kube/apiserver/apiserver.h"

/*
 * cluster: one cluster's control plane in the simulated world: an API server on a store in memory,
 * a client for everything that is not drover, and a scheduler that knows GPUs and taints.
 *
 * Reads go directly to the store, without HTTP, so that the invariants can be checked after every
 * event. Writes go through the API server, as for any client.
 */
/* suffix of the address at which the cluster's own scheduler, kubelets and operators reach the API
 * server; faults never apply to it */
#define CLUSTER_INSIDE ".inside:6443"

struct cluster {
	const char *name;
	/* For example https://team-a:6443 and team-a:6443. */
	char origin[80], endpoint[80];
	/* The only bearer token that the API server accepts. */
	char token[64];
	struct loop *loop;
	struct loop_group *group;
	struct http_mem_net *net;
	struct store *store;
	struct apiserver *api;
	struct httpd *httpd;
	struct http *http;
	struct http_peer *peer;
	struct secret *bearer;
	struct list asks;
	bool away;
	/* True: Nodes that drover could not delete may still exist in this cluster. */
	bool owed;

	/* GET /node/join, as a vCluster with private nodes serves it. */
	struct {
		/* Size of the join script; 0 means that the cluster serves none. */
		size_t bytes;
		/* CA that signed the certificate shown to nodes; NULL: the CA of the kubeconfig. */
		const char *ca_pem;
		unsigned served;
	} script;

	struct loop_timer scheduler;
	/* Store revision at the last scheduler pass. */
	uint64_t scheduled;
	bool binding;
	/* True: the scheduler never binds a pod to the first Node that it finds suitable. */
	bool picky;
	/* Name of the Node that a picky scheduler refuses; "": not chosen yet. */
	char refused[256];
};

void cluster_init(struct cluster *p, struct loop *l, struct http_mem_net *net, const char *name);
void cluster_done(struct cluster *p);

/* Returns a kubeconfig for server with the token and this CA inline; the caller frees it. */
char *cluster_kubeconfig(const struct cluster *p, const char *server, const char *ca_pem);
/* True: the API server is unreachable for everybody from now on. False: reachable again. */
void cluster_away(struct cluster *p, bool away);
/* Starts a scheduler that binds pods to nodes with free capacity and marks the others
 * unschedulable. */
void cluster_start_scheduler(struct cluster *p);

/* Sends a request as a client of the cluster. Takes ownership of body. done may be NULL; its o is
 * NULL if there was no reply. */
typedef void cluster_done_fn(int status, json_t *o, void *arg);
void cluster_ask(struct cluster *p, const char *method, const char *path, json_t *body,
		 cluster_done_fn *done, void *arg);

/* Returns a new reference to the object under a key such as "pods/default/train" or
 * "machines.drover.dev/gpu-1"; NULL: not found. */
json_t *cluster_get(const struct cluster *p, const char *key);
/* True if the cluster has this bootstrap token and it has not expired. */
bool cluster_knows_token(const struct cluster *p, const char *token);
/* Calls fn for each object whose key starts with prefix, until fn returns false. */
void cluster_each(const struct cluster *p, const char *prefix,
		  bool (*fn)(const json_t *o, void *arg), void *arg);

#endif
