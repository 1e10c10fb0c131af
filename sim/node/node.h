#ifndef SIM_NODE_NODE_H
#define SIM_NODE_NODE_H

#include "base/crypto.h"
#include "sim/machine/machine.h"

/*
 * node: simulates the operating system on the root drive (docs/image-contract.md). It reads
 * drover-join.cfg from the config drive, joins as kubeadm does, registers a Node, renews its Lease
 * and Ready condition, and runs the pods bound to it.
 *
 * A pod becomes Running after a short time, and leaves traces on the drives. It ends after the time
 * in the annotation sim.drover.dev/run-for ("90s"; pods of a Job without the annotation: 10s):
 * Succeeded, or Failed if sim.drover.dev/exit-code is not 0. A deleted pod ends after
 * sim.drover.dev/stop-after (1s), at most its grace period. nvidia.com/gpu: 8 appears some seconds
 * after Ready, as from a device plugin.
 *
 * The node reaches its cluster only while its port on the switch is in the segment of that tenant,
 * "tenant/...".
 *
 * Trust is as in kubeadm: the node accepts the CA whose public key has the hash on the config
 * drive. The node searches for that CA in spec.cluster_cas, then in the ConfigMap cluster-info of
 * kube-public, which it reads without a token. With the bootstrap token it requests a client
 * certificate, and waits until the cluster has approved and signed the request. Then it acts as
 * system:node:NAME without further rights. Key and certificate are stored on the root drive; they
 * are not renewed. In a cluster without the certificates API, or in which no certificate is signed,
 * the bootstrap token itself registers the Node. Afterwards spec.kubelet_token replaces the
 * bootstrap token, because drover then deletes the bootstrap token.
 */
#define SIM_NODE_MAGIC "DROVER-SIM-IMAGE 1\n"
#define SIM_NODE_RUN_FOR "sim.drover.dev/run-for"
#define SIM_NODE_EXIT_CODE "sim.drover.dev/exit-code"
#define SIM_NODE_STOP_AFTER "sim.drover.dev/stop-after"
#define SIM_NODE_TRACE                                                                             \
	"TENANT-DATA of pod " /* Trace of a pod on every drive; NAMESPACE/NAME follows. */
struct sim_node;
/* Starts the node. NULL with *e: the root drive contains no known image, or no config drive. */
struct sim_node *sim_node_new(struct loop_group *g, struct sim_machine *m, struct err *e);
/* Stops the node at once, as a power loss does. */
void sim_node_free(struct sim_node *n);

/* Returns a disk image in format raw that makes a machine run this simulated system, malloc'd: the
 * magic, lines KEY=VALUE (kubelet), an empty line, and padding. bytes: size of the image; 0 means
 * 64 KiB. digest: set to the digest of the whole image. */
char *sim_node_image(const char *kubelet_version, size_t bytes,
		     char digest[static CRYPTO_DIGEST_TEXT]);
/* Returns the ConfigMap cluster-info in which a node finds its cluster's CA (JSON, malloc'd).
 * server: "https://host:port". */
char *sim_cluster_info(const char *server, const char *ca_pem);

#endif
