#ifndef API_VIRTUALCLUSTER_H
#define API_VIRTUALCLUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"

/*
 * virtualcluster: the kind VirtualCluster: a tenant: its kubeconfig, quota, weight, priority, and what is owed to it.
 * Field tables and checks: api/virtualcluster.c.
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
/* Machine time of one month (UTC) that is alike, and how many machines it goes on for (controller/rules/ledger.h). */
struct virtual_cluster_charge {
	const char *month; /* "2026-11" */
	const char *pool, *provider, *instance_type;
	int phase;			       /* enum virtual_cluster_phase */
	const char *price_per_hour, *currency; /* of one machine; NULL: not known */
	int64_t gpus;			       /* of one machine */
	int64_t seconds;  /* of all its machines, up to virtual_cluster_cost.time */
	int64_t machines; /* that it goes on for since then */
};
struct virtual_cluster_charges {
	struct virtual_cluster_charge *v;
	size_t n;
};
struct virtual_cluster_cost {
	int64_t time;
	struct virtual_cluster_charges charges;
};
extern const struct field virtual_cluster_cost_fields[]; /* of one alone: what a bill is kept as */
enum control_plane_kind { CONTROL_PLANE_STATEFUL_SET, CONTROL_PLANE_DEPLOYMENT };
extern const char *const control_plane_kind_names[];
struct virtual_cluster_control_plane {
	int kind; /* enum control_plane_kind */
	const char *namespace, *name;
};
enum virtual_cluster_nodes { VIRTUAL_CLUSTER_PRIVATE, VIRTUAL_CLUSTER_HOST };
extern const char *const virtual_cluster_nodes_names[];
/* How its machines join: kubeadm of their image, or what its API server serves as /node/join, run as root. */
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
	int via;			      /* enum virtual_cluster_via */
	const char *address;		      /* IP:PORT; NULL: l4lb takes a free one */
	struct strings backends;	      /* of l4lb: IP:PORT */
	struct object_name_ref *provider_ref; /* of vip and l4lb */
};
/* What drover knows of that way, and has made for it. */
struct virtual_cluster_way {
	const char *address;  /* IP:PORT; NULL: not known yet */
	const char *provider; /* whose fabric may have a load balancer of ours; NULL: none */
};
/* A pod that waits, as the newest plan has it. */
#define VIRTUAL_CLUSTER_POD_MAX 317 /* bytes of NAMESPACE/NAME */
#define VIRTUAL_CLUSTER_MESSAGE_MAX 1024
#define VIRTUAL_CLUSTER_WAITING_MAX 64
struct virtual_cluster_waiting {
	const char *pod;	      /* NAMESPACE/NAME */
	int64_t place;		      /* in the queue, from 1; 0: it has none */
	const char *reason, *message; /* as in the event on it */
	const char *claim;	      /* the NodeClaim on which it has a seat; NULL: none */
	int64_t since;		      /* wall ms: reason and claim are these since then */
};
struct virtual_cluster_waits {
	struct virtual_cluster_waiting *v;
	size_t n;
};
struct virtual_cluster_spec {
	struct object_secret_ref kubeconfig_secret_ref;
	struct virtual_cluster_control_plane
		*control_plane; /* in the host cluster; NULL: nobody can say whether it sleeps */
	const char *server, *join_endpoint;
	int nodes; /* enum virtual_cluster_nodes */
	int join;  /* enum virtual_cluster_join */
	struct resources quota;
	const char *cohort; /* NULL: of none */
	struct resources borrowing_limit, lending_limit;
	int64_t weight, priority;
	struct {
		const char *segment;
		struct strings probe; /* addresses that answer there alone */
		int require_proof;    /* enum virtual_cluster_proof */
		struct virtual_cluster_api_server
			*api_server; /* NULL: join_endpoint, or its own word */
	} network;
	int64_t sleep_grace; /* ms; -1: never */
	bool paused;
};
struct virtual_cluster_status {
	int64_t observed_generation;
	const char *cluster_uid, *version;
	int64_t last_contact_time, asleep_since;
	const char *asleep_object; /* "UID/GENERATION" of its control plane then */
	struct resources allocated;
	struct virtual_cluster_usage *usage;
	struct virtual_cluster_cost *cost; /* NULL: it never had a machine */
	struct virtual_cluster_way *api_server;
	struct virtual_cluster_waits waiting; /* its first pods in the queue */
	struct {
		struct virtual_cluster_debt *v;
		size_t n;
	} debts;
	struct conditions
		conditions; /* KubeconfigAccepted Permitted Reachable Ready TakesNodes APIServerWay Asleep */
};
struct virtual_cluster {
	struct object_meta meta;
	struct virtual_cluster_spec spec;
	struct virtual_cluster_status status;
};

#endif
