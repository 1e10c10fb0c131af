/* Tests who may read the view: which reviews drover sends to the host cluster, and what it
 * concludes from the replies. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/data/json.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/view/access.h"
#include "tests/unit/kube/fake_api.h"

#define VIEW "https://view.test:8444"
#define TOKENS "/apis/authentication.k8s.io/v1/tokenreviews"
#define ACCESS "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define TEAM "https://team-a.test:6443"
#define TEAM_QUEUE "/v1/tenants/team-a/queue"
#define ASKED_TOKENS "POST " TOKENS
#define ASKED_ACCESS "POST " ACCESS

struct bed {
	struct fake_api f;
	struct context c;
	struct view_access *access;
	struct httpd *d;
	struct http_peer *reader;
	/* Token that the host cluster accepts for VIEW_AUDIENCE, and the one that it accepts for
	 * itself */
	const char *for_view, *for_api;
	/* True: RBAC allows the user. away: reviews are answered with 503. mute: reviews get no
	 * answer. */
	bool allowed, away, mute;
	/* True: the API server ignores spec.audiences, and so returns none. */
	bool no_audiences;
	char last_access[512];
	bool done;
	int status;
	char text[512];
	unsigned served, unauthorized, limited;
	/* True: a granted request is not answered, as a long stream; q is that request. */
	bool streams;
	struct httpd_req *q;
	unsigned granted, refused, unknown;
	struct tenants tenants;
	struct team *team;
};

/* Tenant team-a and its API server, which is not trusted. */
struct team {
	struct tenant tenant;
	struct http_transport *transport;
	struct http *http;
	struct httpd *d;
	struct bed *b;
	/* Token that the server accepts; NULL: none */
	const char *token;
	/* Delay of each reply in ms, below 0: no reply */
	int64_t delay;
	/* Body of each reply; NULL: a proper review */
	const char *body;
	/* True: the user may not read the path */
	bool denies;
	/* Number of reviews of tokens and of access that reached the server */
	unsigned tokens, accesses;
	struct loop_timer timer;
	struct httpd_req *q;
	char *text;
};

/* --- the host cluster ------------------------------------------------------------------------- */

static json_t *token_status(const struct bed *b, const json_t *spec)
{
	const bool for_view = json_object_get(spec, "audiences") && !b->no_audiences;
	const char *token = json_str_at(spec, "token"),
		   *right = for_view ? b->for_view : b->for_api;
	json_t *status;

	if (!str_eq(token, right))
		return json_pack("{s:b, s:{}}", "authenticated", 0, "user");
	status = json_pack("{s:b, s:{s:s, s:s, s:[s,s], s:{s:[s]}}}", "authenticated", 1, "user",
			   "username", "jane", "uid", "u-1", "groups", "oncall",
			   "system:authenticated", "extra", "scopes", "all");
	if (for_view)
		json_object_set(status, "audiences", json_object_get(spec, "audiences"));
	return status;
}

static bool serve(struct fake_api *f, struct httpd_req *q)
{
	struct bed *b = f->arg;
	const json_t *spec = json_object_get(f->body, "spec");
	json_t *status;
	char *text;

	if (b->mute)
		return true;
	if (b->away) {
		fake_api_status(q, 500, "InternalError", "etcd is away");
		return true;
	}
	if (str_eq(f->path, TOKENS)) {
		status = token_status(b, spec);
	} else {
		text = json_text_sorted(spec);
		str_copy(b->last_access, sizeof(b->last_access), text);
		free(text);
		status = json_pack("{s:b}", "allowed", b->allowed);
	}
	json_object_set_new(f->body, "status", status);
	text = json_text(f->body);
	httpd_reply_json(q, 201, text);
	free(text);
	return true;
}

/* --- the tenant's cluster --------------------------------------------------------------------- */

