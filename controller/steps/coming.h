#ifndef CONTROLLER_STEPS_COMING_H
#define CONTROLLER_STEPS_COMING_H

#include "controller/life/journal.h"
#include "controller/life/life.h"

/*
 * coming: what the steps from imaging to gating share.
 */

/* The claim that holds the machine, as long as it is there and wanted. NULL: it is being asked for,
 * or the machine is on its way out (*d), which is the wipe from imaging on. */
const struct node_claim *coming_claim(struct life *l, enum life_decision *d);

/* False: its tenant's cluster says that it takes no Nodes, or the way there is not up; it waits,
 * and says so. */
bool coming_ensure_taken(struct life *l, const struct node_claim *n);
/* The token of this very node stands in its tenant, and o has the files of its config drive, in a.
 * False: not yet, or it fails its claim (*d). */
bool coming_ensure_config(struct life *l, const struct node_claim *n, struct arena *a,
			  struct proto_order *o, enum life_decision *d);

#endif
