#ifndef CONTROLLER_CLAIMS_DENIED_H
#define CONTROLLER_CLAIMS_DENIED_H

#include "api/kinds.h"

/*
 * denied: pods for which drover makes no new claim, because their claim was denied
 * (core/approval.h).
 *
 * The denied NodeClaim itself is the record: claims/claims.c keeps it in phase Denied, without a
 * machine, until its time is over, and then deletes it. So a new leader knows the same pods. A pod
 * is known by its tenant and UID; a pod that was created anew gets a claim, which waits for an
 * approval again. On the loop thread.
 * Tests: tests/unit/controller/claims/test_denied.c, tests/world/test_approval.c
 */
struct denied;
/* again(): called with the UIDs of n pods of the tenant that have to be planned again, because
 * their claim was denied, or is no longer kept. They may not exist any more, and the planner's
 * world may be paused at that time. */
struct denied *denied_new(void (*again)(const char *tenant, const char *const *uids, size_t n,
					void *arg),
			  void *arg);
void denied_free(struct denied *d);

/* Reports a NodeClaim that was added or changed; n NULL: it was deleted. */
void denied_claim(struct denied *d, const char *name, const struct node_claim *n);
/* Returns why no new machine is claimed for the tenant's pod with this UID: "claim h100-x7k2p was
 * denied by alice ...". Valid until the next call of denied_claim(). NULL: a machine may be
 * claimed. */
const char *denied_text(const struct denied *d, const char *tenant, const char *uid);

#endif
