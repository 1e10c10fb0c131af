#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/messages.h"

/*
 * Creates and verifies tokens of ServiceAccounts: JSON Web Tokens (RFC 7519) signed with Ed25519
 * (RFC 8037). The signing key is created on first use and kept in the store under a name that no
 * API path can reach. The claims in a token follow KEP-1205 (bound service account tokens).
 * Tests: tests/unit/kube/apiserver/test_auth.c
 */
#define ISSUER "https://kubernetes.default.svc.cluster.local"
#define KEY_OF_TOKENS "internal/service-account-key"
#define MAX_TOKEN ((size_t)8 << 10)

/* --- the signing key -------------------------------------------------------------------------- */

static struct crypto_key *make_key(struct apiserver *a)
{
	struct crypto_key *key = crypto_key_new();
	OWN(secret) pem = crypto_key_pem(key);
	struct store_change change = {
		.key = KEY_OF_TOKENS,
		.value = secret_expose(pem),
		.value_len = secret_len(pem),
		.if_rev = 0,
	};
	struct err e;

	if (store_commit(a->store, &change, 1, NULL, NULL, NULL, &e) == 0)
		return key;
	crypto_key_free(key);
	return NULL;
}

static const struct crypto_key *key_of(struct apiserver *a, bool make)
{
	struct store_entry entry;
	struct err e;

	if (!a->token_key && store_get(a->store, KEY_OF_TOKENS, &entry)) {
		OWN(secret) pem = secret_new(entry.value, entry.value_len);

		a->token_key = crypto_key_from_pem(pem, &e);
	} else if (!a->token_key && make) {
		a->token_key = make_key(a);
	}
	return a->token_key;
}

/* --- base64url without padding (RFC 4648, 5) -------------------------------------------------- */

static char *encode(struct arena *m, const void *data, size_t len)
{
	char *text = crypto_base64(data, len), *copy = arena_strdup(m, text);

	for (char *c = copy; *c; c++)
		*c = *c == '+' ? '-' : *c == '/' ? '_' : *c == '=' ? '\0' : *c;
	free(text);
	return copy;
}

/* --- creating a token ------------------------------------------------------------------------- */

static const char *sign(struct apiserver *a, struct arena *m, const json_t *claims)
{
	static const char head[] = "{\"alg\":\"EdDSA\",\"typ\":\"JWT\"}";
	const struct crypto_key *key = key_of(a, true);
	char *text = json_text(claims);
	const char *to_sign = arena_printf(m, "%s.%s", encode(m, head, strlen(head)),
					   encode(m, text, strlen(text)));
	uint8_t sig[CRYPTO_SIGNATURE];

	free(text);
	if (!key)
		return NULL;
	crypto_sign(key, to_sign, strlen(to_sign), sig);
	return arena_printf(m, "%s.%s", to_sign, encode(m, sig, sizeof(sig)));
}

/* The object to which a token is bound: the token becomes invalid when the object is deleted. */
struct binding {
	/* "secret" or "pod". */
	const char *kind;
	const char *name, *uid;
};

/* Returns a signed token, in the arena. expires_s: lifetime in seconds; 0: no expiry. to NULL: the
 * token is not bound to an object. */
static const char *make_token(struct apiserver *a, struct arena *m, const json_t *account,
			      const json_t *audiences, int64_t expires_s, const struct binding *to)
{
	const char *ns = json_str_at(account, "metadata", "namespace");
	const char *name = json_str_at(account, "metadata", "name");
	int64_t now_s = loop_wall(a->loop) / 1000;
	json_t *of = json_pack("{s:s, s:{s:s, s:s}}", "namespace", ns, "serviceaccount", "name",
			       name, "uid", json_str_at(account, "metadata", "uid"));
	OWN_JSON claims =
		json_pack("{s:s, s:s, s:I, s:I, s:o}", "iss", ISSUER, "sub",
			  arena_printf(m, "system:serviceaccount:%s:%s", ns, name), "iat",
			  (json_int_t)now_s, "nbf", (json_int_t)now_s, "kubernetes.io", of);

	if (to)
		json_object_set_new(of, to->kind,
				    json_pack("{s:s, s:s}", "name", to->name, "uid", to->uid));
	if (expires_s)
		json_object_set_new(claims, "exp", json_integer(now_s + expires_s));
	json_object_set_new(claims, "aud",
			    json_array_size(audiences) ? json_deep_copy(audiences)
						       : json_pack("[s]", ISSUER));
	return sign(a, m, claims);
}

/* --- verifying a token ------------------------------------------------------------------------ */

