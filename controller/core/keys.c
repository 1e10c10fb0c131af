/*
 * keys: creates missing Secrets, loads existing ones, and publishes the public keys for auditors.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/core/keys.h"
#include "api/annotations.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/secrets.h"
#include "kube/call.h"

#define METRICS "drover-metrics-token"
#define CA_DAYS 3650
#define BOOT_LEAST 32 /* minimum length of the boot key, in characters */
#define TOKEN_LEAST 16
#define PUBLICS_MAX 16
#define AGAIN_MS 10000
#define PUBLISH_AGAIN_MS 30000
#define PUBLISHED_MS 3600000

struct keys {
	struct context *c;
	/* copy of the last valid boot key; the copy stays in use if the Secret is deleted later */
	struct secret *boot;
	/* True once keys_metrics_token() was called */
	bool wants_metrics;
	/* resourceVersion of the Secret whose boot key was refused as too short; NULL: none */
	char *refused;
	struct crypto_key *evidence;
	char *evidence_version;
	char publics[PUBLICS_MAX][CRYPTO_PUBLIC_TEXT];
	const char *public_list[PUBLICS_MAX];
	size_t npublics;
	/* loop_now() of the last attempt to create each Secret; 0: no attempt */
	int64_t ensured_boot, ensured_evidence, ensured_ca, ensured_metrics;
	/* resourceVersion of the Secret whose public keys were published in the ConfigMap; NULL:
	 * none */
	char *published;
	struct kube_call *publishing;
	struct loop_timer publish_again;
};

static void publish_again(void *arg)
{
	struct keys *k = arg;

	free(k->published);
	k->published = NULL;
	keys_publish(k);
}

struct keys *keys_new(struct context *c)
{
	struct keys *k = mem_new(struct keys);

	k->c = c;
	loop_timer_init(&k->publish_again, c->group, publish_again, k);
	return k;
}

void keys_free(struct keys *k)
{
	if (!k)
		return;
	kube_call_cancel(k->publishing);
	loop_timer_stop(&k->publish_again);
	crypto_key_free(k->evidence);
	free(k->evidence_version);
	free(k->published);
	free(k->refused);
	secret_free(k->boot);
	free(k);
}

static void make_random(struct keys *k, const char *name, const char *key)
{
	uint8_t raw[32];
	char hex[65];
	const char *names[] = {key};

	loop_random_bytes(k->c->loop, raw, sizeof(raw));
	str_hex(hex, raw, sizeof(raw));
	{
		OWN(secret) s = secret_from_str(hex);
		const struct secret *values[] = {s};

		secrets_ensure(k->c->secrets, name, names, values, 1);
	}
	secret_wipe(raw, sizeof(raw));
	secret_wipe(hex, sizeof(hex));
}

static void make_boot(struct keys *k)
{
	make_random(k, KEYS_BOOT, "key");
}

static void make_metrics_token(struct keys *k)
{
	make_random(k, METRICS, "token");
}

static void make_evidence(struct keys *k)
{
	OWN(crypto_key) key = crypto_key_new();
	OWN(secret) pem = crypto_key_pem(key);
	const char *names[] = {"private.pem"};
	const struct secret *values[] = {pem};

	secrets_ensure(k->c->secrets, KEYS_EVIDENCE, names, values, 1);
}

static void make_ca(struct keys *k)
{
	const char *names[] = {"ca.crt", "ca.key"};
	struct secret *key = NULL;
	char *pem = NULL;
	struct err e;

	if (crypto_ca_new("drover agent CA", loop_wall(k->c->loop), CA_DAYS, &pem, &key, &e) < 0)
		return;
	{
		OWN(secret) cert = secret_from_str(pem);
		const struct secret *values[] = {cert, key};

		secrets_ensure(k->c->secrets, KEYS_AGENT_CA, names, values, 2);
	}
	secret_free(key);
	free(pem);
}

static bool loaded(struct keys *k, const char *name, int64_t *ensured, void (*make)(struct keys *),
		   const char **why)
{
	enum secret_state st = secrets_want(k->c->secrets, NULL, name);
	int64_t now = loop_now(k->c->loop);

	if (st == SECRET_LOADED)
		return true;
	if (st == SECRET_ABSENT && make && (!*ensured || now - *ensured > AGAIN_MS)) {
		*ensured = now > 0 ? now : 1;
		make(k);
	}
	if (why)
		*why = name;
	return false;
}

