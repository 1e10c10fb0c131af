#ifndef CLI_SIMULATE_SNAPSHOT_H
#define CLI_SIMULATE_SNAPSHOT_H

#include <stdio.h>
#include "cli/client.h"

/*
 * snapshot: writes a live fleet as a scenario file (cli/simulate/scenario.h). Reads only.
 *
 * From the host cluster: Providers, NodePools, VirtualClusters, Machines, NodeClaims, and the last
 * WipeRecord of each Machine, without its envelope. From tenants, if requested: the fields of Pods
 * and Nodes that the controller reads (controller/tenant/projection.h), so no images, arguments or
 * variables. Secrets are read only for the tenants' kubeconfigs. The file has no Secrets, no
 * annotations of drover's objects, no fabric commands, no BMCs and no machine identities.
 *
 * Not in the file: volumes and their limits, Drains, and state that only the running controller has
 * (avoided machines).
 * Tests: tests/unit/cli/simulate/test_snapshot.c
 */
struct snapshot_spec {
	struct cli_client *c;
	/* True: also write the tenants' Pods and Nodes */
	bool tenants;
	/* drover's own namespace */
	const char *ns;
	/* True: tenants may have http:// URLs (tests only) */
	bool plain_ok;
};
/* Writes the file to out. Returns the exit status: 1 also if an object could not be read; standard
 * error and a comment in the file name it. */
int snapshot_write(const struct snapshot_spec *s, FILE *out);

#endif
