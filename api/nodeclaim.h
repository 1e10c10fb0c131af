#ifndef API_NODECLAIM_H
#define API_NODECLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * nodeclaim: the kind NodeClaim: a request for one node of one virtual cluster, with a fixed copy
 * of its pool's template. Field tables and checks: api/nodeclaim.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct node_claim_gang {
	const char *uid;
	/* number of claims of the gang; 0: unknown */
	int64_t size;
	/* wall ms until which the instances of the gang wait for each other; if they are not all
	 * Ready by then, those without pods are released; 0: no limit */
	int64_t hold_until;
};
/* The decision of a BurstPolicy that the claim carries out: drover launches exactly this offer, at
 * no higher price. */
struct node_claim_burst {
	struct object_ref policy_ref;
	/* NAMESPACE/NAME of the pod, or name of the gang, for which the policy decided */
	const char *work;
	/* workload to which budgets of scope Workload charge the launch; NULL: the text in
	 * `work` */
	const char *workload;
	/* zone NULL: the Provider has no zones */
	const char *region, *zone;
	/* enum market */
	int market;
	/* hourly price of one instance on which the decision is based; amounts are in millionths of
	 * the currency */
	int64_t price;
	const char *currency;
	/* hourly price of one instance that the Provider itself reported at the decision; -1:
	 * none */
	int64_t offered;
	/* highest possible cost of the launch, which counts against the budgets */
	int64_t committed;
	/* part of `committed` that moving the work's data to the instance costs; -1: none */
	int64_t egress;
	int64_t decided_time;
};
enum node_claim_decision { CLAIM_APPROVED, CLAIM_DENIED };
extern const char *const node_claim_decision_names[];
/* Longest time in ms between a denial and its holdUntil, and the usual time if holdUntil is not
 * set. */
#define CLAIM_DENIED_MAX_MS ((int64_t)7 * 24 * 3600 * 1000)
#define CLAIM_DENIED_MS ((int64_t)3600 * 1000)
/* Decision whether the claim may get a machine. */
struct node_claim_approval {
	/* enum node_claim_decision */
	int decision;
	/* user name as the API server knows it, or host of the webhook that decided */
	const char *by;
	const char *reason;
	/* wall ms of the decision; in status, at which drover first saw the decision */
	int64_t time;
	/* CLAIM_DENIED: wall ms until which drover makes no new claim for the pods of the claim; 0:
	 * CLAIM_DENIED_MS after time */
	int64_t hold_until;
	/* only in status: name of the NodeClaim on which the decision was made; NULL: not
	 * recorded */
	const char *claim;
};
struct node_claim_spec {
	struct object_ref virtual_cluster_ref, node_pool_ref;
	/* Machine that the planner chose; NULL: the controller chooses one */
	struct object_ref *machine_ref;
	/* Provider that launches a new instance for the claim; NULL: machine_ref names an existing
	 * machine, or the controller chooses one */
	struct object_name_ref *provider_ref;
	struct object_requirements requirements;
	struct {
		struct resources requests;
	} resources;
	/* UIDs of the pods for which the claim was made */
	struct strings pods;
	struct object_image image;
	struct labels labels, annotations;
	struct object_taints taints, startup_taints;
	struct object_name_ref *user_data_secret_ref;
	struct object_kubelet *kubelet;
	struct object_node_network network;
	struct object_checkpoint *checkpoint;
	struct object_deadlines deadlines;
	struct object_wipe_floor wipe;
	const struct node_claim_gang *gang;
	/* decision that launched the claim; NULL: not launched by a BurstPolicy */
	const struct node_claim_burst *burst;
	/* decision of an administrator; NULL: none */
	const struct node_claim_approval *approval;
	int64_t expire_after, termination_grace_period;
};
struct node_claim_status {
	int64_t observed_generation;
	struct object_ref *machine_ref;
	int64_t tenancy;
	/* phase for human readers: the state of the claim's machine, Pending, Denied, Failed or
	 * Ended */
	const char *phase;
	const char *node_name, *node_uid, *provider_id;
	struct {
		int64_t p50, p90;
	} eta;
	/* decision that counts, of an administrator or of the tenant's webhook; NULL: none */
	const struct node_claim_approval *approval;
	/* types of conditions: Approved Launched Registered Initialized Ready Drifted
	 * Consolidatable Drained VolumesDetached PoweredOff Isolated */
	struct conditions conditions;
};
struct node_claim {
	struct object_meta meta;
	struct node_claim_spec spec;
	struct node_claim_status status;
};

#endif
