#ifndef CONTROLLER_RULES_PROOF_H
#define CONTROLLER_RULES_PROOF_H

#include "api/kinds.h"

/*
 * proof: the best proof of a machine's segment that the settings of its Provider and tenant allow.
 * life/probe.h determines the proof of a machine at a given time, which may be weaker.
 *
 * Pure. Tests: tests/unit/controller/rules/test_proof.c
 */

/* Returns the best proof by the fabric alone, as an enum virtual_cluster_proof. */
int proof_of_network(const struct provider_object *p);
/* True if probes in the provisioning segment may strengthen the proof. */
bool proof_by_packets(const struct provider_object *p);
/* True if probes in the tenant's segment may strengthen the proof. */
bool proof_is_probed(const struct virtual_cluster *vc);

#endif
