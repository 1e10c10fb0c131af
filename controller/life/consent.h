#ifndef CONTROLLER_LIFE_CONSENT_H
#define CONTROLLER_LIFE_CONSENT_H

#include "controller/life/life.h"

/*
 * consent: may drover act on this machine at all? Consent is a person's: where it is missing
 * life_ensure_* says so (life_wait()) and gives false.
 * Tests: tests/world/test_identity.c, tests/world/test_review.c, tests/world/test_bmc_trust.c
 */

/* Deletions may be acted on: none of our CRDs is terminating. */
bool life_ensure_may_leave(struct life *l);

/* drover may act on this machine: managed, its BMC says that it is the one approved, no other has
 * its identity. */
bool life_ensure_consented(struct life *l);

/* The last look (life/bmc.h) was at the machine that was approved. another: the reason if it was at
 * another one. */
bool life_ensure_ours(struct life *l, enum reason another);

/* No other Machine has its identity or its BMC. */
bool life_ensure_single(struct life *l);

/* Nobody has paused it: spec.managementPolicy is not Observe, and its provider is not paused. */
bool life_ensure_unpaused(struct life *l);

/* The password of this Secret may go to the BMC that spec.bmc names, known by this certificate or
 * CA: that was so from the beginning, or a person approved it since (TrustBMC). False, with *e:
 * nothing is asked of it (life/bmc_open.h). */
bool life_bmc_trusted(const struct life *l, struct err *e);
/* What a person approved, or what there was at the beginning, stands in status.trustedBMC: before
 * the first login. */
bool life_ensure_bmc_trust_written(struct life *l);
/* That member for a write that is made anyway, where there was nothing yet; NULL: it is not due.
 * Gives. */
json_t *life_bmc_first_trust(const struct life *l);

/* An approval to wipe that was not acted on yet, or NULL. */
const char *life_approved_wipe(const struct life *l);

#endif
