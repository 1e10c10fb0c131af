#ifndef CLI_SIMULATE_SNAPSHOT_H
#define CLI_SIMULATE_SNAPSHOT_H

#include <stdio.h>
#include "cli/client.h"

/*
 * snapshot: writes a live fleet as a scenario file (cli/simulate/scenario.h). The module only reads
 * from the clusters.
 *
 * From the host cluster, the file gets Providers, NodePools, VirtualClusters, Machines, NodeClaims,
 * and the last WipeRecord of each Machine without the record's envelope. From tenants, if
 * requested, it gets those fields of Pods and Nodes that the controller reads
 * (controller/tenant/projection.h), so no images, arguments or environment variables. Secrets are
 * read only for the tenants' kubeconfigs. The file has no Secrets, no annotations of drover's
 * objects, no fabric commands, no BMCs and no machine identities.
 *
 * The file also lacks volumes and their limits, Drains, and state that only the running controller
 * has, such as machines that it avoids.
 * Tests: tests/unit/cli/simulate/test_snapshot.c
 */
struct snapshot_spec {
	struct cli_client *c;
	/* true: also write the tenants' Pods and Nodes */
	bool tenants;
	/* drover's own namespace */
	const char *ns;
	/* true: allow http:// for tenants' API servers (tests) */
	bool plain_ok;
};
/* Writes the scenario file to `out`. Returns the exit status. If an object could not be read, the
 * status is 1, and both standard error and a comment in the file name the object. */
int snapshot_write(const struct snapshot_spec *s, FILE *out);

#endif
