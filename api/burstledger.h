#ifndef API_BURSTLEDGER_H
#define API_BURSTLEDGER_H

#include "api/common.h"

/*
 * burstledger: the kind BurstLedger: the cost of ended launches by all BurstPolicies of one name.
 *
 * A ledger has the name of its policy and outlives the policy. A policy that is deleted and created
 * again therefore starts with the spend of its predecessor. Only spec.reset clears the spend;
 * drover-admin alone may write it (`drover burst reset`). status.resets records each reset: time,
 * user, reason and cleared amounts.
 */
#define BURST_LEDGER_ROWS 200
#define BURST_LEDGER_RESETS 50

/* Request for a reset. */
struct burst_ledger_reset {
	/* a new ID requests a new reset */
	const char *id;
	const char *by, *reason;
};
struct burst_ledger_spec {
	/* NULL: no reset was ever requested */
	struct burst_ledger_reset *reset;
};
struct burst_ledger_row {
	/* Wall clock, Unix ms: decision, or start of the period in which the cost overran; the
	 * latest one in a sum */
	int64_t time;
	/* UID of the NodeClaim while it may exist; NULL in a sum */
	const char *claim;
	/* UID of the BurstPolicy; NULL in a sum over several policies */
	const char *policy;
	/* in a sum over several tenants: tenant "", work NULL */
	const char *tenant, *work, *provider;
	const char *currency, *amount;
};
/* A completed reset. */
struct burst_ledger_done {
	int64_t time;
	const char *id, *by, *reason;
	/* cleared sums, one per currency: "12.50 USD" */
	struct strings amounts;
};
struct burst_ledger_status {
	int64_t observed_generation;
	struct {
		struct burst_ledger_row *v;
		size_t n;
	} rows;
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