static bool take_evidence(struct keys *k, const char **why)
{
	const char *version = secrets_version(k->c->secrets, NULL, KEYS_EVIDENCE);
	const struct secret *pem = secrets_value(k->c->secrets, NULL, KEYS_EVIDENCE, "private.pem"),
			    *old;
	char name[16];
	struct err e;

	if (k->evidence && str_eq(version, k->evidence_version))
		return true;
	crypto_key_free(k->evidence);
	k->evidence = pem ? crypto_key_from_pem(pem, &e) : NULL;
	free(k->evidence_version);
	k->evidence_version = mem_strdup(k->evidence ? version : "");
	if (!k->evidence) {
		if (why)
			*why = KEYS_EVIDENCE " (private.pem is not an Ed25519 key)";
		return false;
	}
	crypto_key_public(k->evidence, k->publics[0]);
	k->npublics = 1;
	for (int i = 1; i < PUBLICS_MAX; i++) {
		str_format(name, sizeof(name), "public-%d", i);
		old = secrets_value(k->c->secrets, NULL, KEYS_EVIDENCE, name);
		if (old &&
		    str_copy(k->publics[k->npublics], CRYPTO_PUBLIC_TEXT, secret_expose(old)))
			k->npublics++;
	}
	for (size_t i = 0; i < k->npublics; i++)
		k->public_list[i] = k->publics[i];
	return true;
}

/* True if it is known whether the evidence key exists. While no WipeRecord exists, a missing key is
 * created, and the result is true once the key is loaded. If a WipeRecord exists, no key is created
 * (keys.h says why), and the result is true once a read of the Secret has ended. On false, *why:
 * name of the Secret that is awaited. */
static bool evidence_known(struct keys *k, const char **why)
{
	if (kube_cache_synced(k->c->cache[OBJECT_WIPE_RECORD]) &&
	    (kube_cache_size(k->c->cache[OBJECT_WIPE_RECORD]) > 0 || k->c->records_unread)) {
		if (secrets_want(k->c->secrets, NULL, KEYS_EVIDENCE) != SECRET_LOADING)
			return true;
		if (why)
			*why = KEYS_EVIDENCE;
		return false;
	}
	return loaded(k, KEYS_EVIDENCE, &k->ensured_evidence,
		      kube_cache_synced(k->c->cache[OBJECT_WIPE_RECORD]) ? make_evidence : NULL,
		      why) &&
	       take_evidence(k, why);
}

bool keys_is_secret(const char *secret)
{
	return str_eq(secret, KEYS_BOOT) || str_eq(secret, KEYS_EVIDENCE) ||
	       str_eq(secret, KEYS_AGENT_CA) || str_eq(secret, METRICS);
}

bool keys_ready(struct keys *k, const char **why)
{
	if (!loaded(k, KEYS_BOOT, &k->ensured_boot, make_boot, why))
		return false;
	if (!keys_boot(k)) {
		if (why)
			*why = KEYS_BOOT " (key has less than 32 characters)";
		return false;
	}
	return loaded(k, KEYS_AGENT_CA, &k->ensured_ca, make_ca, why) && evidence_known(k, why);
}

const struct secret *keys_boot(struct keys *k)
{
	const struct secret *now = secrets_value(k->c->secrets, NULL, KEYS_BOOT, "key");

	if (now && secret_len(now) < BOOT_LEAST) {
		/* Refuse a short key: it could be guessed, and boot media could be forged with
		 * it. */
		if (!str_eq(k->refused, secrets_version(k->c->secrets, NULL, KEYS_BOOT)))
			log_error("boot key not used: it is too short", LOG_S("secret", KEYS_BOOT));
		free(k->refused);
		k->refused = mem_strdup(secrets_version(k->c->secrets, NULL, KEYS_BOOT));
	} else if (now && (!k->boot || !secret_equal(now, k->boot))) {
		secret_free(k->boot);
		k->boot = secret_copy(now);
	}
	return k->boot;
}

const struct crypto_key *keys_evidence(struct keys *k)
{
	if (secrets_want(k->c->secrets, NULL, KEYS_EVIDENCE) != SECRET_LOADED ||
	    !take_evidence(k, NULL))
		return NULL;
	return k->evidence;
}

