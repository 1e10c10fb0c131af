#ifndef CONTROLLER_CORE_KEYS_H
#define CONTROLLER_CORE_KEYS_H

#include "base/crypto.h"
#include "controller/core/context.h"

/*
 * keys: the Secrets that drover itself needs, in its own namespace.
 *
 *   drover-boot-key      key          32 random bytes in hex (at least 32 characters): boot secrets, media tokens,
 *                                     nonces
 *   drover-evidence-key  private.pem  Ed25519: countersigns wipe records
 *                        public-*     old public keys ("ed25519:..."), still accepted
 *   drover-agent-ca      ca.crt, ca.key  the CA that agents pin; further certificates in ca.crt are pinned too
 *   drover-metrics-token token           for whoever reads /metrics from elsewhere
 *
 * All are followed: what their Secrets hold is used within 30 s of a change. Missing ones are made,
 * with one exception. Once a WipeRecord exists, a missing evidence key is not made anew: with
 * another key no record could be verified. Then nothing is offered, claimed or wiped until a person
 * restores the Secret; all else goes on.
 */
struct keys;

struct keys *keys_new(struct context *c);
void keys_free(struct keys *k);
DEFINE_OWN(keys)

/* One of these has this name. */
bool keys_hang_on(const char *secret);

/* Ask for what is missing; true once the boot key and the CA are there and it is known whether the
 * evidence key is. why (may be NULL): what is waited for. */
bool keys_ready(struct keys *k, const char **why);
const struct secret *keys_boot(struct keys *k);
/* NULL: its Secret is not there or cannot be used (now); the one taken last is not used on. */
const struct crypto_key *keys_evidence(struct keys *k);
/* A metrics token that is wanted is made where it is not there. Another value of one of these is to
 * be seen within 30 s, however many Secrets there are. */
void keys_follow(struct keys *k);
/* Put the public keys into the ConfigMap, where they stay after they were replaced; only while
 * leading. Done again when they change, and every hour. */
void keys_publish(struct keys *k);
/* Public keys that may have countersigned: n of them, the present one first; those known last when
 * the Secret is gone. */
const char *const *keys_evidence_publics(struct keys *k, size_t *n);
const char *keys_ca_pem(struct keys *k);
const struct secret *keys_ca_key(struct keys *k);

/* The CA as its Secret has it now; false: it cannot be read.  arg: the struct keys. */
bool keys_agent_ca(void *keys, const char **cert_pem, const struct secret **key_pem);

/* Who reads /metrics from elsewhere shows it: the Secret drover-metrics-token, key `token`, which
 * keys_follow() makes from the first question on. NULL: not there yet, or shorter than 16
 * characters. */
const struct secret *keys_metrics_token(struct keys *k);

/* HMAC-SHA256 of the text under the boot key, in hex: values that any leader derives alike. */
void keys_derive(struct keys *k, const char *text, char out[static 65]);

#endif
