#ifndef CONTROLLER_LIFE_PROBE_H
#define CONTROLLER_LIFE_PROBE_H

#include "controller/life/journal.h"
#include "controller/tenant/tenant.h"

/*
 * probe: proves by test packets in which segment (isolated network) the machine is. This is an
 * addition to what the fabric reports (docs/network.md).
 *
 * The agent probes the addresses that the Provider and the VirtualClusters name. The result
 * (proved, or why not) is written to status.network together with the id of the agent's order, so
 * that the next leader can use it.
 * Tests: tests/world/test_probe.c
 */

/* True if the agent has probed from the segment in status.network, which must be one of drover's
 * own, and the result (proof Strong, or why not) is in status. Also true if there is nothing to
 * probe. False while the probe is in progress. If an address of another segment answered, returns
 * false and sets *d to LIFE_CHANGE: the operation ends. name: name of the order: "probe", or
 * "CLAIM/probe" if one boot probes for several claims. */
bool life_ensure_probed(struct life *l, const char *name, enum life_decision *d);

/* What drover-join, the program that joins the machine to its tenant, must probe before it joins */
struct life_join_probe {
	/* secret key with which drover-join authenticates its result */
	const char *key;
	/* addresses in the tenant's segment, separated by commas */
	const char *own;
	/* addresses in other segments, separated by commas */
	const char *others;
};
/* Returns what the machine must probe before it joins the API server at `endpoint`, allocated in a;
 * NULL: there is nothing to probe. */
const struct life_join_probe *life_join_probe(const struct life *l, const struct node_claim *n,
					      const char *endpoint, struct arena *a);

/* True if status contains the probe result that the Node reports and the result allows the claim to
 * continue, or if there is nothing to probe. False while the result is being written. If the result
 * does not allow the claim to continue, returns false and sets *d to LIFE_CHANGE. */
bool life_ensure_join_probed(struct life *l, const struct node_claim *n,
			     const struct tenant_node *node, enum life_decision *d);

/* Size of the text that names the missing proof */
#define LIFE_PROOF_TEXT 300
/* True if the proof in status.network meets what the tenant requires (spec.network.requireProof).
 * Otherwise writes what is missing to why. */
bool life_proof_suffices(const struct life *l, const struct node_claim *n,
			 char why[static LIFE_PROOF_TEXT]);
/* True if a sufficient proof in the tenant's segment is possible: the fabric proves the present
 * segment as well as the tenant requires, or the machine can probe before it joins. Otherwise
 * writes what is missing to why. */
bool life_proof_may_suffice(const struct life *l, const struct node_claim *n,
			    char why[static LIFE_PROOF_TEXT]);

#endif
