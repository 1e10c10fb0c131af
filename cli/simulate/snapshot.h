#ifndef CLI_SIMULATE_SNAPSHOT_H
#define CLI_SIMULATE_SNAPSHOT_H

#include <stdio.h>
#include "cli/client.h"

/*
 * snapshot: a live fleet as a scenario file (cli/simulate/scenario.h), read and never written.
 *
 * Of the host cluster: Providers, NodePools, VirtualClusters, Machines, NodeClaims, and of
 * WipeRecords those that Machines name last, without their envelopes. Of tenants, where it is
 * wanted: Pods and Nodes, of these what the controller reads (controller/tenant/projection.h), so
 * no image, argument or variable of anybody's. Secrets are read for the tenants' kubeconfigs alone;
 * none is written, nor any annotation of an object of drover's, no command of a fabric, no BMC, no
 * identity of a machine.
 *
 * Not in it: volumes and what limits them, Drains, what this controller remembers by itself
 * (avoided machines).
 * Tests: tests/unit/cli/simulate/test_snapshot.c
 */
struct snapshot_spec {
	struct cli_client *c;
	/* also their pods and Nodes */
	bool tenants;
	/* drover's own namespace */
	const char *ns;
	/* tenants by http:// (tests) */
	bool plain_ok;
};
/* The exit status: 1 also where something is missing that could not be read, which is said on
 * standard error and in a comment of the file. */
int snapshot_write(const struct snapshot_spec *s, FILE *out);

#endif
