#ifndef CONTROLLER_LIFE_JOIN_H
#define CONTROLLER_LIFE_JOIN_H

#include "base/arena.h"
#include "controller/life/life.h"
#include "controller/tenant/tenant.h"

/*
 * join: what a machine needs to become a Node of its tenant: the bootstrap token, the config drive
 * (docs/image-contract.md), and the proof that the registered Node is this machine.
 *
 * Token id and secret are derived from the boot key and the claim's UID, so that every leader
 * creates, finds and deletes the same token.
 * Tests: tests/unit/controller/life/test_join.c, tests/world/test_join.c
 */
struct life_token {
	char id[7], secret[17];
};
void life_token(struct life *l, const char *claim_uid, struct life_token *out);
/* Returns the Secret kube-system/bootstrap-token-ID of token *t, to be created in the tenant's
 * cluster, as a new reference that the caller owns. expires: end of the token's validity, wall
 * ms. */
json_t *life_token_secret(const struct life_token *t, const char *claim, int64_t expires);

/* What the config drive tells a machine: the API server that it joins, and how. */
struct life_join_config {
	/* HOST:PORT */
	const char *endpoint;
	/* "sha256:..." of the CA's public key */
	const char *ca_hash;
	/* True: the machine joins the host cluster. A label and a taint then reserve its Node for
	 * the claim's tenant. */
	bool on_host;
	/* PEM of the CA, if the machine joins with the script that the API server serves; NULL: it
	 * joins with kubeadm */
	const char *script_ca;
	const struct life_token *token;
	/* Content of the file user-data; NULL: an empty cloud-config */
	const char *user_data;
};

/* Fills o->files with the files of the config drive, allocated in a. The files contain secrets:
 * wipe them after use. Returns -1 with *e if a value contains a character that the config drive
 * cannot carry. */
int life_config_files(struct life *l, const struct node_claim *n,
		      const struct life_join_config *join, struct arena *a, struct proto_order *o,
		      struct err *e);

/* Returns the providerID of the machine's Node, "drover://PROVIDER/MACHINE". */
const char *life_provider_id(const struct life *l, struct arena *a);
/* Returns 0 if the Node is proved to be this machine and reports a boot id that was not seen
 * before. Returns -1 with the mismatch in e. */
int life_proves(const struct life *l, const struct node_claim *n, const struct tenant_node *node,
		struct err *e);
/* Returns a merge patch with the labels and annotations that drover sets on the Node, as a new
 * reference that the caller owns. on_host: true if the Node is in the host cluster; the label of
 * the tenant is then set, too. */
json_t *life_node_labels(const struct life *l, const struct node_claim *n, bool on_host);

#endif
