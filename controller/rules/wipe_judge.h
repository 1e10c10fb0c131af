#ifndef CONTROLLER_RULES_WIPE_JUDGE_H
#define CONTROLLER_RULES_WIPE_JUDGE_H

#include "api/kinds.h"
#include "api/reasons.h"
#include "wipe/evidence.h"

/*
 * wipe_judge: is this evidence enough to call a machine clean? Pure: whether the signatures are
 * good was asked before (life/clean_proof.h).
 */

/* Evidence of this machine and its present tenancy, as opened from its envelope, against
 * spec.drives, the floor of the Provider p (NULL: ERR_NOT_FOUND) and that of a claim (floor; NULL:
 * none). -1 says what is missing. */
int wipe_judge(const struct machine *m, const struct provider_object *p, const struct evidence *ev,
	       const struct object_wipe_floor *floor, struct err *e);
/* Why wipe_judge() refused it, as one of reasons.def. */
enum reason wipe_judge_reason(const struct machine *m, const struct evidence *ev);
/* Worst levels of flash and of spinning drives in a record; -1: it has none of them. */
void wipe_judge_levels(const struct evidence *ev, int *flash, int *hdd);

#endif
