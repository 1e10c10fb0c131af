#ifndef CONTROLLER_LIFE_JOIN_H
#define CONTROLLER_LIFE_JOIN_H

#include "base/arena.h"
#include "controller/life/life.h"
#include "controller/tenant/tenant.h"

/*
 * join: what a machine needs to become a Node of its tenant: the bootstrap
 * token, the config drive (docs/image-contract.md), and the proof that the
 * Node which registered is this machine.
 *
 * Token id and secret are derived from the boot key and the claim's UID, so any leader
 * mints, finds and deletes the same one.
 * Tests: tests/unit/controller/life/test_join.c, tests/world/test_join.c
 */
struct life_token {
	char id[7], secret[17];
};
void life_token(struct life *l, const char *claim_uid, struct life_token *out);
/* Secret kube-system/bootstrap-token-ID of the tenant; gives. expires: wall ms. */
json_t *life_token_secret(const struct life_token *t, const char *claim, int64_t expires);

/* The API server that it joins. */
struct life_join_at {
	/* HOST:PORT */
	const char *endpoint;
	/* "sha256:..." of its CA */
	const char *ca_hash;
	/* the host cluster: the Node is for the claim's tenant alone, by label and taint */
	bool on_host;
	/* its CA, where the machine runs the script that it serves; NULL: kubeadm joins */
	const char *script_ca;
};

/* The config drive's files, in the arena; secret text in it: wipe the arena's order after use.
 * user_data may be NULL. */
int life_config_files(struct life *l, const struct node_claim *n, const struct life_join_at *at,
		      const struct life_token *t, const char *user_data, struct arena *a,
		      struct proto_order *o, struct err *e);

/* "drover://PROVIDER/MACHINE" */
const char *life_provider_id(const struct life *l, struct arena *a);
/* The Node is this machine, freshly booted; -1 says what does not fit. */
int life_proves(const struct life *l, const struct node_claim *n, const struct tenant_node *node,
		struct err *e);
/* Merge patch with the labels and annotations that drover gives to the Node. Gives. */
json_t *life_node_labels(const struct life *l, const struct node_claim *n, bool on_host);

#endif
