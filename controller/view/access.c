/*
 * access: a visit is a request whose caller is being reviewed. It ends with a reply, with a grant,
 * or when its client disconnects. The visit of a stream (view_access_again()) ends with done() or
 * view_access_cancel().
 *
 * The steps of a visit: the host cluster reviews the token for VIEW_AUDIENCE, then for its own
 * audience; if it accepts neither, the tenant's API server reviews the token for
 * VIEW_AUDIENCE/TENANT, if the path belongs to a tenant. The API server that accepted the token
 * then reviews the access.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "controller/view/access.h"
#include "base/crypto.h"
#include "base/data/json.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"

#define KEY_SIZE (2 * CRYPTO_SHA256 + 1)
#define REVIEWS_BURST 40
/* Size of the text VIEW_AUDIENCE/TENANT */
#define AUDIENCE_SIZE 288
#define NOT_ACCEPTED "neither the host cluster nor the tenant's accepts the bearer token"

static const struct kube_resource token_reviews = {"authentication.k8s.io", "v1", "tokenreviews",
						   "TokenReview", false},
				  access_reviews = {"authorization.k8s.io", "v1",
						    "subjectaccessreviews", "SubjectAccessReview",
						    false};

enum step { HOST_VIEW, HOST_API, TENANT };

struct view_access {
	struct context *c;
	const struct tenants *tenants;
	/* Visits in progress */
	struct list visits;
	/* Cached answers, the oldest first. Key: digest of token and path, as text of KEY_SIZE
	 * bytes; value: struct answer */
	struct map *answers;
	struct bucket reviews;
	/* Number of calls of view_access_hang_up(). It is part of the keys of tenants' paths, so
	 * that no earlier answer is found. */
	uint64_t hang_ups;
};

struct answer {
	/* HTTP status: 200 (granted), 401 or 403 */
	int status;
	/* loop_now() until which the answer is valid */
	int64_t until;
	/* text of a refusal */
	char text[200];
};

struct view_visit {
	struct list link;
	struct view_access *a;
	struct httpd_req *q;
	/* The visit's end: then() of view_access_check(), or done() of view_access_again(); the
	 * other one is NULL. */
	void (*then)(struct httpd_req *q, void *arg);
	void (*done)(enum view_grant g, void *arg);
	void *arg;
	struct kube_call *call;
	struct secret *token;
	/* Tenant whose users may read the path; NULL: none */
	char *tenant;
	enum step step;
	/* Ends the reviews of step TENANT */
	struct loop_timer limit;
	char key[KEY_SIZE];
};

static void visit_free(struct view_visit *v)
{
	list_remove(&v->link);
	loop_timer_stop(&v->limit);
	kube_call_cancel(v->call);
	secret_free(v->token);
	free(v->tenant);
	free(v);
}

void view_access_cancel(struct view_visit *v)
{
	if (v)
		visit_free(v);
}

static void on_gone(void *arg)
{
	visit_free(arg);
}

static void reply(struct httpd_req *q, int status, const char *text)
{
	OWN_JSON body = json_pack("{s:s}", "error", text);
	char *dump = json_dumps(body, JSON_COMPACT);

	if (status == 401)
		httpd_reply_header(q, "WWW-Authenticate", "Bearer");
	if (status == 429 || status == 503)
		httpd_reply_header(q, "Retry-After", "1");
	httpd_reply_json(q, status, dump);
	free(dump);
}

static void use(struct httpd_req *q, const struct answer *x,
		void (*then)(struct httpd_req *q, void *arg), void *arg)
{
	if (x->status == 200)
		then(q, arg);
	else
		reply(q, x->status, x->text);
}

/* Remembers the answer for the visit's token and path, ends the visit, and acts on the answer. */
static void end(struct view_visit *v, int status, const char *text)
{
	struct view_access *a = v->a;
	struct answer *x = mem_new(struct answer), copy;
	struct httpd_req *q = v->q;
	struct map_iter it;

	x->status = status;
	x->until = loop_now(a->c->loop) + (status == 200 ? VIEW_GRANT_MS : VIEW_REFUSAL_MS);
	str_copy(x->text, sizeof(x->text), text);
	copy = *x;
	map_del(a->answers, v->key);
	if (map_size(a->answers) >= VIEW_ANSWERS_MAX && map_first(a->answers, &it))
		map_del(a->answers, it.key);
	map_put(a->answers, v->key, x);

	void (*then)(struct httpd_req *, void *) = v->then;
	void (*done)(enum view_grant, void *) = v->done;
	void *arg = v->arg;

	visit_free(v);
	if (done) {
		done(status == 200 ? VIEW_GRANTED : VIEW_REFUSED, arg);
		return;
	}
	httpd_on_gone(q, NULL, NULL);
	use(q, &copy, then, arg);
}