/* Writes an unsigned JWT with this payload to out. */
static const char *jwt(char out[static 512], const char *payload)
{
	char *text = crypto_base64(payload, strlen(payload));

	for (char *c = text; *c; c++)
		*c = (char)(*c == '+' ? '-' : *c == '/' ? '_' : *c == '=' ? '\0' : *c);
	str_format(out, 512, "e30.%s.c2ln", text);
	free(text);
	return out;
}

static void team_reply(void *arg)
{
	struct team *t = arg;

	httpd_on_gone(t->q, NULL, NULL);
	httpd_reply_json(t->q, 201, t->text);
	t->q = NULL;
}

static void team_gone(void *arg)
{
	struct team *t = arg;

	loop_timer_stop(&t->timer);
	t->q = NULL;
}

static json_t *team_status(struct team *t, const json_t *spec)
{
	const char *token = json_str_at(spec, "token");

	if (!token) {
		t->accesses++;
		return json_pack("{s:b}", "allowed", !t->denies);
	}
	t->tokens++;
	if (!str_eq(token, t->token))
		return json_pack("{s:b}", "authenticated", 0);
	return json_pack("{s:b, s:{s:s}, s:[s]}", "authenticated", 1, "user", "username", "dev",
			 "audiences", VIEW_AUDIENCE "/team-a");
}

static void on_team(struct httpd_req *q, void *arg)
{
	struct team *t = arg;
	size_t n;
	const char *body = httpd_body(q, &n);
	struct err e;
	OWN_JSON o = json_parse(body, n, &e);

	json_object_set_new(o, "status", team_status(t, json_object_get(o, "spec")));
	free(t->text);
	t->text = t->body ? mem_strdup(t->body) : json_text(o);
	t->q = q;
	httpd_on_gone(q, team_gone, t);
	if (t->delay >= 0)
		loop_timer_start(&t->timer, t->delay);
}

static void team_start(struct bed *b)
{
	struct team *t = b->team = mem_new(struct team);
	struct kube_config config = {.server = (char *)TEAM, .token = secret_from_str("drover")};
	struct kube_client_spec spec = {.config = &config, .name = "team-a"};

	t->b = b;
	t->d = httpd_new(b->f.server_g);
	httpd_route(t->d, "POST", "/**", 1 << 20, on_team, t);
	http_mem_serve(b->f.net, TEAM, t->d);
	loop_timer_init(&t->timer, b->f.server_g, team_reply, t);
	t->tenant.name = (char *)"team-a";
	t->tenant.client = fake_api_client(&b->f, b->f.client_g, b->f.http, &spec);
	secret_free(config.token);
	b->tenants.map = map_new(NULL);
	map_put(b->tenants.map, "team-a", &t->tenant);
}

static void team_stop(struct bed *b)
{
	struct team *t = b->team;

	kube_client_free(t->tenant.client);
	httpd_free(t->d);
	loop_timer_stop(&t->timer);
	map_free(b->tenants.map);
	free(t->text);
	free(t);
}

/* --- the view --------------------------------------------------------------------------------- */

static void granted(struct httpd_req *q, void *arg)
{
	struct bed *b = arg;

	b->served++;
	b->q = q;
	if (!b->streams)
		httpd_reply_json(q, 200, "{}");
}

static void on_request(struct httpd_req *q, void *arg)
{
	struct bed *b = arg;

	view_access_check(b->access, q, granted, b);
}

static void on_tenant_request(struct httpd_req *q, void *arg)
{
	struct bed *b = arg;

	view_access_check_tenant(b->access, q, httpd_segment(q, 0), granted, b);
}

