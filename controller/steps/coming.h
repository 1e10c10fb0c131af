#ifndef CONTROLLER_STEPS_COMING_H
#define CONTROLLER_STEPS_COMING_H

#include "controller/life/journal.h"
#include "controller/life/life.h"

/*
 * coming: what the steps in which a machine comes to its tenant share (imaging to gating; partly
 * claimed).
 */

/* Returns the claim that holds the machine, if the claim still exists and is not being deleted.
 * NULL: the API server is being asked, or *d is the change to stopping. From imaging on, every way
 * out of the tenancy includes the wipe. */
const struct node_claim *coming_claim(struct life *l, enum life_decision *d);

/* True if the machine can join the tenant of claim n, or that is not known. False if the tenant's
 * cluster accepts no Nodes, or its API server is not reachable from the segment; the machine then
 * waits with that reason. */
bool coming_ensure_taken(struct life *l, const struct node_claim *n);
/* True if the bootstrap token of the machine's Node exists in the tenant, and o->files are the
 * files of its config drive, allocated in a. False: not yet, or the claim fails (*d). */
bool coming_ensure_config(struct life *l, const struct node_claim *n, struct arena *a,
			  struct proto_order *o, enum life_decision *d);

#endif
