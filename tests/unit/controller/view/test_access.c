/* Tests who may read the view: which reviews drover sends to the host cluster, and what it
 * concludes from the replies. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/json.h"
#include "base/str.h"
#include "controller/view/access.h"
#include "tests/unit/kube/fake_api.h"

#define VIEW "https://view.test:8444"
#define TOKENS "/apis/authentication.k8s.io/v1/tokenreviews"
#define ACCESS "/apis/authorization.k8s.io/v1/subjectaccessreviews"
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
	b->access = view_access_new(&b->c);
	b->d = httpd_new(b->f.client_g);
	httpd_route(b->d, "GET", "/v1/{}", 0, on_request, b);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
