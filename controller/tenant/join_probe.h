#ifndef CONTROLLER_TENANT_JOIN_PROBE_H
#define CONTROLLER_TENANT_JOIN_PROBE_H

#include "controller/tenant/tenant.h"

/*
 * join_probe: whether a virtual cluster takes machines as its Nodes, and where they reach its API
 * server.
 *
 * A machine joins as kubeadm does it. A cluster that can be joined so says it in the ConfigMap
 * kube-system/kubeadm-config, which `kubeadm init` and a vCluster with private nodes write, or at
 * least in kube-public/cluster-info, by which a node finds the CA. A vCluster that shares its
 * host's nodes has neither. Of one that has neither, or does not let drover look, GET /node/join
 * says whether it is a vCluster with private nodes after all, over the connection that its
 * kubeconfig's CA verifies. The script behind it runs as root on the machine, so it is the way only
 * where spec.join of the VirtualCluster says Script or Auto. It was asked without a token here: of
 * a server that refuses to say, an administrator's Script is believed, and Auto is not enough.
 * Where nodes join is spec.joinEndpoint of the VirtualCluster, or else what the ConfigMap says: a
 * tenant's word, so it is HOST:PORT and neither local nor an address that no tenant may name
 * (core/reserved.h).
 *
 * With spec.nodes Host the host cluster is what is asked, by drover's own login, and its version
 * counts: machines for the virtual cluster become Nodes there. Which of the two it is an
 * administrator says: no word of a tenant leads a machine into the host cluster.
 *
 * With spec.network.apiServer it is that way's address, and no machine is taken unless the way was
 * seen to be up just now (core/ways.h): the condition APIServerWay says what of it is not.
 *
 * It is asked when its API server answers: each minute while it takes none, each 10 min when it
 * does. An error changes nothing that was known before. The condition TakesNodes says what came
 * out.
 * Tests: tests/unit/controller/tenant/test_join_probe.c, tests/world/test_join.c,
 * tests/world/test_join_script.c, tests/world/test_host_nodes.c
 */
#define JOIN_PROBE_ENDPOINT 262

/* of one tenant */
struct join_probe;
/* changed: what is known is another now; status and planner have to know. */
struct join_probe *join_probe_new(struct tenant *t, void (*changed)(struct tenant *t));
void join_probe_free(struct join_probe *p);
/* Its API server answered just now: it is asked, if that is due. */
void join_probe_ask(struct join_probe *p);
/* Its client is about to be freed, and another login may see something else. */
void join_probe_forget(struct join_probe *p);

struct join_answer {
	/* false: it did not say yet; it takes none as long as that is so */
	bool known;
	bool takes;
	/* CamelCase, static */
	const char *reason;
	/* why it takes none; "": it takes them */
	char text[256];
	/* the machine runs what it serves as /node/join; false: kubeadm */
	bool by_script;
	/* HOST:PORT; of vc, its way or the probe; NULL: it takes none */
	const char *endpoint;
	/* of the host cluster, "1.36", with spec.nodes Host; NULL: not known */
	const char *version;
};
void join_probe_answer(const struct join_probe *p, const struct virtual_cluster *vc,
		       struct join_answer *out);

/* The condition APIServerWay, of a tenant with spec.network.apiServer; else it is taken out of
 * cs. */
bool join_probe_way_status(const struct join_probe *p, const struct virtual_cluster *vc,
			   struct arena *a, struct conditions *cs);
/* Puts the condition into cs, with room for one more.  True: something changed. */
bool join_probe_status(const struct join_probe *p, const struct virtual_cluster *vc,
		       struct arena *a, struct conditions *cs);

#endif
