#ifndef WIPE_ORDERS_H
#define WIPE_ORDERS_H

#include "base/crypto.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * orders: carries out one order at a time, and remembers between orders what was wiped, so that
 * verify and stamp speak of that and of nothing else. Poweroff is not among them: the agent itself
 * does that.
 *
 * probe asks addresses (probe.h) and touches no drive.
 *
 * Drives are worked on in parallel (batch.h); one that fails or hangs never stops the others.
 * Drives that were not expected are reported and never written to, unless nothing was expected:
 * then all that cannot be pulled out count.
 *
 * verify looks for drives and controllers again when all was read: what came since the wipe began
 * is extra, and fails the attempt.
 *
 * wipe and verify end as PROTO_DONE also when drives failed: the devices say so, and the evidence
 * is signed for a failed attempt as well. PROTO_FAILED means that the order itself could not be
 * carried out: OrderInvalid, NoDrives, StorageHidden (a controller does not show all that it
 * holds), NotWiped, IdentityMismatch, DriveMissing, or a reason of writer.h.
 * Tests: tests/unit/wipe/test_agent.c
 */
struct orders;

struct orders *orders_new(struct loop_group *g, struct http *http, const struct host *h,
			  const struct crypto_key *key, int trust);
/* Work that is under way ends in peace; its result is dropped. */
void orders_free(struct orders *o);

/* Not busy.  order must last until done(), which is called exactly once, never from inside;
 * the report and what it points to live until done returns. */
void orders_start(struct orders *o, const struct proto_order *order,
		  void (*done)(const struct proto_report *r, void *arg), void *arg);
/* How far it is, over all drives; the rate is that of this phase since it was first asked for.
 * False: idle. */
bool orders_progress(struct orders *o, struct proto_report *r);

#endif
