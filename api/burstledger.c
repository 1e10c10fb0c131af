/*
 * burstledger: field table and checks of the kind BurstLedger.
 * Tests: tests/unit/api/test_kinds.c, tests/world/test_burst_ledger.c
 */
#include "api/tables.h"

static const struct field reset_fields[] = {
	FIELD(burst_ledger_reset, id, "id", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "ID of the request, chosen by the requester. A new ID requests a new reset."),
	FIELD(burst_ledger_reset, by, "by", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "User who requests the reset."),
	FIELD(burst_ledger_reset, reason, "reason", FIELD_STR, .required = true, .max_len = 1024,
	      .doc = "Reason for the reset, recorded in status.resets."),
	FIELDS_END,
};

static const struct field approval_fields[] = {
	FIELD(burst_ledger_approval, tenant, "tenant", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Name of the VirtualCluster whose work is approved."),
	FIELD(burst_ledger_approval, work, "work", FIELD_STR, .required = true, .max_len = 512,
	      .doc = "Approved work, as in status.decisions of the BurstPolicy: NAMESPACE/NAME of "
		     "a pod, or the gang."),
	FIELD(burst_ledger_approval, by, "by", FIELD_STR, .required = true, .max_len = 256,
	      .doc = "User who approved the work."),
	FIELD(burst_ledger_approval, time, "at", FIELD_TIME, .required = true,
	      .doc = "Time of the approval. It counts for 24 hours, and only for work that "
		     "waited already at this time."),
	FIELD(burst_ledger_approval, reason, "reason", FIELD_STR, .max_len = 1024,
	      .doc = "Why the work was approved."),
	FIELDS_END,
};

static const struct field spec_fields[] = {
	FIELD_ITEMS(burst_ledger_spec, approvals, "approvals", approval_fields,
		    .max_items = BURST_LEDGER_APPROVALS,
		    .doc = "Approvals of waiting work, for a BurstPolicy of mode Recommend or with "
			   "spec.trigger.guards.approval Manual. The limits of the policy apply "
			   "nevertheless. drover approve burst/POLICY/WORK writes them."),
	FIELD_PTR(burst_ledger_spec, reset, "reset", reset_fields,
		  .doc = "Request to clear the recorded cost of launches that have ended. Running "
			 "launches still count."),
	FIELDS_END,
};

static const struct field row_fields[] = {
	FIELD(burst_ledger_row, time, "time", FIELD_TIME, .required = true,
	      .doc = "Time at which drover decided the launch. A row for several launches has the "
		     "latest of these times. Cost above a launch's planned maximum has a row of "
		     "its own, with the start of the budget period in which this cost arose as its "
		     "time."),
	FIELD(burst_ledger_row, claim, "claim", FIELD_STR, .max_len = 64,
	      .doc = "UID of the NodeClaim of the launch. Set while the NodeClaim may still "
		     "exist. Not set in a row that adds up several launches."),
	FIELD(burst_ledger_row, policy, "policy", FIELD_STR, .max_len = 64,
	      .doc = "UID of the BurstPolicy that decided the launch. Not set in a row that adds "
		     "up launches of several policies."),
	FIELD(burst_ledger_row, tenant, "tenant", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Name of the VirtualCluster for which the instance was launched. Empty in a "
		     "row that adds up launches for several tenants."),
	FIELD(burst_ledger_row, work, "work", FIELD_STR, .max_len = 512,
	      .doc = "Workload for which the instance was launched. After the field claim is "
		     "removed, the field work is kept only if a budget of the policy has scope "
		     "Workload."),
	FIELD(burst_ledger_row, provider, "provider", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Name of the Provider that launched the instance."),
	FIELD(burst_ledger_row, currency, "currency", FIELD_STR, .required = true, .max_len = 3,
	      .doc = "Currency of `amount`, as an ISO 4217 code."),
	FIELD(burst_ledger_row, amount, "amount", FIELD_DECIMAL, .required = true, AS_MONEY,
	      .doc = "Cost of the launch, or of all launches that the row adds up, in `currency`."),
	FIELD(burst_ledger_row, egress, "egress", FIELD_DECIMAL, AS_MONEY,
	      .doc = "Part of `amount` that moving data cost. Not set if no data was moved."),
	FIELDS_END,
};

static const struct field restart_fields[] = {
	FIELD(burst_ledger_restart, tenant, "tenant", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Name of the VirtualCluster of the workload."),
	FIELD(burst_ledger_restart, work, "work", FIELD_STR, .required = true, .max_len = 512,
	      .doc = "Workload whose launches were interrupted."),
	FIELD(burst_ledger_restart, count, "count", FIELD_I64, .required = true, .min = 1,
	      .max = INT64_MAX,
	      .doc = "Number of launches for the workload that ended while pods were on their "
		     "Nodes. The instances of one decision count once."),
	FIELD(burst_ledger_restart, time, "time", FIELD_TIME, .required = true,
	      .doc = "Time at which the last of these launches ended."),
	FIELD(burst_ledger_restart, decided, "decided", FIELD_TIME, .required = true,
	      .doc = "Time at which drover decided the last of these launches."),
	FIELDS_END,
};

static const struct field move_fields[] = {
	FIELD(burst_ledger_restart, tenant, "tenant", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "Name of the VirtualCluster of the workload."),
	FIELD(burst_ledger_restart, work, "work", FIELD_STR, .required = true, .max_len = 512,
	      .doc = "Workload that was moved."),
	FIELD(burst_ledger_restart, count, "count", FIELD_I64, .required = true, .min = 1,
	      .max = INT64_MAX, .doc = "Number of launches from which the workload was moved."),
	FIELD(burst_ledger_restart, time, "time", FIELD_TIME, .required = true,
	      .doc = "Time at which the last of these launches ended."),
	FIELD(burst_ledger_restart, decided, "decided", FIELD_TIME, .required = true,
	      .doc = "Time at which drover decided the last of these launches."),
	FIELDS_END,
};

static const struct field done_fields[] = {
	FIELD(burst_ledger_done, time, "time", FIELD_TIME, .required = true,
	      .doc = "Time at which drover cleared the rows."),
	FIELD(burst_ledger_done, id, "id", FIELD_STR, .required = true, .max_len = 64,
	      .doc = "ID of the request (spec.reset.id)."),
	FIELD(burst_ledger_done, by, "by", FIELD_STR, .required = true, .max_len = 253,
	      .doc = "User who requested the reset."),
	FIELD(burst_ledger_done, reason, "reason", FIELD_STR, .required = true, .max_len = 1024,
	      .doc = "Reason given by the requester."),
	FIELD(burst_ledger_done, amounts, "amounts", FIELD_STRINGS, .max_items = 32, .max_len = 32,
	      .doc = "Cleared sums, one per currency, such as \"12.50 USD\"."),
	FIELDS_END,
};

static const struct field status_fields[] = {
	FIELD_ITEMS(burst_ledger_status, rows, "rows", row_fields, .max_items = BURST_LEDGER_ROWS,
		    .doc = "Cost of launches that have ended. Launches whose NodeClaims are "
			   "deleted are added up in one row if they have the same month, tenant, "
			   "Provider, currency and budget periods."),
	FIELD_ITEMS(
		burst_ledger_status, restarts, "restarts", restart_fields,
		.max_items = BURST_LEDGER_RESTARTS,
		.doc = "Interrupted launches by workload, last interrupted first, compared with "
		       "spec.runtime.maxRestarts of BurstPolicies. An entry counts, and is kept, "
		       "until 30 days after the last interruption; beyond 100 entries the oldest "
		       "are dropped."),
	FIELD_ITEMS(burst_ledger_status, moves, "moves", move_fields,
		    .max_items = BURST_LEDGER_RESTARTS,
		    .doc = "Launches from which work was moved to an owned machine, by workload, "
			   "last moved first, compared with spec.scaleBack.maxMigrationsPerJob of "
			   "BurstPolicies. Entries are kept as those of status.restarts."),
	FIELD_ITEMS(burst_ledger_status, resets, "resets", done_fields,
		    .max_items = BURST_LEDGER_RESETS, .doc = "Completed resets, newest first."),
	CONDITIONS_ROW(burst_ledger_status,
		       "Conditions: Valid (drover can use spec; absent until drover first "
		       "refuses spec)."),
	FIELDS_END,
};

const struct field burst_ledger_fields[] = {
	META_ROW(burst_ledger),
	FIELD_OBJ(burst_ledger, spec, "spec", spec_fields, .required = true,
		  .doc = "Desired state of the BurstLedger."),
	FIELD_OBJ(burst_ledger, status, "status", status_fields,
		  .doc = "Observed state of the BurstLedger."),
	FIELDS_END,
};

const struct object_column burst_ledger_columns[] = {
	{"Reset", "date", ".status.resets[0].time", 0},
	{"Valid", "string", ".status.conditions[?(@.type==\"Valid\")].status", 0},
	{NULL, NULL, NULL, 0},
};

int burst_ledger_check(const void *object, const void *old, struct err *e)
{
	(void)object;
	(void)old;
	(void)e;
	return 0;
}