static int setup(void **state)
{
	struct bed *b = calloc(1, sizeof(*b));
	struct http_peer_spec peer = {.base_url = VIEW};
	struct err e;

	fake_api_start(&b->f, NULL);
	b->f.serve = serve;
	b->f.arg = b;
	b->c.loop = b->f.loop;
	b->c.group = b->f.client_g;
	b->c.host = b->f.c;
	team_start(b);
	b->access = view_access_new(&b->c, &b->tenants);
	b->d = httpd_new(b->f.client_g);
	httpd_route(b->d, "GET", "/v1/{}", 0, on_request, b);
	httpd_route(b->d, "GET", "/v1/tenants/{}/queue", 0, on_tenant_request, b);
	http_mem_serve(b->f.net, VIEW, b->d);
	b->reader = http_peer_new(b->f.http, &peer, &e);
	b->for_view = "view-token";
	b->for_api = "api-token";
	b->allowed = true;
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;

	http_peer_free(b->reader);
	httpd_free(b->d);
	view_access_free(b->access);
	team_stop(b);
	fake_api_stop(&b->f);
	free(b);
	return 0;
}

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bed *b = arg;

	b->done = true;
	b->status = e && !r ? -1 : r->status;
	b->unauthorized += b->status == 401;
	b->limited += b->status == 429;
	str_copy(b->text, sizeof(b->text), r && r->body ? r->body : "");
}

static bool is_done(void *arg)
{
	return ((struct bed *)arg)->done;
}

/* Starts GET path with this bearer token (NULL: none), and with VIEW_TOKEN_HEADER (NULL: without
 * it). */
static struct http_req *start(struct bed *b, const char *path, const char *token,
			      const char *proxied)
{
	OWN(secret) bearer = token ? secret_from_str(token) : NULL;
	const struct http_header h = {VIEW_TOKEN_HEADER, proxied};
	struct http_call c = {.path = path,
			      .bearer = bearer,
			      .headers = &h,
			      .nheaders = proxied ? 1 : 0,
			      .no_timeout = b->streams,
			      .done = on_reply,
			      .arg = b};

	b->done = false;
	return http_start(b->reader, &c);
}

static int get_proxied(struct bed *b, const char *proxied)
{
	start(b, "/v1/queue", NULL, proxied);
	assert_true(fake_api_until(&b->f, is_done, b, 60000));
	return b->status;
}

static int get(struct bed *b, const char *path, const char *token)
{
	start(b, path, token, NULL);
	assert_true(fake_api_until(&b->f, is_done, b, 60000));
	return b->status;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void a_token_for_the_view_is_reviewed_with_its_user_and_path(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get(b, "/v1/queue?limit=3", "view-token"), 200);
	assert_string_equal(b->last_access,
			    "{\"extra\":{\"scopes\":[\"all\"]},\"groups\":[\"oncall\","
			    "\"system:authenticated\"],\"nonResourceAttributes\":{\"path\":"
			    "\"/v1/queue\",\"verb\":\"get\"},\"uid\":\"u-1\",\"user\":\"jane\"}");
	assert_int_equal(fake_api_count(&b->f, ASKED_TOKENS), 1);
	assert_int_equal(fake_api_count(&b->f, ASKED_ACCESS), 1);
}

static void a_token_for_the_api_server_counts_too(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get(b, "/v1/queue", "api-token"), 200);
	assert_int_equal(fake_api_count(&b->f, ASKED_TOKENS), 2);
	assert_int_equal(b->served, 1);
}

static void an_api_server_without_audiences_is_asked_for_its_own(void **state)
{
	struct bed *b = *state;

	b->no_audiences = true;
	assert_int_equal(get(b, "/v1/queue", "api-token"), 200);
	assert_int_equal(fake_api_count(&b->f, ASKED_TOKENS), 2);
	assert_int_equal(get(b, "/v1/queue", "view-token"), 401);
	assert_int_equal(b->served, 1);
}

static void the_header_that_a_service_proxy_forwards_counts(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get_proxied(b, "bearer view-token"), 200);
	assert_int_equal(get_proxied(b, "Basic view-token"), 401);
}

static void without_a_token_nothing_is_asked(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get(b, "/v1/queue", NULL), 401);
	assert_non_null(strstr(b->text, "kubectl create token"));
	assert_int_equal(b->f.requests, 0);
	assert_int_equal(b->served, 0);
}

