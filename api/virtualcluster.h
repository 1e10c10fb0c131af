#ifndef API_VIRTUALCLUSTER_H
#define API_VIRTUALCLUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"

/*
 * virtualcluster: the kind VirtualCluster: a tenant, with its kubeconfig, quota, weight and
 * priority, and what drover must still clean up in its cluster (status.debts). Field tables and
 * checks: api/virtualcluster.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct virtual_cluster_debt {
	const char *node_name, *node_uid, *token_id;
	int64_t since;
};
/* GPU time that the tenant has used up to `time`, in GPU-seconds with exponential decay. Readers
 * must add the use since `time`. */
struct virtual_cluster_usage {
	int64_t gpu_seconds, time;
};
/* Phases by which machine time is billed: ALLOCATED until the node serves, READY while it serves,
 * DRAINING while it leaves, WIPING until the machine is wiped. */
enum virtual_cluster_phase { PHASE_ALLOCATED, PHASE_READY, PHASE_DRAINING, PHASE_WIPING };
extern const char *const virtual_cluster_phase_names[];
/* Machine time of one month (UTC) with the same pool, instance type, phase and price. It also has
 * the number of machines whose time is still running (controller/rules/ledger.h). */
struct virtual_cluster_charge {
	/* month in UTC, for example "2026-11" */
	const char *month;
	const char *pool, *provider, *instance_type;
	/* enum virtual_cluster_phase */
	int phase;
	/* price of one machine for one hour, in millionths of the currency; -1: unknown */
	int64_t price_per_hour;
	const char *currency;
	/* GPUs of one machine */
	int64_t gpus;
	/* total machine time of the machines with this pool, type, phase and price, in seconds, up
	 * to virtual_cluster_cost.time */
	int64_t seconds;
	/* number of these machines whose time is still running; readers add the time since
	 * virtual_cluster_cost.time for each */
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
/* Field table of a struct virtual_cluster_cost alone, for bills of deleted tenants
 * (controller/rules/kept_bills.h). */
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
/* How a machine joins: by kubeadm in its image, by the script that the tenant's API server serves
 * at /node/join (run as root), or by either. */
enum virtual_cluster_join {
	VIRTUAL_CLUSTER_BY_KUBEADM,
	VIRTUAL_CLUSTER_BY_SCRIPT,
	VIRTUAL_CLUSTER_BY_EITHER
};
extern const char *const virtual_cluster_join_names[];
/* Lowest accepted proof of a tenant's segment, in the order of enum fabric_proof
 * (providers/fabric.h). */
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
	/* IP:PORT at which machines reach the API server; NULL with VIA_L4LB: drover chooses a free
	 * address */
	const char *address;
	/* IP:PORT of each API server behind the load balancer; only with VIA_L4LB */
	struct strings backends;
	/* Provider whose fabric contains the tenant's network; only with VIA_VIP and VIA_L4LB */
	struct object_name_ref *provider_ref;
};
/* State of spec.network.apiServer: the address at which machines reach the API server, and what
 * drover has created for it. */
struct virtual_cluster_api_path {
	/* IP:PORT; NULL: not known yet */
	const char *address;
	/* Provider whose fabric may contain a load balancer created by drover; NULL: none */
	const char *provider;
};
/* Decider whether a NodeClaim of the tenant may get a machine. */
enum virtual_cluster_approval { APPROVAL_NONE, APPROVAL_MANUAL, APPROVAL_WEBHOOK };
extern const char *const virtual_cluster_approval_names[];
struct virtual_cluster_webhook {
	/* https URL */
	const char *url;
	/* Secret in drover's namespace with the CA certificate (key ca.crt) that signed the
	 * service's certificate; NULL: the system's CAs */
	struct object_secret_ref *ca_secret_ref;
	/* longest time in ms until the answer to one request is complete */
	int64_t timeout;
};
/* virtual_cluster_waiting is a waiting pod, according to the latest plan.
 * VIRTUAL_CLUSTER_WAITING_MAX: maximum number of waiting pods in status. */
#define VIRTUAL_CLUSTER_POD_MAX 317 /* maximum length of NAMESPACE/NAME in bytes */
#define VIRTUAL_CLUSTER_MESSAGE_MAX 1024
#define VIRTUAL_CLUSTER_WAITING_MAX 64
struct virtual_cluster_waiting {
	/* NAMESPACE/NAME */
	const char *pod;
	/* position in the queue of all tenants, counted from 1; 0: a machine is being prepared for
	 * the pod, or no machine could run the pod */
	int64_t place;
	/* reason and message of the pod's last event */
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
	/* workload in the host cluster that runs the tenant's API server; NULL: not set, the tenant
	 * never counts as asleep */
	struct virtual_cluster_control_plane *control_plane;
	const char *server, *join_endpoint;
	/* enum virtual_cluster_nodes */
	int nodes;
	/* enum virtual_cluster_join */
	int join;
	struct resources quota;
	/* group of tenants that lend quota to each other; NULL: none */
	const char *cohort;
	struct resources borrowing_limit, lending_limit;
	int64_t weight, priority;
	struct {
		const char *segment;
		/* addresses that machines probe; each address answers only to machines in the
		 * tenant's segment */
		struct strings probe;
		/* enum virtual_cluster_proof: lowest proof of isolation with which a machine may
		 * serve */
		int require_proof;
		/* how machines reach the API server; NULL: at join_endpoint, or at the endpoint
		 * that the tenant's own ConfigMap names */
		struct virtual_cluster_api_server *api_server;
	} network;
	struct {
		/* enum virtual_cluster_approval */
		int claims;
		/* NULL unless claims is APPROVAL_WEBHOOK */
		struct virtual_cluster_webhook *webhook;
	} approval;
	/* time asleep in ms after which the tenant's machines are taken back; -1: never */
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
	/* cost of the tenant's machines; NULL: the tenant never had a machine */
	struct virtual_cluster_cost *cost;
	struct virtual_cluster_api_path *api_server;
	/* the first waiting pods of the queue, at most VIRTUAL_CLUSTER_WAITING_MAX */
	struct virtual_cluster_waits waiting;
	struct {
		struct virtual_cluster_debt *v;
		size_t n;
	} debts;
	/* types of conditions: KubeconfigAccepted Permitted Reachable Ready TakesNodes APIServerWay
	 * Asleep WithinBudget DaemonSetsRead */
	struct conditions conditions;
};
struct virtual_cluster {
	struct object_meta meta;
	struct virtual_cluster_spec spec;
	struct virtual_cluster_status status;
};

#endif