/* Returns the claims of the token if this server signed it; otherwise NULL. */
static json_t *verified(struct apiserver *a, const char *token)
{
	const struct crypto_key *key = key_of(a, false);
	const char *dot = strchr(token, '.'), *last = dot ? strchr(dot + 1, '.') : NULL;
	size_t len = 0, n = 0;
	char *sig, *text;
	struct err e;
	json_t *claims = NULL;

	if (!key || !last || strchr(last + 1, '.'))
		return NULL;
	sig = crypto_base64url_decode(last + 1, strlen(last + 1), &len, &e);
	if (sig && len == CRYPTO_SIGNATURE &&
	    crypto_verify(key, token, (size_t)(last - token), (const uint8_t *)sig)) {
		text = crypto_base64url_decode(dot + 1, (size_t)(last - dot - 1), &n, &e);
		claims = text ? json_parse(text, n, &e) : NULL;
		free(text);
	}
	free(sig);
	return claims;
}

json_t *token_audiences(const json_t *asked, const json_t *had)
{
	OWN_JSON own = json_pack("[s]", ISSUER);
	OWN_JSON both = json_array();
	size_t i;
	json_t *one;

	json_array_foreach (json_array_size(asked) ? asked : own, i, one)
		if (json_has_str(had ? had : own, str_or(json_string_value(one), "")))
			json_array_append(both, one);
	return json_array_size(both) ? json_incref(both) : NULL;
}

/* True if the object to which the token is bound still exists with the same UID and is not being
 * deleted. */
static bool stands(struct apiserver *a, struct arena *m, const char *plural, const char *ns,
		   const json_t *ref)
{
	struct store_entry entry;
	const char *name = json_str_at(ref, "name");
	OWN_JSON obj =
		name ? object_read(a, arena_printf(m, "%s/%s/%s", plural, ns, name), &entry) : NULL;

	return obj && str_eq(json_str_at(obj, "metadata", "uid"), json_str_at(ref, "uid")) &&
	       !object_is_going(obj);
}

json_t *token_user(struct apiserver *a, const struct secret *token, const json_t *audiences,
		   struct user *u, struct arena *m)
{
	int64_t now_s = loop_wall(a->loop) / 1000;
	OWN_JSON claims = secret_len(token) <= MAX_TOKEN ? verified(a, secret_expose(token)) : NULL;
	const json_t *of = json_object_get(claims, "kubernetes.io");
	const json_t *secret = json_object_get(of, "secret"), *pod = json_object_get(of, "pod");
	const json_t *exp = json_object_get(claims, "exp"), *had = json_object_get(claims, "aud");
	const char *ns = json_str_at(of, "namespace");

	if (!ns || !json_is_array(had) || (exp && json_integer_value(exp) <= now_s) ||
	    !stands(a, m, "serviceaccounts", ns, json_object_get(of, "serviceaccount")) ||
	    (secret && !stands(a, m, "secrets", ns, secret)) ||
	    (pod && !stands(a, m, "pods", ns, pod)))
		return NULL;
	u->name = arena_strdup(m, json_str_at(claims, "sub"));
	u->uid = arena_strdup(m, json_str_at(of, "serviceaccount", "uid"));
	user_add_group(u, m, "system:serviceaccounts");
	user_add_group(u, m, arena_printf(m, "system:serviceaccounts:%s", ns));
	return token_audiences(audiences, had);
}

/* --- POST serviceaccounts/NAME/token ---------------------------------------------------------- */

static int lifetime_of(const json_t *request, int64_t *seconds, struct fault *f)
{
	const json_t *given = json_at(request, "spec", "expirationSeconds");

	*seconds = 3600;
	if (!given || json_is_null(given))
		return 0;
	*seconds = json_integer_value(given);
	if (*seconds < 600 || *seconds > (int64_t)1 << 32)
		return fault_set(f, FAULT_INVALID,
				 "TokenRequest.authentication.k8s.io \"\" is invalid: "
				 "spec.expirationSeconds: Invalid value: %lld: may not specify a "
				 "duration less than 10 minutes or more than 2^32 seconds",
				 (long long)*seconds);
	return 0;
}

/* Checks the object ref to which a new token is to be bound, and describes the object in *to.
 * Returns 0, or -1 with the fault set. */
static int bound_to(struct request *rq, const json_t *ref, struct binding *to)
{
	const char *kind = json_str_at(ref, "kind"), *name = json_str_at(ref, "name");
	bool pod = str_eq(kind, "Pod");
	struct store_entry entry;

	if ((!pod && !str_eq(kind, "Secret")) || !name)
		return fault_set(&rq->fault, FAULT_INVALID,
				 "spec.boundObjectRef: want the kind Pod or Secret, and a name");

	OWN_JSON obj = object_read(
		rq->a, arena_printf(rq->arena, "%s/%s/%s", pod ? "pods" : "secrets", rq->ns, name),
		&entry);

	if (!obj || (json_str_at(ref, "uid") &&
		     !str_eq(json_str_at(ref, "uid"), json_str_at(obj, "metadata", "uid"))))
		return fault_set(&rq->fault, obj ? FAULT_CONFLICT : FAULT_NOT_FOUND, "%s \"%s\" %s",
				 pod ? "pods" : "secrets", name,
				 obj ? "has another UID" : "not found");
	*to = (struct binding){
		.kind = pod ? "pod" : "secret",
		.name = name,
		.uid = arena_strdup(rq->arena, json_str_at(obj, "metadata", "uid")),
	};
	return 0;
}

