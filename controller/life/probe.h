#ifndef CONTROLLER_LIFE_PROBE_H
#define CONTROLLER_LIFE_PROBE_H

#include "controller/life/journal.h"
#include "controller/tenant/tenant.h"

/*
 * probe: what packets say of where the machine is, beside what its fabric says (docs/network.md).
 *
 * The agent asks the addresses that the Provider and the VirtualClusters name. What is proved, or
 * why it is not, is written to status.network with the order that it is of: whoever leads next acts
 * on that.
 * Tests: tests/world/test_probe.c
 */

/* In the segment where status.network has it, which is one of our own, its agent asked, for an
 * order of that name: "probe", or "CLAIM/probe" where one boot is asked for several claims. Proved
 * (Strong), or not, and why. False: it is being asked; or an address of another segment answered,
 * which ends the operation (*d). */
bool life_ensure_probed(struct life *l, const char *name, enum life_decision *d);

/* Where there is anything to ask from its tenant's segment: what drover-join is to ask before it
 * joins at that endpoint, and the key of the answer, in the arena. NULL: there is nothing. */
struct life_join_probe {
	/* addresses with commas between them */
	const char *key, *own, *others;
};
const struct life_join_probe *life_join_probe(const struct life *l, const struct node_claim *n,
					      const char *endpoint, struct arena *a);

/* What its Node says of that is written down; as above. */
bool life_ensure_join_probed(struct life *l, const struct node_claim *n,
			     const struct tenant_node *node, enum life_decision *d);

/* What its tenant demands (spec.network.requireProof).  False: why says what lacks. */
#define LIFE_PROOF_TEXT 300
/* Where status.network has it, it is proved so well. */
bool life_proof_suffices(const struct life *l, const struct node_claim *n,
			 char why[static LIFE_PROOF_TEXT]);
/* In the tenant's segment it may be: by its fabric, as that proves where it is now, or by packets
 * before it joins. */
bool life_proof_may_suffice(const struct life *l, const struct node_claim *n,
			    char why[static LIFE_PROOF_TEXT]);

#endif
