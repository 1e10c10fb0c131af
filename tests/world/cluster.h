#ifndef TESTS_WORLD_CLUSTER_H
#define TESTS_WORLD_CLUSTER_H

#include "base/httpd/http_mem.h"
#include "base/data/json.h"
#include "base/list.h"
#include "base/loop/loop.h"
#include "base/store/store.h"
#include "kube/apiserver/apiserver.h"

/*
 * cluster: one cluster's control plane in the simulated world: an API server on
 * a store in memory, a client for whatever is not drover, and a scheduler that
 * knows GPUs and taints.
 *
 * Reading goes past HTTP, straight to the store, so that an invariants can look
 * after every event.  Writing goes through the API server like everybody's.
 */
/* where its own scheduler, kubelets and people find it, whatever else fails */
#define CLUSTER_INSIDE ".inside:6443"

struct cluster {
	const char *name;
	/* https://team-a:6443, team-a:6443 */
	char origin[80], endpoint[80];
	/* the only one that the API server lets in, as a bearer */
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
	/* it may keep Nodes that drover could not delete */
	bool owed;

	/* GET /node/join, as a vCluster with private nodes serves it; bytes 0: it does not. */
	struct {
		/* of the script */
		size_t bytes;
		/* what signed the certificate that nodes see; NULL: what the kubeconfig says */
		const char *ca_pem;
		unsigned served;
	} script;

	struct loop_timer scheduler;
	/* revision of the last look */
	uint64_t scheduled;
	bool binding;
	/* it binds no pod to the first Node that would do, for a reason of its own */
	bool picky;
	/* that Node; "": none yet */
	char refused[256];
};

void cluster_init(struct cluster *p, struct loop *l, struct http_mem_net *net, const char *name);
void cluster_done(struct cluster *p);

/* A kubeconfig with the token and this CA inline, for a server at that address; malloc'd. */
char *cluster_kubeconfig(const struct cluster *p, const char *server, const char *ca_pem);
/* Nobody reaches the API server any more (true), or again. */
void cluster_away(struct cluster *p, bool away);
/* A scheduler that binds pods to nodes with room, or marks them unschedulable. */
void cluster_start_scheduler(struct cluster *p);

/* body: taken.  o is NULL when there was no reply; done may be NULL. */
typedef void cluster_done_fn(int status, json_t *o, void *arg);
void cluster_ask(struct cluster *p, const char *method, const char *path, json_t *body,
		 cluster_done_fn *done, void *arg);

/* The object under a key such as "pods/default/train" or "machines.drover.dev/gpu-1"; gives, NULL:
 * none. */
json_t *cluster_get(const struct cluster *p, const char *key);
/* A bootstrap token that it knows, and that has not expired. */
bool cluster_knows_token(const struct cluster *p, const char *token);
/* Each object under the prefix; false from fn stops. */
void cluster_each(const struct cluster *p, const char *prefix,
		  bool (*fn)(const json_t *o, void *arg), void *arg);

#endif