void do_token_request(struct request *rq)
{
	const char *key = resource_key(rq->r, rq->arena, rq->ns, rq->name), *text;
	struct binding to;
	char time[STR_TIME_SIZE];
	struct store_entry entry;
	OWN_JSON asked = request_body(rq);
	OWN_JSON account = object_read(rq->a, key, &entry);
	json_t *ref = json_at(asked, "spec", "boundObjectRef"), *spec;
	int64_t seconds;

	if (!asked) {
		reply_fault(rq);
		return;
	}
	if (!account) {
		fault_not_found(rq);
		return;
	}
	if (lifetime_of(asked, &seconds, &rq->fault) < 0 ||
	    (json_is_object(ref) && bound_to(rq, ref, &to) < 0)) {
		reply_fault(rq);
		return;
	}
	text = make_token(rq->a, rq->arena, account, json_at(asked, "spec", "audiences"), seconds,
			  json_is_object(ref) ? &to : NULL);
	if (!text) {
		(void)!fault_set(&rq->fault, FAULT_INTERNAL,
				 "the key that signs tokens cannot be stored");
		reply_fault(rq);
		return;
	}
	if (!json_is_object(json_object_get(asked, "spec")))
		json_object_set_new(asked, "spec", json_object());
	spec = json_object_get(asked, "spec");
	json_object_set_new(spec, "expirationSeconds", json_integer(seconds));
	if (json_array_size(json_object_get(spec, "audiences")) == 0)
		json_object_set_new(spec, "audiences", json_pack("[s]", ISSUER));
	json_object_set_new(asked, "apiVersion", json_string("authentication.k8s.io/v1"));
	json_object_set_new(asked, "kind", json_string("TokenRequest"));
	json_object_set_new(asked, "metadata",
			    json_pack("{s:s, s:s, s:O, s:s}", "name", rq->name, "namespace", rq->ns,
				      "uid", json_at(account, "metadata", "uid"),
				      "creationTimestamp", str_time(time, loop_wall(rq->a->loop))));
	json_object_set_new(asked, "status",
			    json_pack("{s:s, s:s}", "token", rq->dry_run ? "" : text,
				      "expirationTimestamp",
				      str_time(time, loop_wall(rq->a->loop) + seconds * 1000)));
	message_normalize(message_find("authentication.v1.TokenRequest"), asked);
	reply_object(rq, 201, asked);
}

/* --- Secrets of type kubernetes.io/service-account-token -------------------------------------- */

static void set_data(json_t *data, const char *key, const char *value)
{
	char *text = crypto_base64(value, strlen(value));

	json_object_set_new(data, key, json_string(text));
	free(text);
}

int token_fill_secret(const struct request *rq, json_t *secret, struct fault *f)
{
	json_t *meta = object_meta(secret);
	const char *name = json_str_at(meta, "annotations", "kubernetes.io/service-account.name");
	const char *ns = json_str_at(meta, "namespace"), *text;
	struct store_entry entry;
	OWN_JSON account =
		name && ns ? object_read(rq->a,
					 arena_printf(rq->arena, "serviceaccounts/%s/%s", ns, name),
					 &entry)
			   : NULL;

	if (!account)
		return fault_set(f, FAULT_INVALID,
				 "metadata.annotations[kubernetes.io/service-account.name]: "
				 "Invalid value: \"%s\": no such ServiceAccount",
				 str_or(name, ""));
	if (!json_is_object(json_object_get(secret, "data")))
		json_object_set_new(secret, "data", json_object());
	json_object_set(json_object_get(meta, "annotations"), "kubernetes.io/service-account.uid",
			json_at(account, "metadata", "uid"));
	text = make_token(rq->a, rq->arena, account, NULL, 0,
			  &(struct binding){.kind = "secret",
					    .name = json_str_at(meta, "name"),
					    .uid = json_str_at(meta, "uid")});
	if (!text)
		return fault_set(f, FAULT_INTERNAL, "the key that signs tokens cannot be stored");
	set_data(json_object_get(secret, "data"), "token", text);
	set_data(json_object_get(secret, "data"), "namespace", ns);
	if (rq->a->ca_pem)
		set_data(json_object_get(secret, "data"), "ca.crt", rq->a->ca_pem);
	return 0;
}
