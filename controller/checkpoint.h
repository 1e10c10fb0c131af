#ifndef CONTROLLER_CHECKPOINT_H
#define CONTROLLER_CHECKPOINT_H

#include "controller/leave.h"
#include "controller/tenant.h"

/*
 * checkpoint: work is told to save itself before the first pod is evicted, and
 * waited for.  docs/drain.md has the protocol.
 *
 *	pods with CHECKPOINT_WANTED   "true" or a duration: drover sets CHECKPOINT_REQUESTED and takes
 *	                              CHECKPOINT_DONE away; whoever sets that again has answered
 *	claim.spec.checkpoint.url     POST of what leaves, every 5 s, until 200 {"done":true}
 *
 * Nothing is waited for longer than its own timeout, nor past the deadline of the drain.  The start
 * stands in status.operation (step "checkpoint"), so that a new leader neither begins anew nor skips it.
 */
#define CHECKPOINT_WANTED "drover.dev/checkpoint"
#define CHECKPOINT_REQUESTED "drover.dev/checkpoint-requested" /* RFC 3339, by drover */
#define CHECKPOINT_DONE "drover.dev/checkpoint-done"

#define CHECKPOINT_POD_MS (5 * 60 * 1000) /* "true", and what cannot be read */

/* What is remembered while it lasts; all of it can be found out again. */
struct checkpoint;
struct checkpoint *checkpoint_new(struct life *l);
void checkpoint_free(struct checkpoint *cp); /* calls under way are as if never made */

/* One look, started at the wall time `began`: asks whom it has to ask.  True: everybody is done, or is not
 * waited for any more.  Else *who is whom it waits for first ("checkpoint ns/pod"), valid until the next look. */
bool checkpoint_passed(struct checkpoint *cp, struct tenant *t, const struct node_claim *n,
		       const struct leave *lv, int64_t began, const char **who);
/* Is there anybody to be told? */
bool checkpoint_needed(struct tenant *t, const struct node_claim *n);

#endif
