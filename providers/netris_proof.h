#ifndef PROVIDERS_NETRIS_PROOF_H
#define PROVIDERS_NETRIS_PROOF_H

#include "base/list.h"
#include "providers/fabric.h"
#include "providers/netris_look.h"

/*
 * netris_proof: how far a look proves that a server's ports are in the V-nets of one server cluster
 * and in no other.
 *
 * Nothing that the controller offers says that a switch has applied a change: switches pull it, and
 * go on with what they have while the controller is away. So it takes all of these, and they make a
 * Weak proof; None when one is missing:
 *
 *   the cluster, and each of its V-nets, are Active
 *   each of these V-nets has a port that the server is linked to; one of InfiniBand or NVLink has the server, and
 *   as Active where it says that of each
 *   the cluster shows a V-net of each fabric that its template has
 *   neither such a port nor the server is in any other V-net, but for those that are named as common, and each of them
 *   says who is in it
 *   each switch of these ports was heard of since: its lastSeen is later than at the first look that showed the
 *   machine there.  It is compared with itself alone, so no clock has to agree with another one
 *
 * Strong takes packets besides, which the controller adds (controller/life/probe.h).
 *
 * Pure. Tests: tests/unit/providers/test_netris_proof.c
 */

/* What was seen of one machine before; all zero at first, and again whenever it was moved. */
struct netris_seen {
	/* in which the looks show it; 0: in none */
	int64_t cluster;
	/* `since` is of the first look that shows it there */
	bool based;
	/* every switch was heard of since */
	bool proved;
	/* lastSeen of each port's switch */
	int64_t since[NETRIS_PORTS_MAX];
	size_t n;
};

/* cluster NULL: it is in none. common: names of V-nets, NULL-terminated or NULL. why: what is
 * missing; at least 200 bytes. */
enum fabric_proof netris_prove(const struct netris_look *l, const struct netris_machine *m,
			       const struct netris_cluster *c, const char *const *common,
			       struct netris_seen *seen, char *why, size_t size);

#endif
