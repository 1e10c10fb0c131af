#ifndef CONTROLLER_CLAIMS_SETTLE_H
#define CONTROLLER_CLAIMS_SETTLE_H

#include "api/kinds.h"
#include "base/arena.h"
#include "controller/core/status_writer.h"

/*
 * settle: writes the cost of a claim with spec.burst to the BurstLedger of its policy's name before
 * the claim's finalizer is removed, whether the policy still exists or not.
 *
 *   claim exists, no row      counts as its committed amount (claims/burst_input.h)
 *   claim exists, and a row   counts as its committed amount, which is larger
 *   row only                  counts as its cost
 *
 * The instance has ended by then. The claim is charged from the decision until now, at the price of
 * the decision, in the policy's increments and at least its minimum billing (in whole hours if the
 * policy no longer exists). A refused launch costs nothing. Cost beyond the committed amount is
 * charged to the periods in which it arose.
 *
 * Rows of deleted claims are summed if no period can tell them apart: equal in month, tenant,
 * Provider and currency, and in whether they are in the current hour, day, week, month and quarter.
 * Rows of different work and policy are kept apart only if `by_work` is set, because a budget
 * applies per Workload. Above BURST_LEDGER_ROWS rows the work, then the month, then the tenant is
 * dropped from the rows; amounts are never dropped.
 * Tests: tests/unit/controller/claims/test_settle.c, tests/world/test_burst_ledger.c
 */

struct settle_list {
	struct burst_ledger_row *v;
	size_t n;
};
/* Returns the time (Unix ms) at which the committed amount is used up at the decided price;
 * INT64_MAX if never. */
int64_t settle_paid_until(const struct node_claim_burst *b);
/* Returns the rows of a claim that has cost `cost` by `now`: the committed part at the time of the
 * decision, and an overrun split at the starts of the current hour, day, week, month and quarter.
 * At most SETTLE_SPLIT rows, in the arena. */
#define SETTLE_SPLIT 7
struct settle_list settle_rows(const struct node_claim *n, int64_t cost, int64_t now,
			       struct arena *a);
/* Returns the rows of the ledger with the new rows added and rows of deleted claims summed. there()
 * reports whether a NodeClaim with that UID exists. by_work: keep workloads and policies apart. */
struct settle_list settle_add(const struct burst_ledger *l, const struct settle_list *rows,
			      bool by_work, int64_t now, bool (*there)(const char *uid, void *arg),
			      void *arg, struct arena *a);
/* Returns the rows whose NodeClaim still exists. *amounts receives the sums of the other rows, one
 * text per currency. */
struct settle_list settle_forget(const struct burst_ledger *l,
				 bool (*there)(const char *uid, void *arg), void *arg,
				 struct strings *amounts, struct arena *a);
/* Returns true if the cache has a NodeClaim with that UID.  arg: struct context. */
bool settle_is_there(const char *uid, void *arg);
/* Returns the JSON of status.rows; the caller owns it. */
json_t *settle_encode(const struct settle_list *l);

/* Ensures that the claim's cost is in the ledger. True: it is, or there is no cost. False: a write
 * was started, and done() is called. m: the claim's Machine; NULL: deleted, and whether an instance
 * was launched is not known. */
bool settle_ensure(struct context *c, struct status_writer *w, const struct node_claim *n,
		   const struct machine *m, kube_done *done);

#endif
