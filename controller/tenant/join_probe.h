#ifndef CONTROLLER_TENANT_JOIN_PROBE_H
#define CONTROLLER_TENANT_JOIN_PROBE_H

#include "controller/tenant/tenant.h"

/*
 * join_probe: finds out whether a virtual cluster accepts machines as its Nodes, and at which
 * address they reach its API server.
 *
 * A machine joins as with kubeadm. A cluster that permits this has the ConfigMap
 * kube-system/kubeadm-config, which `kubeadm init` and a vCluster with private nodes write, or at
 * least kube-public/cluster-info, by which a node finds the CA. A vCluster that shares its host's
 * nodes has neither ConfigMap.
 *
 * If a cluster has neither, or does not let drover read them, GET /node/join shows whether the
 * cluster is a vCluster with private nodes after all. The request uses a connection verified by the
 * kubeconfig's CA. The script served there runs as root on the machine, so machines use it only if
 * spec.join of the VirtualCluster is Script or Auto. The probe sends no token, so the server may
 * refuse to answer. After a refusal drover still uses the script with spec.join Script, which an
 * administrator chose, but not with Auto.
 *
 * Nodes join at spec.joinEndpoint of the VirtualCluster, or else at the address in the ConfigMap.
 * The address in the ConfigMap is untrusted, so it must be HOST:PORT and neither local nor an
 * address that no tenant may name (core/reserved.h).
 *
 * With spec.nodes Host, drover probes the host cluster with its own login, and the host cluster's
 * version counts, because machines of the virtual cluster become Nodes of the host cluster. Only an
 * administrator can set spec.nodes; nothing that a tenant controls makes a machine join the host
 * cluster.
 *
 * With spec.network.apiServer, nodes join at the address there, and only while a recent check
 * showed that the network path from the machines to this address works (core/api_paths.h). The
 * condition APIServerWay reports the state of this network path.
 *
 * The probe runs while the tenant's API server answers: every minute while the cluster does not
 * accept machines, every 10 min while it does. An error does not change what was known before. The
 * condition TakesNodes reports the result.
 * Tests: tests/unit/controller/tenant/test_join_probe.c, tests/world/test_join.c,
 * tests/world/test_join_script.c, tests/world/test_host_nodes.c
 */
#define JOIN_PROBE_ENDPOINT 262

/* Probe of one tenant. */
struct join_probe;
/* Creates the probe. changed() is called when the result has changed, so that the status and the
 * planner are updated. */
struct join_probe *join_probe_new(struct tenant *t, void (*changed)(struct tenant *t));
void join_probe_free(struct join_probe *p);
/* Starts a probe if one is due. Call after the tenant's API server answered. */
void join_probe_ask(struct join_probe *p);
/* Drops the result and the call in flight. Call before the tenant's client is freed; a client with
 * another login may get a different result. */
void join_probe_forget(struct join_probe *p);

struct join_answer {
	/* False: there is no result yet, and `takes` is false */
	bool known;
	bool takes;
	/* machine-readable reason in CamelCase; a static string */
	const char *reason;
	/* why the cluster accepts no machines; "": it accepts them */
	char text[256];
	/* True: machines join by the script served at /node/join; false: by kubeadm */
	bool by_script;
	/* address of the API server for nodes, HOST:PORT, borrowed from vc or the probe; NULL: the
	 * cluster accepts no machines */
	const char *endpoint;
	/* with spec.nodes Host: version of the host cluster, such as "1.36"; otherwise, or if not
	 * known: NULL */
	const char *version;
};
void join_probe_answer(const struct join_probe *p, const struct virtual_cluster *vc,
		       struct join_answer *out);

/* Sets the condition APIServerWay in cs if the tenant has spec.network.apiServer, else removes the
 * condition. Returns true if cs has changed. */
bool join_probe_api_path_status(const struct join_probe *p, const struct virtual_cluster *vc,
				struct arena *a, struct conditions *cs);
/* Sets the condition TakesNodes in cs; the array cs->v must have room for one more condition.
 * Returns true if cs has changed. */
bool join_probe_status(const struct join_probe *p, const struct virtual_cluster *vc,
		       struct arena *a, struct conditions *cs);

#endif
