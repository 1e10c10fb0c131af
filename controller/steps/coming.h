#ifndef CONTROLLER_STEPS_COMING_H
#define CONTROLLER_STEPS_COMING_H

#include "controller/life/journal.h"
#include "controller/life/life.h"

/*
 * coming: functions for the states in which a machine comes into a tenant's service: imaging,
 * attaching, booting, joining and gating, and partly claimed.
 */

/* Returns the claim to which the machine is bound, if the claim still exists and is not being
 * deleted. NULL: the API server is being asked, or *d is the change to stopping. That change leads
 * to the wipe, because from imaging on data of the tenant may be on the machine. */
const struct node_claim *coming_claim(struct life *l, enum life_decision *d);

/* True if the tenant of claim n accepts the machine's Node, or if that is not known. False if the
 * tenant's cluster accepts no Nodes, or its API server is not reachable from the segment. In that
 * case the machine waits, and status shows which of the two it is. */
bool coming_ensure_taken(struct life *l, const struct node_claim *n);
/* True if the bootstrap token of the machine's Node exists in the tenant's cluster, and o->files
 * contains the files of the machine's config drive, allocated in a. False: not yet, or the claim
 * fails (*d). */
bool coming_ensure_config(struct life *l, const struct node_claim *n, struct arena *a,
			  struct proto_order *o, enum life_decision *d);

/* Checks from time to time, and before the deadline, that the bootstrap token of a booting machine
 * still exists, by creating it: the token is derived from the UID of the claim, so a token that was
 * deleted is created again with the same content. Status then shows that it was missing. Afterwards
 * reads the CSRs of the tenant's cluster, for the text of the deadline, and in the second half of
 * the time until the deadline tries the token there (life/join_seen.h). Call only while no Node of
 * the claim is known, because the token of a Node that joined is deleted. */
void coming_check_token(struct life *l, const struct node_claim *n);

#endif