/* Ends the visit without a decision; nothing is remembered. status: HTTP status of the reply, 429
 * or 503. */
static void end_undecided(struct view_visit *v, int status, const char *text)
{
	struct httpd_req *q = v->q;
	void (*done)(enum view_grant, void *) = v->done;
	void *arg = v->arg;

	visit_free(v);
	if (done) {
		done(VIEW_UNKNOWN, arg);
		return;
	}
	httpd_on_gone(q, NULL, NULL);
	reply(q, status, text);
}

/* Ends the visit because the API server did not review the caller for this reason. */
static void end_unknown(struct view_visit *v, const char *why)
{
	char *text = mem_printf("the %s cluster did not check the caller's token and rights: %s",
				v->step == TENANT ? "tenant's" : "host", why);

	str_printable(text);
	end_undecided(v, 503, text);
	free(text);
}

/* Returns the visit's tenant if its API server can be asked. NULL: not; then writes the reason to
 * why. */
static const struct tenant *usable_tenant(const struct view_visit *v, char *why, size_t size)
{
	const struct tenant *t = tenant_get(v->a->tenants, v->tenant);

	if (t && t->client && tenant_usable(t))
		return t;
	str_format(why, size, "%s",
		   t ? str_or(t->reason, "drover is not connected to it")
		     : "its VirtualCluster was deleted");
	return NULL;
}

static void send(struct view_visit *v, const struct kube_resource *r, json_t *spec, kube_done *done)
{
	OWN_JSON o = json_pack("{s:o, s:s, s:s+}", "spec", spec, "kind", r->kind, "apiVersion",
			       r->group, "/v1");
	struct kube_client *to = v->a->c->host;
	char why[200];

	if (v->step == TENANT) {
		const struct tenant *t = usable_tenant(v, why, sizeof(why));

		if (!t) {
			end_unknown(v, why);
			return;
		}
		to = t->client;
	}
	v->call = kube_create(to, r, NULL, o, done, v);
}

/* --- may the user read the path? -------------------------------------------------------------- */

static void on_access(json_t *object, const struct err *e, void *arg)
{
	struct view_visit *v = arg;
	char text[200];

	v->call = NULL;
	if (e) {
		end_unknown(v, e->text);
		return;
	}
	if (json_true_at(object, "status", "allowed") &&
	    !json_true_at(object, "status", "denied")) {
		end(v, 200, "");
		return;
	}
	str_format(text, sizeof(text), "user %.60s may not get nonResourceURL %.60s",
		   str_or(json_str_at(object, "spec", "user"), "?"), httpd_path(v->q));
	str_printable(text);
	end(v, 403, text);
}

/* Asks whether the user may read the path. user: member status.user of a TokenReview. Its members
 * "uid", "groups" and "extra" have the same types in the spec of a SubjectAccessReview. */
static void review_access(struct view_visit *v, const json_t *user)
{
	static const char *const same[] = {"uid", "groups", "extra"};
	json_t *spec =
		json_pack("{s:s, s:{s:s, s:s}}", "user", str_or(json_str_at(user, "username"), ""),
			  "nonResourceAttributes", "path", httpd_path(v->q), "verb", "get");

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (json_object_get(user, same[i]))
			json_object_set(spec, same[i], json_object_get(user, same[i]));
	send(v, &access_reviews, spec, on_access);
}

/* --- who is the user? ------------------------------------------------------------------------- */

static void review_token(struct view_visit *v);
static void ask_tenant(struct view_visit *v);

/* Writes the audience for which a token must have been issued in the visit's step. */
static const char *audience_of(const struct view_visit *v, char out[static AUDIENCE_SIZE])
{
	str_format(out, AUDIENCE_SIZE, v->step == TENANT ? VIEW_AUDIENCE "/%s" : VIEW_AUDIENCE,
		   v->tenant);
	return out;
}

