#ifndef CONTROLLER_BURST_SETTLE_H
#define CONTROLLER_BURST_SETTLE_H

#include "api/kinds.h"
#include "base/arena.h"
#include "base/zone.h"
#include "controller/core/status_writer.h"

/*
 * settle: writes the cost of a claim with spec.burst to the BurstLedger that has its policy's name.
 * This happens before the claim's finalizer is removed, whether the policy still exists or not.
 *
 * How a launch counts while its claim is being deleted:
 *
 *   claim exists, no row      counts as its committed amount (burst/input.h)
 *   claim exists, and a row   counts as its committed amount, which is larger
 *   row only                  counts as its cost
 *
 * The claim's instance has ended when the cost is written. The claim is charged from the decision
 * until now, at the price of the decision. The time is rounded up to the policy's increments and is
 * at least its minimum billing (whole hours if the policy no longer exists). Moving the
 * data of the work (spec.burst.egress) is added as a whole. A refused launch costs nothing. Cost
 * beyond the committed amount is charged to the periods in which it arose.
 *
 * If the launch was interrupted, the write also counts it in status.restarts (restarts.h).
 *
 * Rows of deleted claims are merged if they are equal in month, tenant, Provider and currency, and
 * lie in the same budget periods: both or neither are in the current hour, day, week, month and
 * quarter, in UTC and in each time zone of a budget. Rows of different work and policy are kept
 * apart only if `by_work` is set, because a budget applies per Workload. Above BURST_LEDGER_ROWS
 * rows the work, then the month, then the tenant is dropped from the rows; amounts are never
 * dropped.
 * Tests: tests/unit/controller/burst/test_settle.c, tests/world/test_burst_ledger.c
 */

struct settle_list {
	struct burst_ledger_row *v;
	size_t n;
};
/* Times, Unix ms, at which budget periods begin. */
struct settle_times {
	int64_t *v;
	size_t n;
};
/* Time zones of budgets. last: also the start of the period before is needed, for carryOver. */
struct settle_zone {
	const struct zone *zone;
	bool last;
};
/* Returns the starts of the hour, day, week, month and quarter that contain `now`, in UTC and in
 * each of the n zones; in the arena. */
struct settle_times settle_times_of(const struct settle_zone *zones, size_t n, int64_t now,
				    struct arena *a);
/* Returns the wall ms from which the launch of claim n is paid: the decision of its BurstPolicy, or
 * later, if the claim had to wait for its approval. n must have spec.burst. */
int64_t settle_paid_from(const struct node_claim *n, int64_t now);
/* Returns what moving data to the instance of a claim costs, in millionths; 0: no data is moved. */
int64_t settle_egress(const struct node_claim_burst *b);
/* Returns the Unix ms at which the committed amount of claim n is used up at the price of the
 * decision; INT64_MAX if never. */
int64_t settle_paid_until(const struct node_claim *n, int64_t now);
/* Returns the ledger rows of claim n, which has cost `cost` by `now`. The first row is the
 * committed part at the time of the decision. The overrun follows, split at the times `starts`. In
 * the arena. */
struct settle_list settle_rows(const struct node_claim *n, int64_t cost, int64_t now,
			       const struct settle_times *starts, struct arena *a);
/* Returns all rows of ledger l plus the new rows; rows of deleted claims are merged unless one of
 * the times `starts` separates them. there(): true if a NodeClaim with that UID exists. by_work:
 * true keeps rows of different work and policy apart. */
struct settle_list settle_add(const struct burst_ledger *l, const struct settle_list *rows,
			      bool by_work, const struct settle_times *starts,
			      bool (*there)(const char *uid, void *arg), void *arg,
			      struct arena *a);
/* Returns the rows of ledger l whose NodeClaim still exists, for a reset. *amounts receives the
 * sums of the other rows, one text per currency. */
struct settle_list settle_forget(const struct burst_ledger *l,
				 bool (*there)(const char *uid, void *arg), void *arg,
				 struct strings *amounts, struct arena *a);
/* True if the cache has a NodeClaim with that UID. For use as there(); arg: struct context. */
bool settle_is_there(const char *uid, void *arg);
/* Returns the list as JSON for status.rows; the caller owns the reference. */
json_t *settle_encode(const struct settle_list *l);

/* Ensures that the cost of claim n is in its ledger. True: the ledger contains the cost, or there
 * is no cost. False: a write was started, and done() is called when the write ends. m: the claim's
 * Machine; NULL: the Machine was deleted, so it is not known whether an instance was launched. */
bool settle_ensure(struct context *c, struct status_writer *w, const struct node_claim *n,
		   const struct machine *m, kube_done *done);

#endif