const char *const *keys_evidence_publics(struct keys *k, size_t *n)
{
	(void)keys_evidence(k);
	*n = k->npublics;
	return k->public_list;
}

/* --- for auditors ----------------------------------------------------------------------------- */

static void on_published(json_t *o, const struct err *e, void *arg);

/* Returns the ConfigMap's data: one member per public key, named by the key's digest, so that the
 * patch never overwrites an old key. */
static json_t *published(const struct keys *k)
{
	json_t *data = json_pack("{s:s}", "current", k->publics[0]);

	for (size_t i = 0; i < k->npublics; i++) {
		uint8_t d[CRYPTO_SHA256];
		char name[32], hex[17];

		crypto_sha256(k->publics[i], strlen(k->publics[i]), d);
		str_hex(hex, d, 8);
		str_format(name, sizeof(name), "key-%s", hex);
		json_object_set_new(data, name, json_string(k->publics[i]));
	}
	return data;
}

static void on_patched(json_t *o, const struct err *e, void *arg)
{
	struct keys *k = arg;
	OWN_JSON all = NULL;

	if (!e || e->kind != ERR_NOT_FOUND) {
		on_published(o, e, arg);
		return;
	}
	all = json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:o}", "apiVersion", "v1", "kind",
			"ConfigMap", "metadata", "name", KEYS_PUBLISHED, "namespace", k->c->o.ns,
			"labels", "app.kubernetes.io/managed-by", "drover", "data", published(k));
	k->publishing = kube_create(k->c->host, &KUBE_CONFIGMAPS, k->c->o.ns, all, on_published, k);
}

static void on_published(json_t *o, const struct err *e, void *arg)
{
	struct keys *k = arg;

	(void)o;
	k->publishing = NULL;
	if (e) {
		log_warn("public keys not published", LOG_S("configmap", KEYS_PUBLISHED), LOG_E(e));
		free(k->published);
		k->published = NULL;
	}
	loop_timer_start(&k->publish_again, e ? PUBLISH_AGAIN_MS : PUBLISHED_MS);
}

void keys_follow(struct keys *k)
{
	secrets_expect(k->c->secrets, NULL, KEYS_BOOT);
	secrets_expect(k->c->secrets, NULL, KEYS_EVIDENCE);
	secrets_expect(k->c->secrets, NULL, KEYS_AGENT_CA);
	if (k->wants_metrics) {
		(void)loaded(k, METRICS, &k->ensured_metrics, make_metrics_token, NULL);
		secrets_expect(k->c->secrets, NULL, METRICS);
	}
}

void keys_publish(struct keys *k)
{
	OWN_JSON patch = NULL;

	if (!k->c->leading || k->publishing || !keys_evidence(k) ||
	    str_eq(k->published, k->evidence_version))
		return;
	free(k->published);
	k->published = mem_strdup(k->evidence_version);
	patch = json_pack("{s:o}", "data", published(k));
	k->publishing = kube_patch(k->c->host, &KUBE_CONFIGMAPS, k->c->o.ns, KEYS_PUBLISHED, NULL,
				   KUBE_PATCH_MERGE, patch, on_patched, k);
}

const char *keys_ca_pem(struct keys *k)
{
	const struct secret *s = secrets_value(k->c->secrets, NULL, KEYS_AGENT_CA, "ca.crt");

	return s ? secret_expose(s) : NULL;
}

const struct secret *keys_ca_key(struct keys *k)
{
	return secrets_value(k->c->secrets, NULL, KEYS_AGENT_CA, "ca.key");
}

bool keys_agent_ca(void *keys, const char **cert_pem, const struct secret **key_pem)
{
	*cert_pem = keys_ca_pem(keys);
	*key_pem = keys_ca_key(keys);
	return *cert_pem && *key_pem;
}

const struct secret *keys_metrics_token(struct keys *k)
{
	const struct secret *t = secrets_value(k->c->secrets, NULL, METRICS, "token");

	k->wants_metrics = true;
	return t && secret_len(t) >= TOKEN_LEAST ? t : NULL;
}

void keys_derive(struct keys *k, const char *text, char out[static 65])
{
	uint8_t mac[CRYPTO_SHA256];

	crypto_hmac_sha256(keys_boot(k), text, strlen(text), mac);
	str_hex(out, mac, sizeof(mac));
	secret_wipe(mac, sizeof(mac));
}
