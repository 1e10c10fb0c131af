#ifndef API_VIRTUALCLUSTER_H
#define API_VIRTUALCLUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"

/*
 * virtualcluster: the kind VirtualCluster: a tenant: its kubeconfig, quota, weight, priority, and
 * what is owed to it. Field tables and checks: api/virtualcluster.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct virtual_cluster_debt {
	const char *node_name, *node_uid, *token_id;
	int64_t since;
};
/* GPU seconds, the older, the less. */
struct virtual_cluster_usage {
	int64_t gpu_seconds, time;
};
/* What a tenant's machines are at: in coming, serving, in going, and until they are clean again. */
enum virtual_cluster_phase { PHASE_ALLOCATED, PHASE_READY, PHASE_DRAINING, PHASE_WIPING };
extern const char *const virtual_cluster_phase_names[];
/* Machine time of one month (UTC) that is alike, and how many machines it goes on for
 * (controller/rules/ledger.h). */
struct virtual_cluster_charge {
	/* "2026-11" */
	const char *month;
	const char *pool, *provider, *instance_type;
	/* enum virtual_cluster_phase */
	int phase;
	/* of one machine; NULL: not known */
	const char *price_per_hour, *currency;
	/* of one machine */
	int64_t gpus;
	/* of all its machines, up to virtual_cluster_cost.time */
	int64_t seconds;
	/* that it goes on for since then */
	int64_t machines;
};
struct virtual_cluster_charges {
	struct virtual_cluster_charge *v;
	size_t n;
};
struct virtual_cluster_cost {
	int64_t time;
	struct virtual_cluster_charges charges;
};
/* of one alone: what a bill is kept as */
extern const struct field virtual_cluster_cost_fields[];
enum control_plane_kind { CONTROL_PLANE_STATEFUL_SET, CONTROL_PLANE_DEPLOYMENT };
extern const char *const control_plane_kind_names[];
struct virtual_cluster_control_plane {
	/* enum control_plane_kind */
	int kind;
	const char *namespace, *name;
};
enum virtual_cluster_nodes { VIRTUAL_CLUSTER_PRIVATE, VIRTUAL_CLUSTER_HOST };
extern const char *const virtual_cluster_nodes_names[];
/* How its machines join: kubeadm of their image, or what its API server serves as /node/join, run
 * as root. */
enum virtual_cluster_join {
	VIRTUAL_CLUSTER_BY_KUBEADM,
	VIRTUAL_CLUSTER_BY_SCRIPT,
	VIRTUAL_CLUSTER_BY_EITHER
};
extern const char *const virtual_cluster_join_names[];
/* In the order of enum fabric_proof (providers/fabric.h). */
enum virtual_cluster_proof {
	VIRTUAL_CLUSTER_PROOF_NONE,
	VIRTUAL_CLUSTER_PROOF_WEAK,
	VIRTUAL_CLUSTER_PROOF_STRONG
};
extern const char *const virtual_cluster_proof_names[];
/* How machines reach its API server. */
enum virtual_cluster_via { VIA_VIP, VIA_L4LB, VIA_ADDRESS };
extern const char *const virtual_cluster_via_names[];
struct virtual_cluster_api_server {
	/* enum virtual_cluster_via */
	int via;
	/* IP:PORT; NULL: l4lb takes a free one */
	const char *address;
	/* of l4lb: IP:PORT */
	struct strings backends;
	/* of vip and l4lb */
	struct object_name_ref *provider_ref;
};
/* What drover knows of that way, and has made for it. */
struct virtual_cluster_way {
	/* IP:PORT; NULL: not known yet */
	const char *address;
	/* whose fabric may have a load balancer of ours; NULL: none */
	const char *provider;
};
/* A pod that waits, as the newest plan has it. */
#define VIRTUAL_CLUSTER_POD_MAX 317 /* bytes of NAMESPACE/NAME */
#define VIRTUAL_CLUSTER_MESSAGE_MAX 1024
#define VIRTUAL_CLUSTER_WAITING_MAX 64
struct virtual_cluster_waiting {
	/* NAMESPACE/NAME */
	const char *pod;
	/* in the queue, from 1; 0: it has none */
	int64_t place;
	/* as in the event on it */
	const char *reason, *message;
	/* the NodeClaim on which it has a seat; NULL: none */
	const char *claim;
	/* wall ms: reason and claim are these since then */
	int64_t since;
};
struct virtual_cluster_waits {
	struct virtual_cluster_waiting *v;
	size_t n;
};
struct virtual_cluster_spec {
	struct object_secret_ref kubeconfig_secret_ref;
	/* in the host cluster; NULL: nobody can say whether it sleeps */
	struct virtual_cluster_control_plane *control_plane;
	const char *server, *join_endpoint;
	/* enum virtual_cluster_nodes */
	int nodes;
	/* enum virtual_cluster_join */
	int join;
	struct resources quota;
	/* NULL: of none */
	const char *cohort;
	struct resources borrowing_limit, lending_limit;
	int64_t weight, priority;
	struct {
		const char *segment;
		/* addresses that answer there alone */
		struct strings probe;
		/* enum virtual_cluster_proof */
		int require_proof;
		/* NULL: join_endpoint, or its own word */
		struct virtual_cluster_api_server *api_server;
	} network;
	/* ms; -1: never */
	int64_t sleep_grace;
	bool paused;
};
struct virtual_cluster_status {
	int64_t observed_generation;
	const char *cluster_uid, *version;
	int64_t last_contact_time, asleep_since;
	/* "UID/GENERATION" of its control plane then */
	const char *asleep_object;
	struct resources allocated;
	struct virtual_cluster_usage *usage;
	/* NULL: it never had a machine */
	struct virtual_cluster_cost *cost;
	struct virtual_cluster_way *api_server;
	/* its first pods in the queue */
	struct virtual_cluster_waits waiting;
	struct {
		struct virtual_cluster_debt *v;
		size_t n;
	} debts;
	/* KubeconfigAccepted Permitted Reachable Ready TakesNodes APIServerWay Asleep */
	struct conditions conditions;
};
struct virtual_cluster {
	struct object_meta meta;
	struct virtual_cluster_spec spec;
	struct virtual_cluster_status status;
};

#endif
