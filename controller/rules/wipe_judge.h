#ifndef CONTROLLER_RULES_WIPE_JUDGE_H
#define CONTROLLER_RULES_WIPE_JUDGE_H

#include "api/kinds.h"
#include "api/reasons.h"
#include "wipe/evidence.h"

/*
 * wipe_judge: decides whether evidence suffices to call a machine clean. Pure. The caller must have
 * verified the signatures (life/clean_proof.h).
 */

/* Compares evidence, decoded from its envelope, with the machine and its current tenancy,
 * spec.drives, the floor of the Provider p (NULL: ERR_NOT_FOUND) and that of a claim (floor; NULL:
 * none). -1: the error names what is missing. */
int wipe_judge(const struct machine *m, const struct provider_object *p, const struct evidence *ev,
	       const struct object_wipe_floor *floor, struct err *e);
/* Returns the reason (reasons.def) for which wipe_judge() refused the evidence. */
enum reason wipe_judge_reason(const struct machine *m, const struct evidence *ev);
/* Returns the lowest levels of flash and of rotating drives in a record; -1: it has no such
 * drive. */
void wipe_judge_levels(const struct evidence *ev, int *flash, int *hdd);

#endif