/* True if the review authenticated the token for the audience that it asked for. An API server
 * whose authenticator ignores audiences returns none: the token then counts for the API server
 * only. */
static bool is_authenticated(const struct view_visit *v, const json_t *status)
{
	char audience[AUDIENCE_SIZE];

	if (!json_true_at(status, "authenticated") ||
	    str_empty(json_str_at(status, "user", "username")))
		return false;
	return v->step == HOST_API ||
	       json_has_str(json_object_get(status, "audiences"), audience_of(v, audience));
}

static void on_token(json_t *object, const struct err *e, void *arg)
{
	struct view_visit *v = arg;
	const json_t *status = json_object_get(object, "status");

	v->call = NULL;
	if (e) {
		end_unknown(v, e->text);
	} else if (is_authenticated(v, status)) {
		review_access(v, json_object_get(status, "user"));
	} else if (v->step == HOST_VIEW) {
		v->step = HOST_API;
		review_token(v);
	} else if (v->step == HOST_API && v->tenant) {
		ask_tenant(v);
	} else {
		end(v, 401,
		    v->tenant ? NOT_ACCEPTED : "the host cluster does not accept the bearer token");
	}
}

static void review_token(struct view_visit *v)
{
	json_t *spec = json_pack("{s:s}", "token", secret_expose(v->token));
	char audience[AUDIENCE_SIZE];

	if (!spec) { /* not UTF-8 */
		end(v, 401, "the bearer token is not valid UTF-8");
		return;
	}
	if (v->step != HOST_API)
		json_object_set_new(spec, "audiences", json_pack("[s]", audience_of(v, audience)));
	send(v, &token_reviews, spec, on_token);
}

/* --- users of a tenant's cluster -------------------------------------------------------------- */

/* True if member "aud" of the token's payload is the audience, or a list that contains it. False
 * for a token that is no JWT. The token is not verified.
 * https://www.rfc-editor.org/rfc/rfc7519#section-4.1.3 */
static bool names_audience(const struct secret *token, const char *audience)
{
	const char *payload = strchr(secret_expose(token), '.'),
		   *end = payload ? strchr(payload + 1, '.') : NULL;
	OWN_JSON claims = NULL;
	const json_t *named;
	struct err e;
	char *text;
	size_t len;

	if (!end)
		return false;
	text = crypto_base64url_decode(payload + 1, (size_t)(end - payload - 1), &len, &e);
	if (!text)
		return false;
	claims = json_parse(text, len, &e);
	secret_wipe(text, len);
	free(text);
	named = json_object_get(claims, "aud");
	return str_eq(json_string_value(named), audience) || json_has_str(named, audience);
}

static void on_limit(void *arg)
{
	end_unknown(arg, "it did not answer in time");
}

/* Lets the tenant's API server review the caller, whom the host cluster does not know. */
static void ask_tenant(struct view_visit *v)
{
	char audience[AUDIENCE_SIZE], text[AUDIENCE_SIZE + 128];
	unsigned others = 0;

	v->step = TENANT;
	if (!names_audience(v->token, audience_of(v, audience))) {
		str_format(text, sizeof(text),
			   "the bearer token is not for this tenant's part of the view: kubectl "
			   "create token ACCOUNT --audience %s",
			   audience);
		str_printable(text);
		end(v, 401, text);
		return;
	}
	if (!tenant_get(v->a->tenants, v->tenant)) {
		end(v, 401, NOT_ACCEPTED);
		return;
	}
	list_for_each (x, &v->a->visits, struct view_visit, link)
		others += x != v && x->step == TENANT && str_eq(x->tenant, v->tenant);
	if (others >= VIEW_TENANT_REVIEWS) {
		end_undecided(v, 429, "too many new callers of this tenant: try again in a second");
		return;
	}
	loop_timer_start(&v->limit, VIEW_TENANT_MS);
	review_token(v);
}

void view_access_hang_up(struct view_access *a, const char *tenant)
{
	a->hang_ups++;
	list_for_each (v, &a->visits, struct view_visit, link)
		if (v->step == TENANT && str_eq(v->tenant, tenant))
			end_unknown(v, "its VirtualCluster or kubeconfig changed");
}

/* --- a request -------------------------------------------------------------------------------- */

