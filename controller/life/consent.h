#ifndef CONTROLLER_LIFE_CONSENT_H
#define CONTROLLER_LIFE_CONSENT_H

#include "controller/life/life.h"

/*
 * consent: decides whether drover may act on this machine at all. Consent comes from an operator.
 * If it is missing, the functions named life_ensure_* here report that with life_wait() and return
 * false.
 * Tests: tests/world/test_identity.c, tests/world/test_review.c, tests/world/test_bmc_trust.c
 */

/* True if drover may act on the deletion of objects. False while a CustomResourceDefinition of
 * drover is being deleted, because that deletes all objects of the kind. */
bool life_ensure_may_leave(struct life *l);

/* True if drover may act on this machine: spec.managementPolicy is Manage, the BMC reports the
 * approved identity, and no other Machine has the same identity or BMC. */
bool life_ensure_consented(struct life *l);

/* True if the last observation (life/bmc.h) was of the approved machine. Otherwise waits. another:
 * reason for life_wait() if the BMC reported the identity of a different machine. */
bool life_ensure_approved_identity(struct life *l, enum reason another);

/* True if no other Machine has the same identity or BMC. */
bool life_ensure_single(struct life *l);

/* True if the machine is not paused: spec.managementPolicy is not Observe, and its Provider is not
 * paused. Also true for a cloud instance that no BurstPolicy pays for any more, because such an
 * instance must end even while it is paused. Otherwise waits and returns false. */
bool life_ensure_unpaused(struct life *l);

/* True if drover may send the password of the Secret to the BMC of spec.bmc with its present
 * certificate or CA. BMC, certificate and Secret must be those that were trusted first, or those
 * that an operator has approved since (TrustBMC). On false, with *e, the BMC is not contacted
 * (life/bmc_open.h). */
bool life_bmc_trusted(const struct life *l, struct err *e);
/* True if status.trustedBMC names the BMC that was known first, or that an operator has approved
 * since. Otherwise writes the field and returns false. Must be true before the first login. */
bool life_ensure_bmc_trust_written(struct life *l);
/* Returns a first value for status.trustedBMC, as a new reference that the caller owns. The caller
 * adds the value to a write of status that happens anyway, which saves a write. NULL: the field is
 * set already, or must not be set now. */
json_t *life_bmc_first_trust(const struct life *l);

/* Returns the id of an operator's approval to wipe that drover has not acted on yet; NULL: none. */
const char *life_approved_wipe(const struct life *l);

#endif
