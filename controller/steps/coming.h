#ifndef CONTROLLER_STEPS_COMING_H
#define CONTROLLER_STEPS_COMING_H

#include "controller/life/journal.h"
#include "controller/life/life.h"

/*
 * coming: what the steps from imaging to gating share.
 */

/* Returns the claim that holds the machine, if it still exists and is not being deleted. NULL: the
 * API server is being asked, or the machine goes to stopping (*d); from imaging on, every way out
 * includes the wipe. */
const struct node_claim *coming_claim(struct life *l, enum life_decision *d);

/* False if the tenant's cluster accepts no Nodes, or its API server is not reachable from the
 * segment; the machine then waits with that reason. */
bool coming_ensure_taken(struct life *l, const struct node_claim *n);
/* True if the bootstrap token of this node exists in the tenant, and o holds the files of its
 * config drive, allocated in a. False: not yet, or the claim fails (*d). */
bool coming_ensure_config(struct life *l, const struct node_claim *n, struct arena *a,
			  struct proto_order *o, enum life_decision *d);

#endif
