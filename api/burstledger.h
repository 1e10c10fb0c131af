#ifndef API_BURSTLEDGER_H
#define API_BURSTLEDGER_H

#include "api/common.h"

/*
 * burstledger: the kind BurstLedger: what the ended launches of a BurstPolicy have cost.
 *
 * A ledger has the name of its policy and outlives the policy. A policy that is deleted and created
 * again therefore starts with the spend of the deleted policy. Only spec.reset clears the spend,
 * and only drover-admin may write spec.reset (`drover burst reset`). status.resets records each
 * reset: time, user, reason and cleared amounts.
 *
 * spec.approvals approves waiting work for a policy that asks for it (`drover approve burst/...`).
 */
#define BURST_LEDGER_ROWS 200
#define BURST_LEDGER_RESETS 50

/* A request to clear the spend. */
struct burst_ledger_reset {
	/* ID of the request, chosen by the requester; a new ID requests a new reset */
	const char *id;
	const char *by, *reason;
};
/* Longest time for which the approval of work counts, in ms. */
#define BURST_APPROVAL_MS ((int64_t)24 * 3600 * 1000)
#define BURST_LEDGER_APPROVALS 64
/* The approval of one piece of waiting work, for a policy of mode Recommend, or with
 * trigger.guards.approval Manual. */
struct burst_ledger_approval {
	/* tenant, and NAMESPACE/NAME of the pod or key of the gang, as in status.decisions of the
	 * policy */
	const char *tenant, *work;
	/* user who approved */
	const char *by;
	/* wall ms of the approval */
	int64_t time;
	/* NULL: none */
	const char *reason;
};
struct burst_ledger_spec {
	struct {
		struct burst_ledger_approval *v;
		size_t n;
	} approvals;
	/* latest request to clear the spend; NULL: none was ever made */
	struct burst_ledger_reset *reset;
};
struct burst_ledger_row {
	/* Wall ms of the launch decision. Cost beyond the decided amount has rows of its own, each
	 * with the start of the budget period in which the cost arose. A row that sums several
	 * launches has the latest of their times. */
	int64_t time;
	/* UID of the NodeClaim while that NodeClaim may still exist; NULL in a row that sums
	 * several launches */
	const char *claim;
	/* UID of the BurstPolicy; NULL in a row that sums launches of several policies */
	const char *policy;
	/* tenant is "" and work is NULL in a row that sums launches of several tenants */
	const char *tenant, *work, *provider;
	const char *currency;
	/* in millionths of the currency */
	int64_t amount;
	/* part of `amount` that moving data cost, which no bill of a tenant contains; -1: none */
	int64_t egress;
};
#define BURST_LEDGER_RESTARTS 100
/* Age in ms after which the last interruption of a workload no longer counts. */
#define BURST_RESTARTS_MS ((int64_t)30 * 24 * 3600 * 1000)
/* Launches for one workload that ended while pods were on their Nodes: interrupted ones, or those
 * whose pods were moved to an owned machine. */
struct burst_ledger_restart {
	const char *tenant, *work;
	/* Number of these launches; the instances of one decision count once */
	int64_t count;
	/* time: wall ms at which the last of these launches was settled; decided: wall ms of its
	 * decision */
	int64_t time, decided;
};
/* A completed reset. */
struct burst_ledger_done {
	int64_t time;
	const char *id, *by, *reason;
	/* sums that the reset removed from the ledger, one per currency, such as "12.50 USD" */
	struct strings amounts;
};
struct burst_ledger_restarts {
	/* last ended first */
	struct burst_ledger_restart *v;
	size_t n;
};
struct burst_ledger_status {
	int64_t observed_generation;
	struct {
		struct burst_ledger_row *v;
		size_t n;
	} rows;
	/* restarts: interrupted launches. moves: launches whose pods were moved to an owned
	 * machine. */
	struct burst_ledger_restarts restarts, moves;
	struct {
		/* newest first */
		struct burst_ledger_done *v;
		size_t n;
	} resets;
	struct conditions conditions;
};
struct burst_ledger {
	struct object_meta meta;
	struct burst_ledger_spec spec;
	struct burst_ledger_status status;
};

#endif
