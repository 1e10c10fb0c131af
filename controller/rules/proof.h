#ifndef CONTROLLER_RULES_PROOF_H
#define CONTROLLER_RULES_PROOF_H

#include "api/kinds.h"

/*
 * proof: what can ever be proved of where a Provider's machines are, by how it and the tenant are
 * set up. How a machine is proved at a time: life/probe.h, which may find less.
 *
 * Pure. Tests: tests/unit/controller/rules/test_proof.c
 */

/* The best that its network can show by itself, as an enum virtual_cluster_proof. */
int proof_of_network(const struct provider_object *p);
/* In its provisioning segment its machines' packets may show more. */
bool proof_by_packets(const struct provider_object *p);
/* In the tenant's segment they may. */
bool proof_is_probed(const struct virtual_cluster *vc);

#endif
