#ifndef PROVIDERS_NETRIS_PROOF_H
#define PROVIDERS_NETRIS_PROOF_H

#include "base/list.h"
#include "providers/fabric.h"
#include "providers/netris_snapshot.h"

/*
 * netris_proof: judges from a snapshot whether a server's ports are in the V-nets (networks) of one
 * server cluster and in no others.
 *
 * The controller has no interface that shows that a switch has applied a change: switches pull
 * changes, and keep their last configuration while the controller is unreachable. So a Weak proof
 * needs all of the following; if one is missing the proof is None:
 *
 *   the cluster, and each of its V-nets, are Active
 *   each of these V-nets contains a port to which the server is linked; a V-net of InfiniBand or
 *   NVLink contains the server itself, as Active if it reports a status per server
 *   the cluster shows a V-net for each fabric in its template
 *   no other V-net contains such a port or the server, except those named as common, and each
 *   other V-net reports its members
 *   each switch of these ports has reported since the first snapshot that showed the machine in
 *   the cluster: the switch's lastSeen is later than in that snapshot. A lastSeen is compared only
 *   with an earlier one of the same switch, so no clocks need to agree
 *
 * A Strong proof also needs probe packets, which the controller sends (controller/life/probe.h).
 *
 * Pure.
 * Tests: tests/unit/providers/test_netris_proof.c
 */

/* What earlier snapshots showed for one machine. The caller sets all members to zero initially and
 * after each move of the machine. */
struct netris_seen {
	/* ID of the cluster in which the last snapshot showed the machine; 0: in none */
	int64_t cluster;
	/* True: `since` was set, from the first snapshot that showed the machine in this cluster */
	bool based;
	/* True: every switch of the machine has reported after `since` */
	bool proved;
	/* lastSeen of the switch of each port, from the first snapshot that showed the machine in
	 * this cluster. */
	int64_t since[NETRIS_PORTS_MAX];
	size_t n;
};

/* Returns the proof that server m is in cluster c, and updates *seen. c: the cluster that contains
 * the server; NULL: none. common: names of V-nets that may contain the server in addition,
 * NULL-terminated or NULL. Writes to why (at least 200 bytes) what is missing for the proof; "" if
 * nothing is. */
enum fabric_proof netris_prove(const struct netris_snapshot *l, const struct netris_machine *m,
			       const struct netris_cluster *c, const char *const *common,
			       struct netris_seen *seen, char *why, size_t size);

#endif
