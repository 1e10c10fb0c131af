#ifndef CONTROLLER_DRAIN_CHECKPOINT_H
#define CONTROLLER_DRAIN_CHECKPOINT_H

#include "controller/drain/leave.h"
#include "controller/tenant/tenant.h"
#include "controller/tenant/tenant.h"

/*
 * checkpoint: asks the work on a Node to save its state before the first pod is evicted, and waits
 * for the answers. docs/drain.md has the protocol.
 *
 *   pods with CHECKPOINT_WANTED	"true" or a duration: drover sets CHECKPOINT_REQUESTED and
 *   				takes CHECKPOINT_DONE away; whoever sets that has answered
 *   claim.spec.checkpoint.url	POST of what leaves, every 5 s, until 200 {"done":true}
 *
 * Each wait ends with its own timeout. An error is told, and does not shorten the wait. The start
 * stands in status.operation, so that a new leader neither begins anew nor skips anything; what is
 * remembered here can be found out again.
 */

struct checkpoint;
struct checkpoint *checkpoint_new(const struct leave_of *s);
/* calls under way are as if never made */
void checkpoint_free(struct checkpoint *cp);
const struct tenant *checkpoint_tenant(const struct checkpoint *cp);

/* Is there anybody on that claim's node to be told? */
bool checkpoint_needed(struct tenant *t, const struct node_claim *n);
/* One look; asks whom it has to ask. began: wall ms, of the journal. NULL: everybody is done, or
 * not waited for any more; else whom it waits for first ("checkpoint ns/pod", "checkpoint HOST"),
 * valid until the next look. */
const char *checkpoint_look(struct checkpoint *cp, const struct node_claim *n,
			    const struct leave *lv, int64_t began);

#endif
