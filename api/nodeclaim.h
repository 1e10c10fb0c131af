#ifndef API_NODECLAIM_H
#define API_NODECLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include "api/common.h"
#include "wipe/evidence.h"

/*
 * nodeclaim: the kind NodeClaim: one node for one virtual cluster: a frozen copy of what it was
 * promised. Field tables and checks: api/nodeclaim.c.
 * Tests: tests/unit/api/test_kinds.c, tests/unit/api/test_examples.c
 */

struct node_claim_gang {
	const char *uid;
	/* 0: nobody counts them */
	int64_t size;
	/* 0: none */
	int64_t hold_until;
};
/* The decision of a BurstPolicy that it carries out: exactly that offer, and no dearer. */
struct node_claim_burst {
	struct object_ref policy_ref;
	/* NAMESPACE/NAME of the pod, or the gang */
	const char *work;
	/* workload for budgets of scope Workload; NULL: same as work */
	const char *workload;
	/* zone NULL: the Provider has none */
	const char *region, *zone;
	/* index of burst_policy_market_names */
	int market;
	/* for an hour */
	const char *price, *currency;
	/* that the Provider told then; NULL: it told none */
	const char *offered;
	/* what it may cost at most */
	const char *committed;
	int64_t decided_time;
};
struct node_claim_spec {
	struct object_ref virtual_cluster_ref, node_pool_ref;
	/* the plan's choice; NULL: the controller chooses */
	struct object_ref *machine_ref;
	/* elastic: its Machine is made; NULL: machine_ref is there */
	struct object_name_ref *provider_ref;
	struct object_requirements requirements;
	struct {
		struct resources requests;
	} resources;
	/* UIDs of the pods that it was made for */
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
	/* NULL: nobody's decision but the plan's */
	const struct node_claim_burst *burst;
	int64_t expire_after, termination_grace_period;
};
struct node_claim_status {
	int64_t observed_generation;
	struct object_ref *machine_ref;
	int64_t tenancy;
	/* a machine state, Pending, Failed or Ended; for people */
	const char *phase;
	const char *node_name, *node_uid, *provider_id;
	struct {
		int64_t p50, p90;
	} eta;
	/* Launched Registered Initialized Ready Drained VolumesDetached PoweredOff Isolated */
	struct conditions conditions;
};
struct node_claim {
	struct object_meta meta;
	struct node_claim_spec spec;
	struct node_claim_status status;
};

#endif
