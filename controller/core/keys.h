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
 *   drover-agent-ca       ca.crt       the CA that agents pin; further certificates in it are
 *                                      pinned too
 *                         ca.key       its key
 *   drover-metrics-token  token        for clients that read /metrics from another host
 *
 * Changes of these Secrets take effect within 30 s. drover creates missing ones, with one
 * exception. Once a WipeRecord exists, a missing evidence key is not replaced, because no record
 * could be verified with a new key. Then nothing is offered, claimed or wiped until an operator
 * restores the Secret; everything else continues.
 */
struct keys;

struct keys *keys_new(struct context *c);
void keys_free(struct keys *k);
DEFINE_OWN(keys)

/* True if secret is the name of one of these Secrets. */
bool keys_hang_on(const char *secret);

/* Requests the Secrets that are missing. Returns true once the boot key and the CA are loaded and
 * it is known whether the evidence key exists. why (may be NULL): what is missing. */
bool keys_ready(struct keys *k, const char **why);
const struct secret *keys_boot(struct keys *k);
/* Returns the evidence key; NULL: its Secret is missing or unusable at present. An earlier key is
 * not used in its place. */
const struct crypto_key *keys_evidence(struct keys *k);
/* Creates the metrics token if it is wanted and missing. Makes sure that changes of these Secrets
 * are seen within 30 s, however many Secrets drover reads. */
void keys_follow(struct keys *k);
/* Writes the public keys to the ConfigMap, from which replaced keys are never removed. Only while
 * leading; repeated when the keys change, and every hour. */
void keys_publish(struct keys *k);
/* Returns the n public keys that may have countersigned a record, the current one first; the last
 * known ones if the Secret is gone. */
const char *const *keys_evidence_publics(struct keys *k, size_t *n);
const char *keys_ca_pem(struct keys *k);
const struct secret *keys_ca_key(struct keys *k);

/* Gets the CA as its Secret contains it now; false: it cannot be read. keys: the struct keys. */
bool keys_agent_ca(void *keys, const char **cert_pem, const struct secret **key_pem);

/* Returns the token with which clients on other hosts read /metrics: key `token` of the Secret
 * drover-metrics-token, which keys_follow() creates after the first call. NULL: not loaded yet, or
 * shorter than 16 characters. */
const struct secret *keys_metrics_token(struct keys *k);

/* Writes the HMAC-SHA256 of text under the boot key, in hex. Every leader derives the same
 * value. */
void keys_derive(struct keys *k, const char *text, char out[static 65]);

#endif
