#include "controller/rules/proof.h"

#include "controller/rules/api_path.h"

/* proof: the best proof of a machine's network segment that the configuration allows.
 * Tests: tests/unit/controller/rules/test_proof.c */

int proof_of_network(const struct provider_object *p)
{
	switch ((enum provider_object_fabric)p->spec.network.type) {
	case FABRIC_NONE:
		return VIRTUAL_CLUSTER_PROOF_NONE;
	/* Weak: the Netris controller reports only its configuration and that the switches are
	 * alive */
	case FABRIC_NETRIS:
		return VIRTUAL_CLUSTER_PROOF_WEAK;
	case FABRIC_EXEC: /* Strong: the operator's program may report a strong proof */
		return VIRTUAL_CLUSTER_PROOF_STRONG;
	}
	return VIRTUAL_CLUSTER_PROOF_NONE;
}

bool proof_by_packets(const struct provider_object *p)
{
	return p->spec.network.type != FABRIC_NONE && p->spec.network.probe.provisioning.n;
}

bool proof_is_probed(const struct virtual_cluster *vc)
{
	return vc->spec.network.probe.n || api_path_address(vc);
}
