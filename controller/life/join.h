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
/* Returns the Secret kube-system/bootstrap-token-ID for the tenant, as a new reference that the
 * caller owns. expires: wall ms. */
json_t *life_token_secret(const struct life_token *t, const char *claim, int64_t expires);

/* API server that the machine joins. */
struct life_join_at {
	/* HOST:PORT */
	const char *endpoint;
	/* "sha256:..." of the CA's public key */
	const char *ca_hash;
	/* True for the host cluster: a label and a taint then reserve the Node for the claim's
	 * tenant. */
	bool on_host;
	/* PEM of the CA, if the machine joins with the script that the API server serves; NULL: it
	 * joins with kubeadm */
	const char *script_ca;
};

/* Fills o->files with the files of the config drive, allocated in a. The files contain secrets:
 * wipe them after use. user_data may be NULL. */
int life_config_files(struct life *l, const struct node_claim *n, const struct life_join_at *at,
		      const struct life_token *t, const char *user_data, struct arena *a,
		      struct proto_order *o, struct err *e);

/* Returns "drover://PROVIDER/MACHINE". */
const char *life_provider_id(const struct life *l, struct arena *a);
/* Returns 0 if the Node is this machine, freshly booted; -1 with the mismatch in e. */
int life_proves(const struct life *l, const struct node_claim *n, const struct tenant_node *node,
		struct err *e);
/* Returns a merge patch with the labels and annotations that drover sets on the Node, as a new
 * reference that the caller owns. */
json_t *life_node_labels(const struct life *l, const struct node_claim *n, bool on_host);

#endif