/* Returns the bearer token of the request, owned by the caller; NULL: none. */
static struct secret *token_of(const struct httpd_req *q)
{
	const char *other = httpd_header(q, VIEW_TOKEN_HEADER);

	if (!other)
		return httpd_bearer(q);
	if (strncasecmp(other, "Bearer ", 7) != 0)
		return NULL;
	return secret_from_str(other + 7);
}

/* Writes the key of the answer about the request. era: 0, or hang_ups if the path is a tenant's. */
static void key_of(const struct secret *token, const struct httpd_req *q, uint64_t era,
		   char out[static KEY_SIZE])
{
	uint8_t digest[CRYPTO_SHA256];
	char *text = mem_printf("%s\n%" PRIu64 "\n%s", httpd_path(q), era, secret_expose(token));

	crypto_sha256(text, strlen(text), digest);
	secret_wipe(text, strlen(text));
	free(text);
	str_hex(out, digest, sizeof(digest));
}

/* Begins a visit; takes ownership of token. The caller must set its end and call review_token(). */
static struct view_visit *visit_new(struct view_access *a, struct httpd_req *q,
				    struct secret *token, const char *key)
{
	struct view_visit *v = mem_new(struct view_visit);

	v->a = a;
	v->q = q;
	v->token = token;
	loop_timer_init(&v->limit, a->c->group, on_limit, v);
	memcpy(v->key, key, sizeof(v->key));
	list_push_back(&a->visits, &v->link);
	return v;
}

/* tenant NULL: the path belongs to no tenant. */
static void check(struct view_access *a, struct httpd_req *q, const char *tenant,
		  void (*then)(struct httpd_req *q, void *arg), void *arg)
{
	const int64_t now = loop_now(a->c->loop);
	const struct answer *known;
	struct secret *token = token_of(q);
	struct view_visit *v;
	char key[KEY_SIZE];

	if (!token) {
		reply(q, 401,
		      "a bearer token is required: kubectl create token drover-view "
		      "--audience " VIEW_AUDIENCE);
		return;
	}
	key_of(token, q, tenant ? a->hang_ups : 0, key);
	known = map_get(a->answers, key);
	if ((known && known->until > now) || bucket_take(&a->reviews, now)) {
		secret_free(token);
		if (known && known->until > now)
			use(q, known, then, arg);
		else
			reply(q, 429, "too many new callers: try again in a second");
		return;
	}
	v = visit_new(a, q, token, key);
	v->tenant = tenant ? mem_strdup(tenant) : NULL;
	v->then = then;
	v->arg = arg;
	httpd_on_gone(q, on_gone, v);
	review_token(v);
}

void view_access_check(struct view_access *a, struct httpd_req *q,
		       void (*then)(struct httpd_req *q, void *arg), void *arg)
{
	check(a, q, NULL, then, arg);
}

void view_access_check_tenant(struct view_access *a, struct httpd_req *q, const char *tenant,
			      void (*then)(struct httpd_req *q, void *arg), void *arg)
{
	check(a, q, tenant, then, arg);
}

struct view_visit *view_access_again(struct view_access *a, struct httpd_req *q,
				     void (*done)(enum view_grant g, void *arg), void *arg)
{
	struct secret *token = token_of(q);
	const struct answer *known;
	struct view_visit *v;
	char key[KEY_SIZE];

	key_of(token, q, 0, key);
	known = map_get(a->answers, key);
	if (known && known->until > loop_now(a->c->loop)) {
		secret_free(token);
		done(known->status == 200 ? VIEW_GRANTED : VIEW_REFUSED, arg);
		return NULL;
	}
	v = visit_new(a, q, token, key);
	v->done = done;
	v->arg = arg;
	review_token(v);
	return v;
}

struct view_access *view_access_new(struct context *c, const struct tenants *tenants)
{
	struct view_access *a = mem_new(struct view_access);

	a->c = c;
	a->tenants = tenants;
	list_init(&a->visits);
	a->answers = map_new(free);
	bucket_init(&a->reviews, VIEW_REVIEWS, REVIEWS_BURST, loop_now(c->loop));
	return a;
}

void view_access_free(struct view_access *a)
{
	if (!a)
		return;
	list_for_each (v, &a->visits, struct view_visit, link) {
		if (v->then)
			httpd_on_gone(v->q, NULL, NULL);
		visit_free(v);
	}
	map_free(a->answers);
	free(a);
}
