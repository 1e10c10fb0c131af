#ifndef CONTROLLER_LIFE_CONSENT_H
#define CONTROLLER_LIFE_CONSENT_H

#include "controller/life/life.h"

/*
 * consent: decides whether drover may act on this machine at all. Consent comes from an operator.
 * Where it is missing, each life_ensure_* function here says so with life_wait() and returns false.
 * Tests: tests/world/test_identity.c, tests/world/test_review.c, tests/world/test_bmc_trust.c
 */

/* True if drover may act on deleted objects: no CustomResourceDefinition of drover is being
 * deleted. */
bool life_ensure_may_leave(struct life *l);

/* True if drover may act on this machine: spec.managementPolicy is Manage, the BMC reports the
 * approved identity, and no other Machine has the same identity or BMC. */
bool life_ensure_consented(struct life *l);

/* True if the last observation (life/bmc.h) was of the approved machine. another: reason for
 * life_wait() if it was a different machine. */
bool life_ensure_ours(struct life *l, enum reason another);

/* True if no other Machine has the same identity or BMC. */
bool life_ensure_single(struct life *l);

/* True if the machine is not paused: spec.managementPolicy is not Observe, and its Provider is not
 * paused. An instance that no policy pays for any more counts as not paused. */
bool life_ensure_unpaused(struct life *l);

/* True if drover may send the password of the Secret to the BMC of spec.bmc with its present
 * certificate or CA: that was so from the beginning, or an operator has approved it since
 * (TrustBMC). On false, with *e, the BMC is not contacted (life/bmc_open.h). */
bool life_bmc_trusted(const struct life *l, struct err *e);
/* True if status.trustedBMC is up to date with the operator's approval or the first known BMC.
 * False while it is being written. Must hold before the first login. */
bool life_ensure_bmc_trust_written(struct life *l);
/* Returns the value of status.trustedBMC for a write that happens anyway, if the field is not set
 * yet, as a new reference that the caller owns; NULL: not needed. */
json_t *life_bmc_first_trust(const struct life *l);

/* Returns the id of an approval to wipe that drover has not acted on yet; NULL: none. */
const char *life_approved_wipe(const struct life *l);

#endif
