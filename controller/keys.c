#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/keys.h"
#include "controller/secrets.h"

#define BOOT "drover-boot-key"
#define EVIDENCE "drover-evidence-key"
#define AGENT_CA "drover-agent-ca"
#define CA_DAYS 3650
#define PUBLICS_MAX 16
#define AGAIN_MS 10000

struct keys {
	struct controller *c;
	struct secret *boot; /* a copy: a Secret that is deleted under us takes nothing away */
	struct crypto_key *evidence;
	char *evidence_version;
	char publics[PUBLICS_MAX][CRYPTO_PUBLIC_TEXT];
	const char *public_list[PUBLICS_MAX];
	size_t npublics;
	int64_t ensured_boot, ensured_evidence,
		ensured_ca; /* loop_now() of the last try to make it; 0: none */
};

struct keys *keys_new(struct controller *c)
{
	struct keys *k = mem_new(struct keys);

	k->c = c;
	return k;
}

void keys_free(struct keys *k)
{
	if (!k)
		return;
	crypto_key_free(k->evidence);
	free(k->evidence_version);
	secret_free(k->boot);
	free(k);
}

static void make_boot(struct keys *k)
{
	uint8_t raw[32];
	char hex[65];
	const char *names[] = {"key"};

	loop_random_bytes(k->c->loop, raw, sizeof(raw));
	str_hex(hex, raw, sizeof(raw));
	{
		OWN(secret) s = secret_from_str(hex);
		const struct secret *values[] = {s};

		secrets_ensure(k->c->secrets, BOOT, names, values, 1);
	}
	secret_wipe(raw, sizeof(raw));
	secret_wipe(hex, sizeof(hex));
}

static void make_evidence(struct keys *k)
{
	OWN(crypto_key) key = crypto_key_new();
	OWN(secret) pem = crypto_key_pem(key);
	const char *names[] = {"private.pem"};
	const struct secret *values[] = {pem};

	secrets_ensure(k->c->secrets, EVIDENCE, names, values, 1);
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

		secrets_ensure(k->c->secrets, AGENT_CA, names, values, 2);
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
	const char *version = secrets_version(k->c->secrets, NULL, EVIDENCE);
	const struct secret *pem = secrets_value(k->c->secrets, NULL, EVIDENCE, "private.pem"),
			    *old;
	char name[16];
	struct err e;

	if (k->evidence && str_eq(version, k->evidence_version))
		return true;
	crypto_key_free(k->evidence);
	k->evidence = pem ? crypto_key_from_pem(pem, &e) : NULL;
	if (!k->evidence) {
		if (why)
			*why = EVIDENCE " (private.pem is not an Ed25519 key)";
		return false;
	}
	free(k->evidence_version);
	k->evidence_version = mem_strdup(version);
	crypto_key_public(k->evidence, k->publics[0]);
	k->npublics = 1;
	for (int i = 1; i < PUBLICS_MAX; i++) {
		str_format(name, sizeof(name), "public-%d", i);
		old = secrets_value(k->c->secrets, NULL, EVIDENCE, name);
		if (old &&
		    str_copy(k->publics[k->npublics], CRYPTO_PUBLIC_TEXT, secret_expose(old)))
			k->npublics++;
	}
	for (size_t i = 0; i < k->npublics; i++)
		k->public_list[i] = k->publics[i];
	return true;
}

bool keys_ready(struct keys *k, const char **why)
{
	bool fresh = kube_cache_synced(k->c->cache[OBJECT_WIPE_RECORD]) &&
		     kube_cache_size(k->c->cache[OBJECT_WIPE_RECORD]) == 0;

	return loaded(k, BOOT, &k->ensured_boot, make_boot, why) && keys_boot(k) &&
	       loaded(k, AGENT_CA, &k->ensured_ca, make_ca, why) &&
	       loaded(k, EVIDENCE, &k->ensured_evidence, fresh ? make_evidence : NULL, why) &&
	       take_evidence(k, why);
}

const struct secret *keys_boot(struct keys *k)
{
	const struct secret *now = secrets_value(k->c->secrets, NULL, BOOT, "key");

	if (now && (!k->boot || !secret_equal(now, k->boot))) {
		secret_free(k->boot);
		k->boot = secret_copy(now);
	}
	return k->boot;
}

const struct crypto_key *keys_evidence(struct keys *k)
{
	return k->evidence;
}

const char *const *keys_evidence_publics(struct keys *k, size_t *n)
{
	*n = k->npublics;
	return k->public_list;
}

const char *keys_ca_pem(struct keys *k)
{
	const struct secret *s = secrets_value(k->c->secrets, NULL, AGENT_CA, "ca.crt");

	return s ? secret_expose(s) : NULL;
}

const struct secret *keys_ca_key(struct keys *k)
{
	return secrets_value(k->c->secrets, NULL, AGENT_CA, "ca.key");
}

void keys_derive(struct keys *k, const char *text, char out[static 65])
{
	uint8_t mac[CRYPTO_SHA256];

	crypto_hmac_sha256(keys_boot(k), text, strlen(text), mac);
	str_hex(out, mac, sizeof(mac));
	secret_wipe(mac, sizeof(mac));
}
