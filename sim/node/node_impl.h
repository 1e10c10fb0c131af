#ifndef SIM_NODE_NODE_IMPL_H
#define SIM_NODE_NODE_IMPL_H

#include "base/arena.h"
#include "base/data/json.h"
#include "base/data/scan.h"
#include "base/list.h"
#include "base/map.h"
#include "sim/node/node.h"

/*
 * node_impl: shared by node.c (boot, Node, Lease), ask.c (requests), join.c (CA of the cluster),
 * cert.c (client certificate) and pods.c (pods).
 */
struct node_pods;

/* How the node authenticates to its API server. */
enum node_who {
	/* No identity yet: the bootstrap token requests a certificate. */
	NODE_NO_IDENTITY,
	/* No certificate is available: the bootstrap token itself authenticates. */
	NODE_BOOTSTRAP,
	/* The Node was registered with the bootstrap token, without a certificate:
	 * spec.kubelet_token authenticates. */
	NODE_TOKEN,
	NODE_CERTIFICATE,
};
/* Size of the kubelet's stored credentials, in bytes; they are located before the config drive on
 * the root drive. */
#define NODE_PKI_BYTES (4 * DRIVE_BLOCK)

struct sim_node {
	struct loop_group *group;
	struct sim_machine *machine;
	struct arena *arena;
	/* Members from here to kubelet: settings from the config drive and the image. */
	const char *endpoint, *token, *ca_hash, *name, *provider_id, *labels, *taints, *reserved;
	const char *kube_reserved, *max_pods, *kubelet;
	char origin[300];

	/* Connection to the API server; NULL: the cluster's CA is not known yet. */
	struct http_peer *peer;
	/* CA of the cluster; NULL: not known yet. */
	char *ca;
	enum node_who who;
	/* Bearer token of requests; NULL: only the certificate is used. */
	struct secret *bearer;
	/* Private key of the certificate that was requested or is used. */
	struct secret *key;
	/* Client certificate as PEM; NULL: not signed yet. */
	char *cert;
	/* Name of the CertificateSigningRequest. */
	char request[80];
	bool requested;
	int64_t requested_at;
	struct list calls;
	/* Timer of the kubelet's next action. */
	struct loop_timer timer;
	bool asking, registered, ready, gpus, wrong_uuid;
	int64_t ready_at, gpus_at, lease_at, status_at;
	/* Unix ms of the boot, and of the change to Ready. */
	int64_t booted, ready_since;

	/* Connection to the API server without verification of its certificate, used only to read
	 * cluster-info. */
	struct http_peer *stranger;
	struct http_req *discovery;
	void (*discovered)(struct sim_node *n);
	void (*identified)(struct sim_node *n);
	struct node_pods *pods;
};

typedef void node_done_fn(struct sim_node *n, int status, const json_t *o, void *arg);
/* Sends a request to the API server. Takes ownership of body; PATCH is a merge patch. done() is
 * called later, never before node_ask() returns; status 0: no answer. */
void node_ask(struct sim_node *n, const char *method, const char *path, json_t *body,
	      node_done_fn *done, void *arg);
/* Drops the requests that are in progress. */
void node_ask_free(struct sim_node *n);
bool node_reaches(const struct sim_node *n);
int64_t node_now(const struct sim_node *n);
const char *node_time(const struct sim_node *n, char *out);

/* Replaces n->peer by a connection that authenticates as n->who and the certificate require. */
int node_connect(struct sim_node *n, struct err *e) __attribute__((warn_unused_result));
/* Reads the credentials that an earlier boot stored on the root drive, if any. */
void node_read_credentials(struct sim_node *n);
/* Performs one step to get the identity of the kubelet (n->who); calls done(n) when the step has
 * ended, at once or later. */
void node_identify(struct sim_node *n, void (*done)(struct sim_node *n));
/* node_is_registered(): call it when the Node exists. node_is_refused(): call it when the API
 * server refused to create the Node. */
void node_is_registered(struct sim_node *n);
void node_is_refused(struct sim_node *n);

/* Finds the cluster's CA and creates n->peer. Calls done(n) at once or later. n->peer exists then,
 * unless the cluster was not found in this attempt. */
void node_find_cluster(struct sim_node *n, void (*done)(struct sim_node *n));

/* Starts to list and watch the pods that are bound to the Node. */
struct node_pods *node_pods_new(struct sim_node *n);
void node_pods_free(struct node_pods *p);

#endif