static void an_unknown_token_is_refused_for_ten_seconds(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get(b, "/v1/queue", "wrong"), 401);
	assert_int_equal(fake_api_count(&b->f, ASKED_TOKENS), 2);
	assert_int_equal(get(b, "/v1/queue", "wrong"), 401);
	assert_int_equal(fake_api_count(&b->f, ASKED_TOKENS), 2);
	b->for_view = "wrong"; /* the token's account was created meanwhile */
	fake_api_run(&b->f, VIEW_REFUSAL_MS);
	assert_int_equal(get(b, "/v1/queue", "wrong"), 200);
	assert_int_equal(b->served, 1);
}

static void a_user_without_the_right_is_refused_with_its_name(void **state)
{
	struct bed *b = *state;

	b->allowed = false;
	assert_int_equal(get(b, "/v1/queue", "view-token"), 403);
	assert_string_equal(b->text,
			    "{\"error\":\"user jane may not get nonResourceURL /v1/queue\"}");
	assert_int_equal(b->served, 0);
}

static void a_grant_is_for_one_path_and_one_minute(void **state)
{
	struct bed *b = *state;

	assert_int_equal(get(b, "/v1/queue", "view-token"), 200);
	assert_int_equal(get(b, "/v1/queue", "view-token"), 200);
	assert_int_equal(fake_api_count(&b->f, ASKED_ACCESS), 1);
	b->allowed = false;
	assert_int_equal(get(b, "/v1/fleet", "view-token"), 403);
	assert_int_equal(get(b, "/v1/queue", "view-token"), 200);
	fake_api_run(&b->f, VIEW_GRANT_MS);
	assert_int_equal(get(b, "/v1/queue", "view-token"), 403);
	assert_int_equal(b->served, 3);
}

static void an_api_server_that_fails_is_no_answer(void **state)
{
	struct bed *b = *state;

	b->away = true;
	assert_int_equal(get(b, "/v1/queue", "view-token"), 503);
	assert_non_null(strstr(b->text, "etcd is away"));
	b->away = false;
	assert_int_equal(get(b, "/v1/queue", "view-token"), 200);
}

static void unknown_tokens_do_not_use_up_the_calls_of_the_controller(void **state)
{
	struct bed *b = *state;
	char token[16];

	for (int i = 0; i < 100; i++) {
		str_format(token, sizeof(token), "wrong-%d", i);
		start(b, "/v1/queue", token, NULL);
	}
	fake_api_run(&b->f, 10000);
	assert_int_equal(b->unauthorized + b->limited, 100);
	assert_in_range(b->limited, 30, 70);
	/* Each token that was not limited is reviewed twice: for the view, then for the API
	 * server. */
	assert_int_equal(fake_api_count(&b->f, ASKED_TOKENS), 2 * b->unauthorized);
	assert_int_equal(get(b, "/v1/queue", "view-token"), 200);
}

static void a_caller_that_leaves_ends_its_review(void **state)
{
	struct bed *b = *state;
	struct http_req *q;

	b->mute = true;
	q = start(b, "/v1/queue", "view-token", NULL);
	fake_api_run(&b->f, 100);
	assert_int_equal(fake_api_count(&b->f, ASKED_TOKENS), 1);
	http_cancel(q);
	fake_api_run(&b->f, 20000);
	assert_int_equal(b->served, 0);
	b->mute = false;
	assert_int_equal(get(b, "/v1/queue", "view-token"), 200);
}

static void on_again(enum view_grant g, void *arg)
{
	struct bed *b = arg;

	b->granted += g == VIEW_GRANTED;
	b->refused += g == VIEW_REFUSED;
	b->unknown += g == VIEW_UNKNOWN;
}

