#ifndef TESTS_WORLD_CLUSTER_H
#define TESTS_WORLD_CLUSTER_H

#include "tests/simulated/http_mem.h"
#include "base/data/json.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/store/store.h"
#include "kube/apiserver/apiserver.h"

/*
 * cluster: one cluster's control plane in the simulated world: an API server on a store in memory,
 * a client for all programs that are not drover, and a scheduler that knows GPUs and taints.
 *
 * cluster_get() and cluster_each() read the store directly, without HTTP, so that the invariants
 * can be checked after every event. Writes go through the API server.
 */
/* suffix of the address at which the cluster's own scheduler, kubelets and operators reach the API
 * server; faults never apply to it */
#define CLUSTER_INSIDE ".inside:6443"

struct cluster {
	const char *name;
	/* URL and HOST:PORT of the API server, e.g. https://team-a:6443 and team-a:6443. */
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
	/* True: the API server refuses every bootstrap token. */
	bool no_bootstrap;
	/* User of the bootstrap token that was tried last, and the number of tries that were
	 * accepted. */
	char bootstrap[32];
	unsigned tries;
	struct list asks;
	bool away;
	/* True: drover could not delete its Nodes in this cluster, so they may still exist. */
	bool owed;

	/* The join script, which a vCluster with private nodes serves at /node/join. */
	struct {
		/* Size of the join script; 0: the cluster serves no join script. */
		size_t bytes;
		/* CA that signed the certificate of the server of the script; NULL: the CA of the
		 * kubeconfig. */
		const char *ca_pem;
		unsigned served;
	} script;

	struct loop_timer scheduler;
	/* Store revision at the last scheduler pass. */
	uint64_t scheduled;
	bool binding;
	/* True: the scheduler never binds a pod to the first Node that it tries and finds
	 * suitable. */
	bool picky;
	/* Name of the Node that a picky scheduler refuses; "": not chosen yet. */
	char refused[256];
};

void cluster_init(struct cluster *p, struct loop *l, struct http_mem_net *net, const char *name);
void cluster_done(struct cluster *p);

/* Returns a kubeconfig for the URL `server`, with the cluster's token and ca_pem inline; the caller
 * frees it. */
char *cluster_kubeconfig(const struct cluster *p, const char *server, const char *ca_pem);
/* Makes the API server unreachable for every client (away true), or reachable again. */
void cluster_away(struct cluster *p, bool away);
/* Starts a scheduler. It binds pods to nodes with free capacity, and marks pods that fit on no node
 * as unschedulable. */
void cluster_start_scheduler(struct cluster *p);

/* Sends a request as a client of the cluster. Takes ownership of body. done may be NULL; its
 * argument o is NULL if there was no reply. */
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
