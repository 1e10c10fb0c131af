#ifndef API_VIRTUALCLUSTER_H
#define API_VIRTUALCLUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"

/*
 * virtualcluster: the kind VirtualCluster: a tenant: its kubeconfig, quota, weight and priority,
 * and what drover must still clean up in its cluster. Field tables and checks:
 * api/virtualcluster.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct virtual_cluster_debt {
	const char *node_name, *node_uid, *token_id;
	int64_t since;
};
/* GPU-seconds with exponential decay, and the time from which later usage must be added. */
struct virtual_cluster_usage {
	int64_t gpu_seconds, time;
};
/* Phases by which machine time is billed: until the node serves, serving, leaving, and until the
 * machine is wiped. */
enum virtual_cluster_phase { PHASE_ALLOCATED, PHASE_READY, PHASE_DRAINING, PHASE_WIPING };
extern const char *const virtual_cluster_phase_names[];
/* Machine time of one month (UTC) with equal pool, instance type, phase and price, and the number
 * of machines for which it continues (controller/rules/ledger.h). */
struct virtual_cluster_charge {
	/* such as "2026-11" */
	const char *month;
	const char *pool, *provider, *instance_type;
	/* enum virtual_cluster_phase */
	int phase;
	/* price of one machine for one hour; NULL: unknown */
	const char *price_per_hour, *currency;
	/* GPUs of one machine */
	int64_t gpus;
	/* machine time in seconds of all these machines, until virtual_cluster_cost.time */
	int64_t seconds;
	/* machines whose time since virtual_cluster_cost.time must be added */
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
/* Fields of a struct virtual_cluster_cost alone, as kept bills are stored. */
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
/* How machines join: by kubeadm in their image, by the script that the API server serves at
 * /node/join (run as root), or by either. */
enum virtual_cluster_join {
	VIRTUAL_CLUSTER_BY_KUBEADM,
	VIRTUAL_CLUSTER_BY_SCRIPT,
	VIRTUAL_CLUSTER_BY_EITHER
};
extern const char *const virtual_cluster_join_names[];
/* Same order as enum fabric_proof (providers/fabric.h). */
enum virtual_cluster_proof {
	VIRTUAL_CLUSTER_PROOF_NONE,
	VIRTUAL_CLUSTER_PROOF_WEAK,
	VIRTUAL_CLUSTER_PROOF_STRONG
};
extern const char *const virtual_cluster_proof_names[];
/* How machines reach the tenant's API server. */
enum virtual_cluster_via { VIA_VIP, VIA_L4LB, VIA_ADDRESS };
extern const char *const virtual_cluster_via_names[];
struct virtual_cluster_api_server {
	/* enum virtual_cluster_via */
	int via;
	/* IP:PORT; NULL: with l4lb a free address is chosen */
	const char *address;
	/* IP:PORT of the API servers; only with l4lb */
	struct strings backends;
	/* only with vip and l4lb */
	struct object_name_ref *provider_ref;
};
/* State of spec.network.apiServer: the known address, and what drover has created for it. */
struct virtual_cluster_way {
	/* IP:PORT; NULL: unknown yet */
	const char *address;
	/* Provider whose fabric may contain a load balancer created by drover; NULL: none */
	const char *provider;
};
/* A waiting pod, according to the latest plan. */
#define VIRTUAL_CLUSTER_POD_MAX 317 /* longest NAMESPACE/NAME in bytes */
#define VIRTUAL_CLUSTER_MESSAGE_MAX 1024
#define VIRTUAL_CLUSTER_WAITING_MAX 64
struct virtual_cluster_waiting {
	/* NAMESPACE/NAME */
	const char *pod;
	/* position in the queue, counted from 1; 0: none */
	int64_t place;
	/* same as in the pod's event */
	const char *reason, *message;
	/* NodeClaim on which capacity is reserved for the pod; NULL: none */
	const char *claim;
	/* wall ms since which reason and claim have not changed */
	int64_t since;
};
struct virtual_cluster_waits {
	struct virtual_cluster_waiting *v;
	size_t n;
};
struct virtual_cluster_spec {
	struct object_secret_ref kubeconfig_secret_ref;
	/* workload in the host cluster; NULL: whether the tenant sleeps is unknown */
	struct virtual_cluster_control_plane *control_plane;
	const char *server, *join_endpoint;
	/* enum virtual_cluster_nodes */
	int nodes;
	/* enum virtual_cluster_join */
	int join;
	struct resources quota;
	/* NULL: no cohort */
	const char *cohort;
	struct resources borrowing_limit, lending_limit;
	int64_t weight, priority;
	struct {
		const char *segment;
		/* addresses that answer only in the segment */
		struct strings probe;
		/* enum virtual_cluster_proof */
		int require_proof;
		/* NULL: join_endpoint, or the endpoint that the tenant's ConfigMap names */
		struct virtual_cluster_api_server *api_server;
	} network;
	/* in ms; -1: never */
	int64_t sleep_grace;
	bool paused;
};
struct virtual_cluster_status {
	int64_t observed_generation;
	const char *cluster_uid, *version;
	int64_t last_contact_time, asleep_since;
	/* "UID/GENERATION" of the control plane's workload when it fell asleep */
	const char *asleep_object;
	struct resources allocated;
	struct virtual_cluster_usage *usage;
	/* NULL: the tenant never had a machine */
	struct virtual_cluster_cost *cost;
	struct virtual_cluster_way *api_server;
	/* first waiting pods of the queue */
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
