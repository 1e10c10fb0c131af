#ifndef CONTROLLER_CORE_KEYS_H
#define CONTROLLER_CORE_KEYS_H

#include "base/crypto.h"
#include "controller/core/context.h"

/*
 * keys: the Secrets that drover itself needs, in its own namespace.
 *
 *   drover-boot-key       key          32 random bytes in hex (at least 32 characters): for boot
 *                                      secrets, media tokens, nonces
 *   drover-evidence-key   private.pem  Ed25519: countersigns wipe records
 *                         public-*     old public keys ("ed25519:..."), still accepted
 *   drover-agent-ca       ca.crt       the CA that agents pin; further certificates in ca.crt are
 *                                      pinned too
 *                         ca.key       the private key of that CA
 *   drover-metrics-token  token        for clients that read /metrics from another host
 *
 * Changes of these Secrets take effect within 30 s. drover creates missing Secrets, with one
 * exception: once a WipeRecord exists, a missing evidence key is not replaced, because records
 * signed with the lost key could not be verified with a new one. Then no machine is offered,
 * claimed or wiped until an operator restores the Secret; everything else continues.
 */
struct keys;

struct keys *keys_new(struct context *c);
void keys_free(struct keys *k);
DEFINE_OWN(keys)

/* True if `secret` is the name of a Secret of this module: drover-boot-key, drover-evidence-key,
 * drover-agent-ca or drover-metrics-token. */
bool keys_is_secret(const char *secret);

/* Requests the Secrets that are not loaded yet. Returns true once the boot key and the CA are
 * loaded and it is known whether the evidence key exists. *why (`why` may be NULL): name of the
 * Secret that is missing. */
bool keys_ready(struct keys *k, const char **why);
const struct secret *keys_boot(struct keys *k);
/* Returns the evidence key; NULL: its Secret is missing or unusable at present. A key that was
 * loaded earlier is then not returned. */
const struct crypto_key *keys_evidence(struct keys *k);
/* Creates the Secret drover-metrics-token if keys_metrics_token() was called and the Secret is
 * missing. Also ensures that the Secrets of this module are read every 30 s, however many other
 * Secrets drover reads. */
void keys_follow(struct keys *k);
/* Writes the public evidence keys to a ConfigMap for auditors. Keys that were replaced stay in the
 * ConfigMap. Writes only while this replica leads, after the keys changed and every hour. */
void keys_publish(struct keys *k);
/* Returns the public keys that may have countersigned a wipe record, the current key first; *n:
 * their number. If the Secret is gone, returns the keys that were loaded last. */
const char *const *keys_evidence_publics(struct keys *k, size_t *n);
const char *keys_ca_pem(struct keys *k);
const struct secret *keys_ca_key(struct keys *k);

/* Sets *cert_pem and *key_pem to the agent CA's certificate and private key as its Secret contains
 * them now. False: one of the two is not loaded. keys: a struct keys. */
bool keys_agent_ca(void *keys, const char **cert_pem, const struct secret **key_pem);

/* Returns the token with which clients on other hosts read /metrics: key `token` of the Secret
 * drover-metrics-token, which keys_follow() creates after the first call. NULL: not loaded yet, or
 * shorter than 16 characters. */
const struct secret *keys_metrics_token(struct keys *k);

/* Writes to out the HMAC-SHA256 of `text` under the boot key, in hex. Every leader derives the same
 * value. */
void keys_derive(struct keys *k, const char *text, char out[static 65]);

#endif
