#ifndef CONTROLLER_DRAIN_CHECKPOINT_H
#define CONTROLLER_DRAIN_CHECKPOINT_H

#include "controller/drain/leave.h"
#include "controller/tenant/tenant.h"
#include "controller/tenant/tenant.h"

/*
 * checkpoint: asks the workloads on a Node to save their state before the first pod is evicted, and
 * waits for the answers. docs/drain.md describes the protocol.
 *
 *   pods with CHECKPOINT_WANTED	"true" or a duration: drover sets CHECKPOINT_REQUESTED and
 *   				removes CHECKPOINT_DONE; the workload answers by setting it again
 *   claim.spec.checkpoint.url	POST with what leaves, every 5 s, until 200 {"done":true}
 *
 * Each wait ends after its own timeout. An error is reported by an event, and does not shorten the
 * wait. The start time is stored in status.operation, so that a new leader neither restarts the
 * wait nor skips it; everything else in this struct can be derived again.
 */

struct checkpoint;
struct checkpoint *checkpoint_new(const struct leave_of *s);
/* Pending calls are dropped; their requests may still take effect. */
void checkpoint_free(struct checkpoint *cp);
const struct tenant *checkpoint_tenant(const struct checkpoint *cp);

/* True if anything on the claim's node wants to be asked for a checkpoint. */
bool checkpoint_needed(struct tenant *t, const struct node_claim *n);
/* Sends the requests that are due and returns what the drain waits for first: "checkpoint ns/pod"
 * or "checkpoint HOST", valid until the next call. NULL: all have answered or timed out. began:
 * wall ms of the start, from the journal. */
const char *checkpoint_look(struct checkpoint *cp, const struct node_claim *n,
			    const struct leave *lv, int64_t began);

#endif
