#ifndef CONTROLLER_RULES_PROOF_H
#define CONTROLLER_RULES_PROOF_H

#include "api/kinds.h"

/*
 * proof: the best proof of a machine's segment that is possible with the settings of its Provider
 * and tenant. life/probe.h determines the proof that a machine has at a given time, which may be
 * weaker.
 *
 * Pure functions. Tests: tests/unit/controller/rules/test_proof.c
 */

/* Returns the best proof that the fabric alone can give, as an enum virtual_cluster_proof. */
int proof_of_network(const struct provider_object *p);
/* True if probes by machines in the provisioning segment may strengthen the proof: the Provider
 * names addresses to probe. */
bool proof_by_packets(const struct provider_object *p);
/* True if probes by machines in the tenant's segment may strengthen the proof: the tenant has
 * addresses to probe. */
bool proof_is_probed(const struct virtual_cluster *vc);

#endif
