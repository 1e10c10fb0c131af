#ifndef WIPE_ORDERS_H
#define WIPE_ORDERS_H

#include "base/crypto.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * orders: carries out one order at a time, and remembers what was wiped, so that verify and stamp
 * concern exactly that. The agent itself handles poweroff.
 *
 * probe asks addresses (probe.h) and accesses no drive.
 *
 * Drives are processed in parallel (batch.h); one that fails or hangs never stops the others.
 * Unexpected drives are reported and never written, unless no drive was expected: then all built-in
 * ones count.
 *
 * verify scans drives and controllers again after all reads: a drive that appeared since the wipe
 * began is extra, and fails the attempt.
 *
 * wipe and verify end as PROTO_DONE even if drives failed: the devices show it, and the evidence of
 * a failed attempt is signed as well. PROTO_FAILED means that the order itself could not be carried
 * out: OrderInvalid, NoDrives, StorageHidden (a controller does not show everything that it holds),
 * NotWiped, IdentityMismatch, DriveMissing, or a reason from writer.h.
 * Tests: tests/unit/wipe/test_agent.c
 */
struct orders;

struct orders *orders_new(struct loop_group *g, struct http *http, const struct host *h,
			  const struct crypto_key *key, int trust);
/* Work in progress runs to its end; its result is dropped. */
void orders_free(struct orders *o);

/* Only if not busy. order must be valid until done(), which is called exactly once, never from
 * inside; the report and what it points to are valid until done() returns. */
void orders_start(struct orders *o, const struct proto_order *order,
		  void (*done)(const struct proto_report *r, void *arg), void *arg);
/* Progress over all drives; the rate is that of the current phase since the first call. False:
 * idle. */
bool orders_progress(struct orders *o, struct proto_report *r);

#endif
