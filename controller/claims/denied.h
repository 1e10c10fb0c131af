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
 * approval again. No call costs more if there are more pods or more denied claims. On the loop
 * thread.
 * Tests: tests/unit/controller/claims/test_denied.c, tests/world/test_approval.c
 */
struct denied;
/* again(): called for each pod of denied_pod() that has to be planned again, because its claim was
 * denied, or is no longer kept. The planner's world may be paused at that time. */
struct denied *denied_new(void (*again)(const char *tenant, const char *ns, const char *name,
					void *arg),
			  void *arg);
void denied_free(struct denied *d);

/* Reports a NodeClaim that was added or changed; n NULL: it was deleted. */
void denied_claim(struct denied *d, const char *name, const struct node_claim *n);
/* Reports a pod of the tenant that has no Node; uid NULL: the pod was deleted or has a Node. */
void denied_pod(struct denied *d, const char *tenant, const char *ns, const char *name,
		const char *uid);
/* Forgets the pods of the tenant that denied_pod() reported. Denied claims stay. */
void denied_forget_tenant(struct denied *d, const char *tenant);
/* Returns why no new machine is claimed for the tenant's pod with this UID: "claim h100-x7k2p was
 * denied by alice ...". Valid until the next call of denied_claim(). NULL: a machine may be
 * claimed. */
const char *denied_text(const struct denied *d, const char *tenant, const char *uid);

#endif
