#ifndef CONTROLLER_RULES_WIPE_JUDGE_H
#define CONTROLLER_RULES_WIPE_JUDGE_H

#include "api/kinds.h"
#include "api/reasons.h"
#include "wipe/evidence.h"

/*
 * wipe_judge: decides whether the evidence of a wipe suffices to call a machine clean. Pure
 * functions. The caller must have verified the signatures (life/clean_proof.h).
 */

/* Compares the evidence ev, decoded from its envelope, with the machine, its current tenancy and
 * spec.drives, with the required level of the Provider p, and with that of a claim (floor; NULL: no
 * claim). -1: *e names what is missing; ERR_NOT_FOUND if p is NULL. */
int wipe_judge(const struct machine *m, const struct provider_object *p, const struct evidence *ev,
	       const struct object_wipe_floor *floor, struct err *e);
/* Returns the reason (api/reasons.def) for which wipe_judge() refused the evidence. Call it only
 * after wipe_judge() failed. */
enum reason wipe_judge_reason(const struct machine *m, const struct evidence *ev);
/* Sets *flash and *hdd to the lowest level of any flash drive and of any rotating drive in the
 * evidence; -1: the evidence has no such drive. */
void wipe_judge_levels(const struct evidence *ev, int *flash, int *hdd);

#endif
