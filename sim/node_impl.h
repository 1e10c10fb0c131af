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
 * node_impl: node.c (boot, Node, Lease), node_join.c (whom to trust), node_cert.c (who it is) and
 * node_pods.c among themselves.
 */
struct node_pods;

/* What it is to its API server. */
enum node_who {
	/* the bootstrap token asks for a certificate */
	NODE_NOBODY,
	/* there is no certificate to be had: the bootstrap token itself */
	NODE_BOOTSTRAP,
	/* registered so: spec.kubelet_token, which is there in the certificate's place */
	NODE_TOKEN,
	NODE_CERTIFICATE,
};
/* What a kubelet keeps on its disk of its credentials: so many bytes before the config drive. */
#define NODE_PKI_BYTES (4 * DRIVE_BLOCK)

struct sim_node {
	struct loop_group *group;
	struct sim_machine *machine;
	struct arena *arena;
	/* from the config drive and the image */
	const char *endpoint, *token, *ca_hash, *name, *provider_id, *labels, *taints, *reserved;
	const char *kube_reserved, *max_pods, *kubelet;
	char origin[300];

	/* NULL: the cluster's CA is not known yet */
	struct http_peer *peer;
	/* the cluster's, once it is known */
	char *ca;
	enum node_who who;
	/* NULL: the certificate alone */
	struct secret *bearer;
	/* of the certificate that it asks for or has */
	struct secret *key;
	/* NULL: not signed yet */
	char *cert;
	/* name of its CertificateSigningRequest */
	char request[80];
	bool requested;
	int64_t requested_at;
	struct list calls;
	/* what the kubelet does next */
	struct loop_timer timer;
	bool asking, registered, ready, gpus, wrong_uuid;
	int64_t ready_at, gpus_at, lease_at, status_at;
	/* Unix ms */
	int64_t booted, ready_since;

	/* asked for cluster-info, believed in nothing else */
	struct http_peer *stranger;
	struct http_req *discovery;
	void (*discovered)(struct sim_node *n);
	void (*identified)(struct sim_node *n);
	struct node_pods *pods;
};

typedef void node_done_fn(struct sim_node *n, int status, const json_t *o, void *arg);
/* body: taken; PATCH is a merge patch.  status 0: no answer.  Never answered from inside. */
void node_ask(struct sim_node *n, const char *method, const char *path, json_t *body,
	      node_done_fn *done, void *arg);
bool node_reaches(const struct sim_node *n);
int64_t node_now(const struct sim_node *n);
const char *node_time(const struct sim_node *n, char *out);

/* n->peer anew, as who it is now. */
int node_connect(struct sim_node *n, struct err *e) __attribute__((warn_unused_result));
/* What stands on the root drive from before. */
void node_read_credentials(struct sim_node *n);
/* One step on the way to n->who; done(n) after it, at once or after a while. */
void node_identify(struct sim_node *n, void (*done)(struct sim_node *n));
/* Its Node is there; it was not allowed to make it. */
void node_is_registered(struct sim_node *n);
void node_is_refused(struct sim_node *n);

/* Makes n->peer, at once or after a while; done(n) when it is there or was not found this time. */
void node_find_cluster(struct sim_node *n, void (*done)(struct sim_node *n));

/* begins to watch */
struct node_pods *node_pods_new(struct sim_node *n);
void node_pods_free(struct node_pods *p);

#endif
