#ifndef CONTROLLER_LIFE_PROBE_H
#define CONTROLLER_LIFE_PROBE_H

#include "controller/life/journal.h"
#include "controller/tenant/tenant.h"

/*
 * probe: proves by test packets in which segment the machine is, in addition to what the fabric
 * reports (docs/network.md).
 *
 * The agent probes the addresses that the Provider and the VirtualClusters name. The result
 * (proved, or why not) is written to status.network together with the id of its order, so that the
 * next leader can use it.
 * Tests: tests/world/test_probe.c
 */

/* True if the agent has probed from the drover-owned segment in status.network, for an order of
 * this name, and the result (proved Strong, or why not) is in status; also if there is nothing to
 * probe. name: "probe", or "CLAIM/probe" where one boot is probed for several claims. False while
 * the probe runs, or if an address of another segment answered, which ends the operation (*d). */
bool life_ensure_probed(struct life *l, const char *name, enum life_decision *d);

/* What drover-join must probe before it joins. */
struct life_join_probe {
	/* key of the expected answer */
	const char *key;
	/* addresses in the tenant's segment, separated by commas */
	const char *own;
	/* addresses in other segments, separated by commas */
	const char *others;
};
/* Returns the probe before joining at endpoint, allocated in a; NULL: there is nothing to probe. */
const struct life_join_probe *life_join_probe(const struct life *l, const struct node_claim *n,
					      const char *endpoint, struct arena *a);

/* True if the probe result that the Node reports is in status, or there is nothing to probe. False
 * while it is being written, or if the claim fails because of it (*d). */
bool life_ensure_join_probed(struct life *l, const struct node_claim *n,
			     const struct tenant_node *node, enum life_decision *d);

/* Size of the text that says which proof is missing. */
#define LIFE_PROOF_TEXT 300
/* True if the proof in status.network meets what the tenant requires (spec.network.requireProof).
 * Otherwise writes what is missing to why. */
bool life_proof_suffices(const struct life *l, const struct node_claim *n,
			 char why[static LIFE_PROOF_TEXT]);
/* True if the proof in the tenant's segment can meet what the tenant requires: the fabric proves
 * the present segment well enough, or the machine can probe before it joins. Otherwise writes what
 * is missing to why. */
bool life_proof_may_suffice(const struct life *l, const struct node_claim *n,
			    char why[static LIFE_PROOF_TEXT]);

#endif
