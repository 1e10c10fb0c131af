#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "base/crypto.h"
#include "sim/machine.h"

/*
 * node: what the operating system on the root drive does (docs/image-contract.md): reads
 * drover-join.cfg from the config drive, joins as kubeadm does, registers a Node, keeps its Lease
 * and Ready condition, and runs the pods bound to it: Running after a while, traces of them on the
 * drives, over when the annotation sim.drover.dev/run-for ("90s"; pods of a Job without it: 10s)
 * has passed: Succeeded, or Failed if sim.drover.dev/exit-code is not 0. Gone when deleted: after
 * sim.drover.dev/stop-after (1s), at most their grace. nvidia.com/gpu: 8 appears some seconds after
 * Ready, as from a device plugin.
 *
 * It reaches its cluster only while the switch has its port in that tenant's segment, "tenant/...".
 *
 * Trust is kubeadm's: the CA is believed whose public key has the hash on the config drive. It is
 * looked for in spec.cluster_cas, then in the ConfigMap cluster-info of kube-public, asked without
 * a token. So is what it is itself: with the bootstrap token it asks for a client certificate,
 * waits until the cluster has approved and signed it, and is from then on system:node:NAME and
 * nothing more. Key and certificate stand on the root drive; they are not renewed. Where there is
 * no certificates API, or nobody signs, the bootstrap token itself registers the Node; after that
 * spec.kubelet_token takes its place, because drover then deletes the bootstrap token.
 */
#define SIM_NODE_MAGIC "DROVER-SIM-IMAGE 1\n"
#define SIM_NODE_RUN_FOR "sim.drover.dev/run-for"
#define SIM_NODE_EXIT_CODE "sim.drover.dev/exit-code"
#define SIM_NODE_STOP_AFTER "sim.drover.dev/stop-after"
#define SIM_NODE_TRACE                                                                             \
	"TENANT-DATA of pod " /* and NAMESPACE/NAME: what a pod leaves on every drive */
struct sim_node;
/* NULL: the root drive holds no image that it knows, or no config drive. */
struct sim_node *sim_node_new(struct loop_group *g, struct sim_machine *m, struct err *e);
/* as power loss does */
void sim_node_free(struct sim_node *n);

/* The image that such a root drive holds, format raw: the magic, then lines KEY=VALUE (kubelet), an
 * empty line, and anything. bytes of it (0: 64 KiB); digest: of all; malloc'd. */
char *sim_node_image(const char *kubelet_version, size_t bytes,
		     char digest[static CRYPTO_DIGEST_TEXT]);
/* The ConfigMap cluster-info (JSON, malloc'd) that a node finds its cluster's CA by; server:
 * "https://host:port". */
char *sim_cluster_info(const char *server, const char *ca_pem);

#endif
