#ifndef CONTROLLER_LIFE_WIPE_H
#define CONTROLLER_LIFE_WIPE_H

#include "controller/life.h"

/*
 * life_wipe: judging evidence.  Is this machine clean, for its Provider and
 * for this claim?  (S1)
 */

/* A valid WipeRecord of the present tenancy stands: both signatures good, the shown fields are the signed
 * ones, every expected drive at its medium's minimum level, agent trust at the floor of the
 * Provider and (floor not NULL) of the claim.  -1 says what is missing. */
int life_clean(const struct life *l, const struct object_wipe_floor *floor, struct err *e);
/* Evidence of this machine and tenancy against drives and floors, as opened from its envelope. */
int life_judge(const struct life *l, const struct evidence *ev,
	       const struct object_wipe_floor *floor, struct err *e);
/* The newest record of this machine's present tenancy; NULL: none. */
const struct wipe_record *life_record(const struct life *l);
/* Worst levels of flash and of spinning drives in a record; -1: it has none of them. */
void life_levels(const struct evidence *ev, int *flash, int *hdd);

#endif
