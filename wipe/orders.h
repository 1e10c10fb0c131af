#ifndef WIPE_ORDERS_H
#define WIPE_ORDERS_H

#include "base/crypto.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "wipe/host.h"
#include "wipe/proto.h"

/*
 * orders: carries out one order at a time. Remembers which drives were wiped in this boot, so that
 * verify and stamp concern exactly those drives. The order poweroff is handled by agent.c instead.
 *
 * The order probe sends packets to addresses (probe.h) and accesses no drive.
 *
 * Drives are processed in parallel (batch.h); a drive that fails or hangs never stops the others.
 * Unexpected drives are reported and never written. If the order expects no drive, all built-in
 * drives are processed instead.
 *
 * verify scans drives and controllers again after all reads. A drive that appeared since the wipe
 * began is listed in the evidence's `extra`, and fails the attempt.
 *
 * wipe and verify end as PROTO_DONE even if drives failed: the report's devices show the failures,
 * and the evidence of a failed attempt is signed as well. PROTO_FAILED means that the order itself
 * could not be carried out. The reasons are OrderInvalid, NoDrives, StorageHidden (a controller
 * does not show all its drives), NotWiped, IdentityMismatch, DriveMissing, or a reason from
 * writer.h.
 * Tests: tests/unit/wipe/test_agent.c
 */
struct orders;

struct orders *orders_new(struct loop_group *g, struct http *http, const struct host *h,
			  const struct crypto_key *key, int trust);
/* Frees o. Work in progress on drives runs to its end; its result is dropped. */
void orders_free(struct orders *o);

/* Starts an order; call it only if no order is in progress. *order must be valid until done(),
 * which is called exactly once, never from inside orders_start(). The report and everything it
 * points to are valid until done() returns. */
void orders_start(struct orders *o, const struct proto_order *order,
		  void (*done)(const struct proto_report *r, void *arg), void *arg);
/* Fills in *r with the progress over all drives. The rate in *r is that of the current phase,
 * measured since the first call in that phase. False: no order is in progress. */
bool orders_progress(struct orders *o, struct proto_report *r);

#endif