static void a_stream_is_reviewed_again_once_its_grant_is_old(void **state)
{
	struct bed *b = *state;

	b->streams = true;
	start(b, "/v1/queue", "view-token", NULL);
	fake_api_run(&b->f, 1000);
	assert_null(view_access_again(b->access, b->q, on_again, b));
	assert_int_equal(b->granted, 1);
	assert_int_equal(fake_api_count(&b->f, ASKED_ACCESS), 1);
	fake_api_run(&b->f, VIEW_GRANT_MS);
	b->away = true;
	assert_non_null(view_access_again(b->access, b->q, on_again, b));
	fake_api_run(&b->f, 10000);
	assert_int_equal(b->unknown, 1);
	b->away = false;
	b->allowed = false;
	assert_non_null(view_access_again(b->access, b->q, on_again, b));
	fake_api_run(&b->f, 1000);
	assert_int_equal(b->refused, 1);
	fake_api_run(&b->f, VIEW_REFUSAL_MS);
	b->allowed = true;
	view_access_cancel(view_access_again(b->access, b->q, on_again, b));
	fake_api_run(&b->f, 1000);
	assert_int_equal(b->granted + b->refused + b->unknown, 3);
	httpd_reply_json(b->q, 200, "{}");
	fake_api_run(&b->f, 100);
	assert_true(b->done);
}

static void reviews_end_with_the_view(void **state)
{
	struct bed *b = *state;

	b->mute = true;
	start(b, "/v1/queue", "view-token", NULL);
	fake_api_run(&b->f, 100);
	httpd_free(b->d);
	view_access_free(b->access);
	b->d = httpd_new(b->f.client_g);
	b->access = NULL;
	fake_api_run(&b->f, 20000);
	assert_true(b->done);
	assert_int_equal(b->served, 0);
}

/* --- a tenant's path -------------------------------------------------------------------------- */

/* Makes the tenant's API server accept a token for the view, and returns that token. */
static const char *team_token(struct bed *b)
{
	static char token[512];

	b->team->token =
		jwt(token, "{\"aud\":[\"kept\",\"drover.dev/view/team-a\"],\"sub\":\"dev>?~\"}");
	return token;
}

static void a_tenants_api_server_reviews_its_user(void **state)
{
	struct bed *b = *state;
	const char *token = team_token(b);

	assert_int_equal(get(b, TEAM_QUEUE, token), 200);
	assert_int_equal(b->team->tokens, 1);
	assert_int_equal(b->team->accesses, 1);
	assert_int_equal(fake_api_count(&b->f, ASKED_TOKENS), 2);
	assert_int_equal(fake_api_count(&b->f, ASKED_ACCESS), 0);
	assert_int_equal(get(b, TEAM_QUEUE, token), 200);
	assert_int_equal(b->team->tokens, 1);
	assert_int_equal(get(b, "/v1/queue", token), 401);
	assert_int_equal(get(b, "/v1/tenants/team-b/queue", token), 401);
	fake_api_run(&b->f, VIEW_GRANT_MS);
	b->team->denies = true;
	assert_int_equal(get(b, TEAM_QUEUE, token), 403);
	assert_string_equal(b->text,
			    "{\"error\":\"user dev may not get nonResourceURL " TEAM_QUEUE "\"}");
}

static void a_tenant_gets_no_token_that_is_valid_elsewhere(void **state)
{
	static const char *const payloads[] = {
		"{\"aud\":\"https://kubernetes.default.svc\"}",
		"{\"aud\":[\"drover.dev/view2\", 7, null]}",
		"{\"aud\":{\"0\":\"drover.dev/view/team-a\"}}",
		/* Tokens for the view as a whole, and for another tenant. */
		"{\"aud\":\"drover.dev/view\"}",
		"{\"aud\":[\"drover.dev/view/team-b\"]}",
		"{}",
		"[\"drover.dev/view/team-a\"]",
		"not JSON",
	};
	static const char *const others[] = {"wrong", "a.b", "a..c", "a.!!.c", "a.e.c", "..."};
	struct bed *b = *state;
	char token[512];

	assert_int_equal(get(b, TEAM_QUEUE, "view-token"), 200);
	assert_int_equal(get(b, TEAM_QUEUE, "api-token"), 200);
	fake_api_run(&b->f, 1000);
	for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++)
		assert_int_equal(get(b, TEAM_QUEUE, jwt(token, payloads[i])), 401);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(get(b, TEAM_QUEUE, others[i]), 401);
	assert_non_null(strstr(b->text, "not for this tenant's part of the view: kubectl create "
					"token ACCOUNT --audience drover.dev/view/team-a"));
	b->away = true;
	assert_int_equal(get(b, TEAM_QUEUE, team_token(b)), 503);
	assert_int_equal(b->team->tokens, 0);
	b->away = false;
	assert_int_equal(get(b, TEAM_QUEUE, jwt(token, "{\"aud\":\"drover.dev/view/team-a\"}")),
			 401);
	assert_int_equal(b->team->tokens, 1);
	assert_int_equal(get(b, "/v1/tenants/team-z/queue",
			     jwt(token, "{\"aud\":\"drover.dev/view/team-z\"}")),
			 401); /* there is no such tenant */
}

