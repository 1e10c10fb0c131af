#ifndef CONTROLLER_DRAIN_CHECKPOINT_H
#define CONTROLLER_DRAIN_CHECKPOINT_H

#include "controller/drain/leave.h"
#include "controller/tenant/tenant.h"

/*
 * checkpoint: asks the workloads on a Node to save their state before the first pod is evicted, and
 * waits for the answers. docs/drain.md describes the protocol.
 *
 *   pods with CHECKPOINT_WANTED	"true" or a duration: drover sets CHECKPOINT_REQUESTED and
 *   				removes CHECKPOINT_DONE; the workload answers by setting
 *   				CHECKPOINT_DONE again
 *   claim.spec.checkpoint.url	drover POSTs the list of pods that leave, every 5 s, until the
 *   				answer is 200 {"done":true}
 *
 * Each wait ends after its own timeout. An error is reported by an event, and does not shorten the
 * wait. The start time is stored in status.operation of the Machine, so that a new leader neither
 * restarts the wait nor skips it; everything else in struct checkpoint can be derived again.
 */

struct checkpoint;
struct checkpoint *checkpoint_new(const struct leave_of *s);
/* Frees cp and drops pending calls; requests that were already sent may still take effect. */
void checkpoint_free(struct checkpoint *cp);
const struct tenant *checkpoint_tenant(const struct checkpoint *cp);

/* True if a pod on the claim's Node, or the claim's checkpoint URL, must be asked for a
 * checkpoint. */
bool checkpoint_needed(struct tenant *t, const struct node_claim *n);
/* Sends the requests that are due. Returns the first answer that the drain waits for: "checkpoint
 * ns/pod" or "checkpoint HOST", valid until the next call. NULL: all have answered or timed out.
 * began: wall ms at which the checkpoint began, from the Machine's status. */
const char *checkpoint_look(struct checkpoint *cp, const struct node_claim *n,
			    const struct leave *lv, int64_t began);
/* True if no running pod on the claim's Node has work that is not saved: each has reported its
 * checkpoint as done since the request. began: as for checkpoint_look(); 0: no request was made. */
bool checkpoint_saved(struct tenant *t, const struct node_claim *n, int64_t began);

#endif