static void a_slow_or_silent_tenant_is_waited_for_ten_seconds(void **state)
{
	struct bed *b = *state;
	const char *token = team_token(b);
	int64_t before;

	b->team->delay = 3000;
	assert_int_equal(get(b, TEAM_QUEUE, token), 200);
	fake_api_run(&b->f, VIEW_GRANT_MS);
	b->team->delay = -1;
	before = loop_now(b->f.loop);
	assert_int_equal(get(b, TEAM_QUEUE, token), 503);
	assert_string_equal(
		b->text,
		"{\"error\":\"the tenant's cluster did not check the caller's token and rights: "
		"it did not answer in time\"}");
	assert_in_range(loop_now(b->f.loop) - before, VIEW_TENANT_MS, VIEW_TENANT_MS + 1000);
	b->team->tenant.reason = "KubeconfigInvalid";
	assert_int_equal(get(b, TEAM_QUEUE, token), 503);
	assert_non_null(strstr(b->text, "KubeconfigInvalid"));
}

static void a_tenant_that_does_not_answer_gets_four_callers(void **state)
{
	struct bed *b = *state;
	char token[512], payload[128];

	b->team->delay = -1;
	for (int i = 0; i < 12; i++) {
		str_format(payload, sizeof(payload),
			   "{\"aud\":\"drover.dev/view/team-a\",\"i\":%d}", i);
		start(b, TEAM_QUEUE, jwt(token, payload), NULL);
	}
	fake_api_run(&b->f, 5000);
	assert_int_equal(b->team->tokens, VIEW_TENANT_REVIEWS);
	assert_int_equal(b->limited, 12 - VIEW_TENANT_REVIEWS);
	assert_int_equal(get(b, "/v1/queue", "view-token"), 200);
	fake_api_run(&b->f, VIEW_TENANT_MS);
	b->team->delay = 0;
	assert_int_equal(get(b, TEAM_QUEUE, team_token(b)), 200);
}

static void a_hostile_review_is_no_grant(void **state)
{
	static const char *const bodies[] = {
		"{}",
		"[]",
		"7",
		"",
		"{\"status\":[]}",
		"{\"status\":{\"authenticated\":\"yes\"}}",
		"{\"status\":{\"authenticated\":true}}",
		"{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"x\"}}}",
		"{\"status\":{\"authenticated\":true,\"audiences\":\"drover.dev/view/team-a\","
		"\"user\":{\"username\":\"x\"}}}",
		/* This one is also the reply to the SubjectAccessReview, which denies. */
		"{\"spec\":{\"user\":\"x\\u001b[31m\"},\"status\":{\"authenticated\":true,"
		"\"allowed\":true,\"denied\":true,\"audiences\":[\"drover.dev/view/team-a\"],\"user\":"
		"{\"username\":\"x\",\"groups\":7,\"uid\":[[]],\"extra\":\"\"}}}",
	};
	struct bed *b = *state;
	const char *token = team_token(b);
	char *huge = mem_alloc((8 << 20) + 1);

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		b->team->body = bodies[i];
		assert_in_range(get(b, TEAM_QUEUE, token), 401, 503);
		assert_null(strchr(b->text, 27));
		assert_null(strcasestr(b->text, "u001b"));
		fake_api_run(&b->f, VIEW_REFUSAL_MS);
	}
	memset(huge, '[', 8 << 20);
	huge[8 << 20] = '\0';
	b->team->body = huge;
	assert_int_equal(get(b, TEAM_QUEUE, token), 503);
	memset(huge + 1, ' ', (8 << 20) - 1);
	assert_int_equal(get(b, TEAM_QUEUE, token), 503);
	assert_int_equal(b->served, 0);
	b->team->body = NULL;
	assert_int_equal(get(b, TEAM_QUEUE, token), 200);
	free(huge);
}

static void a_review_ends_before_its_tenants_client_is_freed(void **state)
{
	struct bed *b = *state;
	struct team *t = b->team;
	const char *token = team_token(b);

	for (int access = 0; access < 2; access++) {
		t->delay = 500;
		start(b, TEAM_QUEUE, token, NULL);
		fake_api_run(&b->f, access ? 900 : 300);
		assert_int_equal(t->accesses, access);
		assert_false(b->done);
		view_access_hang_up(b->access, "team-b");
		fake_api_run(&b->f, 10);
		assert_false(b->done);
		view_access_hang_up(b->access, "team-a");
		kube_client_free(t->tenant.client);
		t->tenant.client = NULL;
		map_del(b->tenants.map, "team-a");
		fake_api_run(&b->f, 5000);
		assert_int_equal(b->status, 503);
		assert_string_equal(b->text, "{\"error\":\"the tenant's cluster did not check the "
					     "caller's token and rights: its VirtualCluster or "
					     "kubeconfig changed\"}");
		httpd_free(t->d);
		free(t->text);
		free(t);
		map_free(b->tenants.map);
		team_start(b);
		t = b->team;
		team_token(b);
	}
	/* The grant of a tenant that was connected again is reviewed again. */
	assert_int_equal(get(b, TEAM_QUEUE, token), 200);
	view_access_hang_up(b->access, "team-a");
	assert_int_equal(get(b, TEAM_QUEUE, token), 200);
	assert_int_equal(t->tokens, 2);
	/* A caller may leave during the review, and the tenant afterwards. */
	fake_api_run(&b->f, VIEW_GRANT_MS);
	t->delay = -1;
	struct http_req *q = start(b, TEAM_QUEUE, token, NULL);
	fake_api_run(&b->f, 1000);
	http_cancel(q);
	fake_api_run(&b->f, 1000);
	view_access_hang_up(b->access, "team-a");
	assert_int_equal(b->served, 2);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_token_for_the_view_is_reviewed_with_its_user_and_path),
		T(a_token_for_the_api_server_counts_too),
		T(an_api_server_without_audiences_is_asked_for_its_own),
		T(the_header_that_a_service_proxy_forwards_counts),
		T(without_a_token_nothing_is_asked),
		T(an_unknown_token_is_refused_for_ten_seconds),
		T(a_user_without_the_right_is_refused_with_its_name),
		T(a_grant_is_for_one_path_and_one_minute),
		T(an_api_server_that_fails_is_no_answer),
		T(unknown_tokens_do_not_use_up_the_calls_of_the_controller),
		T(a_caller_that_leaves_ends_its_review),
		T(a_stream_is_reviewed_again_once_its_grant_is_old),
		T(reviews_end_with_the_view),
		T(a_tenants_api_server_reviews_its_user),
		T(a_tenant_gets_no_token_that_is_valid_elsewhere),
		T(a_slow_or_silent_tenant_is_waited_for_ten_seconds),
		T(a_tenant_that_does_not_answer_gets_four_callers),
		T(a_hostile_review_is_no_grant),
		T(a_review_ends_before_its_tenants_client_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
